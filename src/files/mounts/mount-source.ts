import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import { FilesystemError, WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { toSentence } from "../../base/to-sentence.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";
import { ROOT } from "../path.ts";
import type { HostRoots } from "./host-roots.ts";
import type { CheckedMount } from "./mount-checks.ts";

/** The resolved host path of a mount. */
export interface MountSource {
  readonly hostPath: string;
  readonly kind: "file" | "folder";
  /** Whether the mount's host path is a symlink. */
  readonly isLinked: boolean;
}

/** Resolves a mount's host path. Throws if it does not exist, is outside the roots, or is a symlink that is not followed. */
export function findMountSource(mount: CheckedMount, roots: HostRoots): MountSource {
  const given = resolve(mount.hostPath); // removes a trailing slash, which would follow a symlink
  const remedy = `set ${mount.field}.hostPath to a file or folder of the host`;
  let isLinked: boolean;
  let hostPath: string;
  let stats: Stats;
  try {
    isLinked = lstatSync(given).isSymbolicLink();
    hostPath = realpathSync.native(given);
    stats = statSync(hostPath);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, mount.hostPath, remedy);
  }
  roots.check(hostPath, mount.hostPath);
  if (isLinked && !mount.followSymlinks) throw createSymlinkError(mount, hostPath);
  if (stats.isDirectory()) return { hostPath, kind: "folder", isLinked };
  if (!stats.isFile()) {
    throw FilesystemError.invalid(
      mount.hostPath,
      `is neither a file nor a folder. ${toSentence(remedy)}`,
    );
  }
  if (mount.mountPath === ROOT) {
    const problem = `is the root of the workspace and cannot be a file. Set ${mount.field}.mountPath to a file name.`;
    throw new FilesystemError("EISDIR", mount.mountPath, problem);
  }
  return { hostPath, kind: "file", isLinked };
}

function createSymlinkError(
  { field, hostPath }: CheckedMount,
  target: string,
): WorkspaceSecurityError {
  return new WorkspaceSecurityError(
    `${field}.hostPath ${JSON.stringify(hostPath)} is a symlink to ${target}. Mount the target, or set followSymlinks.`,
  );
}
