import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../path.ts";
import { isSameState, type TreeState } from "../tree-state.ts";
import type { WrittenFile } from "./host-guard.ts";

/** A workspace's files, now and as they were mounted. */
export interface SyncSource {
  /** The folder with the files. */
  readonly root: string;
  /** The files as they were mounted. */
  readonly mounted: TreeState;
  /** The files now. */
  readonly now: TreeState;
  /** The mounted folders and files, with absolute paths. */
  readonly mountRoots: readonly { readonly hostPath: string; readonly mountPath: string }[];
  /** Returns the real path and the mode of the host file that a path was copied from, or `null`. */
  findSource(path: string): { readonly hostPath: string; readonly mode: number } | null;
}

/** What the syncs of a workspace have written to one folder. */
export interface DestinationRecord {
  readonly files: Map<string, WrittenFile>;
  readonly folders: Set<string>;
}

/** The changes that bring a destination folder up to date. */
export interface SyncPlan {
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly folders: ReadonlyMap<string, number>;
  readonly removedFolders: readonly string[];
  /** Returns the permission bits of the mounted host file that is at the same place in the destination, or `null`. */
  findHostMode(path: string): number | null;
}

/**
 * Plans a sync. A mounted folder gets only what was changed in the workspace since; any other folder gets all
 * files. What an earlier sync wrote is not written again.
 */
export async function planSync(
  directory: string,
  { now, mounted, mountRoots, findSource }: SyncSource,
  record: DestinationRecord,
): Promise<SyncPlan> {
  const home = await realpath(directory).catch(() => directory);
  const isMountedFolder = await findMountedFolders(home, mountRoots);
  const findHostMode = (path: string) => {
    const source = findSource(path);
    return source?.hostPath === join(home, path) ? source.mode & 0o777 : null;
  };
  const isUpToDate = (path: string) => {
    const state = now.files.get(path);
    const last = record.files.get(path);
    if (last !== undefined) return isSameState(last?.state, state);
    return findHostMode(path) !== null && isSameState(mounted.files.get(path), state);
  };
  const isKnownFolder = (path: string) =>
    record.folders.has(path) || (mounted.folders.has(path) && isMountedFolder(path));
  const known = new Set([...mounted.files.keys(), ...record.files.keys()]);
  const knownFolders = new Set([...mounted.folders.keys(), ...record.folders]);
  return {
    changed: [...now.files.keys()].filter((path) => !isUpToDate(path)),
    deleted: [...known].filter((path) => !now.files.has(path) && !isUpToDate(path)),
    folders: new Map([...now.folders].filter(([path]) => !isKnownFolder(path))),
    removedFolders: [...knownFolders].filter(
      (path) => !now.folders.has(path) && isKnownFolder(path),
    ),
    findHostMode,
  };
}

/** Creates a check whether a folder of the workspace was mounted from the same place in the destination. */
async function findMountedFolders(
  home: string,
  mountRoots: SyncSource["mountRoots"],
): Promise<(path: string) => boolean> {
  const there: string[] = [];
  for (const { hostPath, mountPath } of mountRoots) {
    const real = await realpath(hostPath).catch(() => hostPath);
    if (real === join(home, mountPath)) there.push(mountPath);
  }
  return (path) =>
    there.some((mount) => mount === ROOT || path === mount || path.startsWith(`${mount}/`));
}
