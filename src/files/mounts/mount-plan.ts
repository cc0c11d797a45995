import type { HostMountPreview } from "./host-mount-preview.ts";
import type { PlannedFile } from "./planned-file.ts";

/** The host files to copy into a workspace, as plain data. */
export interface MountPlan {
  /** The files to copy, in code unit order of `mountPath`. */
  readonly files: readonly PlannedFile[];
  /** The folders to create in the workspace, parents first. */
  readonly directories: readonly string[];
  /** One preview per mount, in the order of the mounts. */
  readonly previews: readonly HostMountPreview[];
  /** The limits of mounts with `maxBytes`. */
  readonly limits: readonly MountLimit[];
}

/** The maximum number of bytes at or below a path of the workspace. */
export interface MountLimit {
  /** The path in the workspace. */
  readonly mountPath: string;
  /** The maximum number of bytes. */
  readonly maxBytes: number;
}
