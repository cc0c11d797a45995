import { readdir, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { hostCode } from "../../host/host-error.ts";
import { checkedPath, ROOT } from "../path.ts";
import { buildFolder } from "./build-folder.ts";
import { type SyncFailure, syncReason } from "./sync-reason.ts";
import { updateFolder } from "./update-folder.ts";

/** What is brought to a folder of the user. */
export interface FolderSync {
  /** The folder that holds the tree. */
  readonly from: string;
  /** The user's folder; it need not be there yet. */
  readonly to: string;
  /** The files to write. A new folder gets these and no others. */
  readonly changed: readonly string[];
  /** The files to remove, where they are there. */
  readonly deleted: readonly string[];
}

/** What may end the writing. */
export interface SyncOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What was not done; everything else was. */
export interface FolderSyncResult {
  readonly failed: readonly SyncFailure[];
}

/**
 * Brings files to a folder of the user. One that is not there yet, or empty, comes to hold all of
 * them at once or stays as it is. In one with files each is replaced by itself, nothing else is
 * touched, and what is to be removed stays if not everything could be written. Nothing is done
 * through a symlink that leads out of the folder. A path that cannot be is a failure of its own,
 * and stops nothing.
 *
 * Throws nothing but the signal's reason.
 */
export async function syncFolder(
  { from, to, changed, deleted }: FolderSync,
  { signal }: SyncOptions = {},
): Promise<FolderSyncResult> {
  signal?.throwIfAborted();
  const written = checkedPaths(changed);
  const removed = checkedPaths(deleted);
  const writes = [...written.paths];
  const removals = [...removed.paths].filter((path) => !written.paths.has(path));
  const refused = [...written.refused, ...removed.refused];
  try {
    const { kind, real } = await destinationOf(resolve(to));
    const task = { from: await realpath(from), to: real, writes, removals, signal };
    const failed = kind === "filled" ? await updateFolder(task) : await buildFolder(task, kind);
    return { failed: [...refused, ...failed] };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = syncReason(error, to);
    return { failed: [...refused, ...[...writes, ...removals].map((path) => ({ path, reason }))] };
  }
}

interface CheckedPaths {
  readonly paths: ReadonlySet<string>;
  readonly refused: readonly SyncFailure[];
}

function checkedPaths(given: readonly string[]): CheckedPaths {
  const paths = new Set<string>();
  const refused: SyncFailure[] = [];
  for (const path of given) {
    try {
      const checked = checkedPath(path);
      if (checked === ROOT) refused.push({ path, reason: "it is the folder itself: name a file" });
      else paths.add(checked);
    } catch (error) {
      refused.push({ path, reason: messageOf(error) });
    }
  }
  return { paths, refused };
}

interface Destination {
  readonly kind: "missing" | "empty" | "filled";
  /** A real path, if it is there. */
  readonly real: string;
}

async function destinationOf(to: string): Promise<Destination> {
  try {
    const real = await realpath(to);
    return { kind: (await readdir(real)).length === 0 ? "empty" : "filled", real };
  } catch (error) {
    if (hostCode(error) === "ENOENT") return { kind: "missing", real: to };
    throw error;
  }
}
