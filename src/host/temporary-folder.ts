import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { maybeTextAt, numberAt } from "../base/reading.ts";
import { openNoFollow } from "./file-access.ts";
import { mountError } from "./host-error.ts";
import { isAlive, readProcessStat } from "./process-identity.ts";
import { OWNER_FILE, removeFolder } from "./remove-tree.ts";

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

/** The process that a temporary folder belongs to. */
export interface FolderOwner {
  readonly pid: number;
  /** When it started, in clock ticks since the machine booted; `null` where the system does not say. */
  readonly startedAt: number | null;
  /** Machines and containers may share a folder, but not their pids. */
  readonly host: string;
}

/** Returns the current process as the owner of a folder. */
export function currentOwner(): FolderOwner {
  const { pid } = process;
  return { pid, startedAt: readProcessStat(pid)?.startTicks ?? null, host: hostname() };
}

/** Reads the owner of a folder. Returns `null` for anything but a readable owner file. */
export function readOwner(path: string): FolderOwner | null {
  try {
    const parsed = parseJson(readSmallFile(path));
    if (!parsed.ok || !isPlainObject(parsed.value)) return null;
    const pid = numberAt(parsed.value, "pid");
    const host = maybeTextAt(parsed.value, "host");
    if (pid === null || !Number.isSafeInteger(pid) || pid <= 0 || host === null) return null;
    return { pid, startedAt: numberAt(parsed.value, "startedAt"), host };
  } catch {
    return null;
  }
}

/** Whether the owner has certainly ended. One on another machine may still run. */
export function isGone({ pid, startedAt, host }: FolderOwner): boolean {
  if (host !== hostname()) return false;
  return !isAlive(pid, ({ startTicks }) => startedAt === null || startTicks === startedAt);
}

const LARGEST_OWNER_BYTES = 4096;

/** Returns `""` for a link, a pipe or a file too large to be an owner's. */
function readSmallFile(path: string): string {
  const file = openNoFollow(path);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= LARGEST_OWNER_BYTES ? readFileSync(file, "utf8") : "";
  } finally {
    closeSync(file);
  }
}
