import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../path.ts";
import { isSameState, type TreeState } from "../tree-state.ts";
import type { HostSource, WrittenFile } from "./host-guard.ts";

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

/** The files that syncs of a workspace have written to one folder. */
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
  /** Returns the mounted host file that is at the same place in the destination, or `null`. */
  findHostSource(path: string): HostSource | null;
}

/**
 * Plans a sync. A mounted folder gets only what was changed in the workspace since; any other folder gets all
 * files. What an earlier sync wrote is not written again.
 */
export async function planSync(
  directory: string,
  source: SyncSource,
  record: DestinationRecord,
): Promise<SyncPlan> {
  const { now, mounted } = source;
  const home = await realpath(directory).catch(() => directory);
  const isMountedThere = await findMountedFolders(home, source.mountRoots);
  const sources = await findHostSources(home, source, isMountedThere);
  const findHostSource = (path: string) => sources.get(path) ?? null;
  const isUpToDate = (path: string) => {
    const state = now.files.get(path);
    const last = record.files.get(path);
    if (last !== undefined) return isSameState(last?.state, state);
    return sources.has(path) && isSameState(mounted.files.get(path), state);
  };
  const isKnownFolder = (path: string) =>
    record.folders.has(path) || (mounted.folders.has(path) && isMountedThere(path));
  const known = new Set([...mounted.files.keys(), ...record.files.keys()]);
  const knownFolders = new Set([...mounted.folders.keys(), ...record.folders]);
  return {
    changed: [...now.files.keys()].filter((path) => !isUpToDate(path)),
    deleted: [...known].filter((path) => !now.files.has(path) && !isUpToDate(path)),
    folders: new Map([...now.folders].filter(([path]) => !isKnownFolder(path))),
    removedFolders: [...knownFolders].filter(
      (path) => !now.folders.has(path) && isKnownFolder(path),
    ),
    findHostSource,
  };
}

/** Finds the mounted host files that are at the same place in the destination, also behind symlinks. */
async function findHostSources(
  home: string,
  { mounted, findSource }: SyncSource,
  isMountedThere: (path: string) => boolean,
): Promise<ReadonlyMap<string, HostSource>> {
  const found = new Map<string, HostSource>();
  for (const path of mounted.files.keys()) {
    const source = findSource(path);
    if (source === null) continue;
    const at = join(home, path);
    const isDirect = source.hostPath === at;
    const isLink = !isDirect && isMountedThere(path) && (await findTarget(at)) === source.hostPath;
    if (isDirect || isLink) found.set(path, { mode: source.mode & 0o777, isLink });
  }
  return found;
}

async function findTarget(path: string): Promise<string | null> {
  return await realpath(path).catch(() => null);
}

/** Creates a check whether a path of the workspace was mounted from the same place in the destination. */
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
