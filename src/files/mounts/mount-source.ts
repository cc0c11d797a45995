import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import { FilesystemError, WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { mountError } from "../../host/host-error.ts";
import { ROOT } from "../path.ts";
import type { HostRoots } from "./host-roots.ts";
import type { CheckedMount } from "./mount-checks.ts";

/** What a mount's host path is in truth. */
export interface MountSource {
  readonly hostPath: string;
  readonly kind: "file" | "folder";
  /** The path that was given is a link to it. */
  readonly isLinked: boolean;
}

/** Finds it; refuses what does not exist, is outside the roots, or is a link that is not followed. */
export function mountSource(mount: CheckedMount, roots: HostRoots): MountSource {
  const given = resolve(mount.hostPath); // without a slash at its end, which would follow a link
  const remedy = `${mount.field}.hostPath must name a file or folder of this machine`;
  let isLinked: boolean;
  let hostPath: string;
  let stats: Stats;
  try {
    isLinked = lstatSync(given).isSymbolicLink();
    hostPath = realpathSync.native(given);
    stats = statSync(hostPath);
  } catch (error) {
    throw mountError(error, mount.hostPath, remedy);
  }
  roots.check(hostPath, mount.hostPath);
  if (isLinked && !mount.followSymlinks) throw linked(mount, hostPath);
  if (stats.isDirectory()) return { hostPath, kind: "folder", isLinked };
  if (!stats.isFile()) {
    throw FilesystemError.invalid(mount.hostPath, `is neither file nor folder: ${remedy}`);
  }
  if (mount.mountPath === ROOT) {
    const problem = `is a file and cannot be the workspace itself: give ${mount.field}.mountPath a name`;
    throw new FilesystemError("EISDIR", mount.mountPath, problem);
  }
  return { hostPath, kind: "file", isLinked };
}

function linked({ field, hostPath }: CheckedMount, target: string): WorkspaceSecurityError {
  return new WorkspaceSecurityError(
    `${field}.hostPath ${JSON.stringify(hostPath)} is a symlink to ${target}: mount that, or set followSymlinks`,
  );
}
