import { randomBytes } from "node:crypto";
import { lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentOwner, isGone, readOwner } from "./folder-owner.ts";
import { mountError } from "./mount-error.ts";
import { removeFolder } from "./remove-folder.ts";
import { OWNER_FILE } from "./remove-tree.ts";

/** A place in the machine's temporary folder that knows which process it belongs to. */
export interface TemporaryFolder {
  readonly home: string;
  /** Where the files go: `home` itself also says who its owner is. */
  readonly files: string;
  /** Makes both folders, for this user only. Throws `FilesystemError`. */
  create(): Promise<void>;
  /** Removes both, off the event loop, as often as it is asked to. Throws `FilesystemError`. */
  remove(): Promise<void>;
}

/** Picks a place for a temporary folder, and makes nothing yet. */
export function reserveFolder(): TemporaryFolder {
  const home = join(tmpdir(), `${PREFIX}${randomBytes(8).toString("hex")}`);
  const files = join(home, "files");
  let isOurs = false;
  return Object.freeze({
    home,
    files,
    async create() {
      makeHome(home);
      isOurs = true;
      fillHome(home, files);
    },
    async remove() {
      if (isOurs) await removeFolder(home);
    },
  });
}

/**
 * Removes temporary folders whose process has ended without doing so, and gives their paths. Only
 * this user's, and only those that say whose they are; what cannot be read or removed is left. Where
 * several processes sweep at once, each folder is among the paths of one of them.
 */
export async function sweepAbandonedFolders(): Promise<readonly string[]> {
  const folder = tmpdir();
  const names = await readdir(folder).catch((): string[] => []);
  const removed: string[] = [];
  for (const name of names.filter((name) => name.startsWith(PREFIX))) {
    const home = join(folder, name);
    if (isAbandoned(home) && (await removeFolder(home).catch(() => false))) removed.push(home);
  }
  return removed;
}

const PREFIX = "wink-workspace-";
const REMEDY =
  "a temporary folder could not be made: see to it, or set TMPDIR to a folder with more room";

function makeHome(home: string): void {
  try {
    mkdirSync(home, { mode: 0o700 });
  } catch (error) {
    throw mountError(error, home, REMEDY);
  }
}

/** Without a pause, so that a process which ends does not leave a home that nobody owns. */
function fillHome(home: string, files: string): void {
  try {
    writeFileSync(join(home, OWNER_FILE), JSON.stringify(currentOwner()), { flag: "wx" });
    mkdirSync(files, { mode: 0o700 });
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw mountError(error, home, REMEDY);
  }
}

function isAbandoned(home: string): boolean {
  try {
    const stats = lstatSync(home);
    const isMine = process.geteuid === undefined || stats.uid === process.geteuid();
    if (!stats.isDirectory() || !isMine) return false;
  } catch {
    return false; // it has gone meanwhile
  }
  const owner = readOwner(join(home, OWNER_FILE));
  return owner !== null && isGone(owner);
}
