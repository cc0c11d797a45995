import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { getErrorCode } from "../../host/to-filesystem-error.ts";
import { type ResolvedPath, resolveHostPath } from "../filesystem/resolve-host-path.ts";
import { getParent } from "../path.ts";
import { ObstructedError, SyncError } from "./sync-failure.ts";

/** Where a path of the destination folder leads. */
export interface HostPlace {
  /** The real path of the nearest existing folder. */
  readonly folder: string;
  /** The names of the folders to create below it. */
  readonly missing: readonly string[];
  /** The name of the entry. */
  readonly name: string;
  /** Whether the path itself is a symlink to this place. */
  readonly isLink: boolean;
}

/**
 * Finds the place of a path below `root`, a real path. Follows symlinks that stay inside. Throws `SyncError` for
 * a symlink that leads out, and `ObstructedError` if a file is where a folder is needed.
 */
export async function findPlace(root: string, path: string): Promise<HostPlace> {
  const parent = await resolveInside(root, getParent(path));
  const name = basename(path);
  if (parent.kind === "below-file") throw new ObstructedError(BLOCKED_BY_FILE);
  if (parent.kind === "missing")
    return { folder: parent.directory, missing: parent.names, name, isLink: false };
  const stats = await lstatBelow(parent.real, name);
  if (!stats?.isSymbolicLink()) return { folder: parent.real, missing: [], name, isLink: false };
  return await followLink(root, path);
}

/** Resolves a path below `root`. Throws `SyncError` if a symlink leads out. */
export async function resolveInside(
  root: string,
  path: string,
): Promise<Exclude<ResolvedPath, { kind: "outside" }>> {
  const place = await resolveHostPath(root, path);
  if (place.kind === "outside") throw new SyncError(LINK_LEADS_OUT);
  return place;
}

async function followLink(root: string, path: string): Promise<HostPlace> {
  const target = await resolveInside(root, path);
  if (target.kind === "below-file") throw new ObstructedError(BLOCKED_BY_FILE);
  if (target.kind === "missing") {
    const { directory: folder, names } = target;
    return { folder, missing: names.slice(0, -1), name: names.at(-1) ?? "", isLink: true };
  }
  if (target.real === root) throw new ObstructedError(BLOCKED_BY_FOLDER);
  const { real } = target;
  return { folder: dirname(real), missing: [], name: basename(real), isLink: true };
}

async function lstatBelow(folder: string, name: string): Promise<Stats | null> {
  try {
    return await lstat(join(folder, name));
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return null;
    if (getErrorCode(error) === "ENOTDIR") throw new ObstructedError(BLOCKED_BY_FILE);
    throw error;
  }
}

const BLOCKED_BY_FILE = "A file exists where a folder is needed. Move it, then sync again.";
const BLOCKED_BY_FOLDER = "A folder exists where a file is needed. Move it, then sync again.";
const LINK_LEADS_OUT =
  "A symlink leads out of the folder, so it is not followed. Remove the link, then sync again.";
