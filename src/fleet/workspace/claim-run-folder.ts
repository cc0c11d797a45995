import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../base/clock.ts";
import { preparePrivateFolder } from "../../files/kept/private-folder.ts";
import { acquireLock, listLockHolders } from "../../host/file-lock.ts";
import { removeFolder } from "../../host/remove-tree.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";

/** A folder that one attempt at a run uses. */
export interface RunFolderClaim {
  /** Path of the folder. It may not exist yet. */
  readonly path: string;
  /** Lets the next attempt on this machine use the folder. */
  release(): Promise<void>;
}

/**
 * Chooses the folder of a run below `root`: the one of its earlier attempts on this machine, so that few files are
 * downloaded, or another one while such an attempt still uses it, because its worker is paused or slow to stop.
 */
export async function claimRunFolder(
  root: string,
  { runId, attempt }: { readonly runId: string; readonly attempt: number },
): Promise<RunFolderClaim> {
  await preparePrivateFolder(root);
  const path = join(root, runId);
  const lock = await acquireLock(`${path}${LOCK}`, systemClock);
  if ("release" in lock) return { path, release: () => lock.release() };
  return { path: `${path}.${attempt}`, release: async () => {} };
}

/** Removes the folders below `root` whose runs have ended, unless an attempt uses them, until the signal aborts. */
export async function removeRunFolders(
  root: string,
  findOver: (runIds: readonly string[]) => Promise<ReadonlySet<string>>,
  signal?: AbortSignal,
): Promise<void> {
  const names = (await listNames(root)).filter((name) => RUN_FOLDER.test(name));
  const runIds = new Set(names.map((name) => name.slice(0, UUID_LENGTH)));
  if (runIds.size === 0) return;
  const over = await findOver([...runIds]);
  for (const name of names) {
    const runId = name.slice(0, UUID_LENGTH);
    if (signal?.aborted) return;
    if (!over.has(runId)) continue;
    const holders = await listLockHolders(join(root, `${runId}${LOCK}`));
    if (holders.length === 0) await removeFolder(join(root, name));
  }
}

const LOCK = ".lock";
const UUID_LENGTH = 36;
const RUN_FOLDER = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(\.\d+)?$/;

async function listNames(root: string): Promise<readonly string[]> {
  try {
    return await readdir(root);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  }
}
