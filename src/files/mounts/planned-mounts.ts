import type { HostMountPreview } from "./mount-preview.ts";
import type { PlannedFile } from "./planned-file.ts";

/** Which host files make up a workspace: plain data, nothing is copied yet. */
export interface MountPlan {
  /** In the order of the code units of `mountPath`. */
  readonly files: readonly PlannedFile[];
  /** Within the workspace, parents first. */
  readonly directories: readonly string[];
  /** One for each mount, in the order given. */
  readonly previews: readonly HostMountPreview[];
  /** Of the mounts that have one. */
  readonly limits: readonly MountLimit[];
}

/** How many bytes may lie at or below a path of the workspace. */
export interface MountLimit {
  readonly mountPath: string;
  readonly maxBytes: number;
}
