import { basename, join, resolve } from "node:path";
import { deepFreeze } from "../../base/freeze.ts";
import { ROOT } from "../path.ts";
import type { FileState, TreeState } from "../tree-state.ts";
import type { HostMount } from "./host-mount.ts";
import type { HostMountPreview } from "./host-mount-preview.ts";
import type { KeptMountPlan } from "./kept-mount-plan.ts";
import { type CheckedMount, checkMounts } from "./mount-checks.ts";
import { MAX_ENTRIES } from "./plan-mounts.ts";
import type { PlannedFile } from "./planned-file.ts";

/**
 * Describes mounts by the files that an earlier process has copied from them, so that the host's folders are not
 * needed. The host paths of the files are those they would have; they may not exist. Files that the earlier process omitted
 * are not known.
 */
export function planKeptMounts(mounts: readonly HostMount[], mounted: TreeState): KeptMountPlan {
  const paths = [...mounted.files].sort(([one], [other]) => (one < other ? -1 : 1));
  const found = checkMounts(mounts).map((mount) => ({ mount, files: findFiles(mount, paths) }));
  return Object.freeze({
    isKept: true,
    files: Object.freeze(found.flatMap(({ files }) => files).sort(compareByMountPath)),
    directories: Object.freeze([...mounted.folders.keys()].sort()),
    previews: deepFreeze(found.map(({ mount, files }) => createPreview(mount, files))),
    limits: Object.freeze([]),
  });
}

function findFiles(
  { hostPath, mountPath }: CheckedMount,
  files: readonly (readonly [string, FileState])[],
): readonly PlannedFile[] {
  const root = resolve(hostPath);
  return files.flatMap(([path, { bytes, mode }]) => {
    const name = toPathInMount(path, mountPath);
    if (name === null) return [];
    return [{ hostPath: join(root, name), mountPath: path, bytes, mode, mtimeMs: 0, ino: 0 }];
  });
}

/** Returns a path relative to a mount, `""` for a mount that is a file, or `null` if it is elsewhere. */
function toPathInMount(path: string, mountPath: string): string | null {
  if (mountPath === ROOT) return path;
  if (path === mountPath) return "";
  return path.startsWith(`${mountPath}/`) ? path.slice(mountPath.length + 1) : null;
}

function createPreview(
  { hostPath, mountPath }: CheckedMount,
  files: readonly PlannedFile[],
): HostMountPreview {
  const shown = files.slice(0, MAX_ENTRIES).map((file) => toPathInMount(file.mountPath, mountPath));
  return {
    hostPath,
    mountPath,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    entries: shown.map((path) => path || basename(resolve(hostPath))),
    truncated: files.length > MAX_ENTRIES,
    withheld: [],
    unmatched: [],
    skipped: [],
    skippedCount: 0,
  };
}

function compareByMountPath(one: PlannedFile, other: PlannedFile): number {
  return one.mountPath < other.mountPath ? -1 : 1;
}
