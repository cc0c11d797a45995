import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { readdir } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson, readNumber, readStringOrNull } from "../base/json.ts";
import { isAlive, readProcessStat } from "./process-identity.ts";
import { OWNER_FILE, removeFolder } from "./remove-tree.ts";
import { chooseTemporaryPath, getFilesPath, TEMPORARY_PREFIX } from "./temporary-path.ts";
import { toFilesystemErrorWithRemedy } from "./to-filesystem-error.ts";

/** A folder in the host's temporary folder that records which process owns it. */
export interface TemporaryFolder {
  readonly home: string;
  /** Folder for the files. `home` itself also contains the owner file. */
  readonly files: string;
  /** Creates both folders, accessible only to this user. Throws `FilesystemError`. */
  create(): Promise<void>;
  /** Removes both folders in a thread. Can be called repeatedly. Throws `FilesystemError`. */
  remove(): Promise<void>;
}

/** Plans a temporary folder without creating it. */
export function reserveFolder(home = chooseTemporaryPath()): TemporaryFolder {
  const files = getFilesPath(home);
  let isCreated = false;
  return Object.freeze({
    home,
    files,
    async create() {
      createHome(home);
      isCreated = true;
      fillHome(home, files);
    },
    async remove() {
      if (isCreated) await removeFolder(home);
    },
  });
}

/** Which folders {@link sweepAbandonedFolders} removes. */
export interface SweepOptions {
  /** How their names start. @default "wink-workspace-" */
  readonly prefix?: string | undefined;
  /** Called before a folder is removed, to unmount what is mounted in it. @default nothing */
  readonly release?: ((home: string) => Promise<void>) | undefined;
}

/**
 * Removes temporary folders whose process has ended and returns their paths. Only this user's
 * folders with an owner file are removed. Folders that cannot be read or removed are kept, and all
 * are kept if other users could replace them. If several processes sweep concurrently, each path
 * is returned only once.
 */
export async function sweepAbandonedFolders({
  prefix = TEMPORARY_PREFIX,
  release,
}: SweepOptions = {}): Promise<readonly string[]> {
  const folder = tmpdir();
  if (!isProtected(folder)) return [];
  const names = await readdir(folder).catch((): string[] => []);
  const removed: string[] = [];
  for (const name of names.filter((name) => name.startsWith(prefix))) {
    const home = join(folder, name);
    if (!isAbandoned(home)) continue;
    await release?.(home).catch(() => undefined); // the removal fails if it matters
    if (await removeFolder(home).catch(() => false)) removed.push(home);
  }
  return removed;
}

/** Writes the file that names this process as the owner of a folder. */
export function writeOwner(home: string): void {
  const path = join(home, OWNER_FILE);
  writeFileSync(path, JSON.stringify(getCurrentOwner()), { flag: "wx", mode: 0o600 });
}

/** Returns whether a folder prevents other users from renaming this user's entries. */
function isProtected(folder: string): boolean {
  const { mode } = statSync(folder, { throwIfNoEntry: false }) ?? { mode: 0 };
  const [sticky, writableByOthers] = [0o1000, 0o022];
  return (mode & writableByOthers) === 0 || (mode & sticky) !== 0;
}

const REMEDY = "set TMPDIR to a writable folder with enough space";

function createHome(home: string): void {
  try {
    mkdirSync(home, { mode: 0o700 });
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, home, REMEDY);
  }
}

/**
 * Fills the folder synchronously, so that an exiting process does not leave a folder without an
 * owner.
 */
function fillHome(home: string, files: string): void {
  try {
    writeOwner(home);
    mkdirSync(files, { mode: 0o700 });
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw toFilesystemErrorWithRemedy(error, home, REMEDY);
  }
}

function isAbandoned(home: string): boolean {
  try {
    const stats = lstatSync(home);
    const isMine = process.geteuid === undefined || stats.uid === process.geteuid();
    if (!stats.isDirectory() || !isMine) return false;
  } catch {
    return false; // It has just been removed.
  }
  const owner = readOwner(join(home, OWNER_FILE));
  return owner !== null && hasEnded(owner);
}

/** The process that a temporary folder belongs to. */
export interface FolderOwner {
  readonly pid: number;
  /**
   * When the process started, in clock ticks since boot, or `null` if the system does not report
   * it.
   */
  readonly startedAt: number | null;
  /** Host name. Hosts and containers may share a folder, but not their pids. */
  readonly host: string;
}

/** Returns the current process as the owner of a folder. */
export function getCurrentOwner(): FolderOwner {
  const { pid } = process;
  return { pid, startedAt: readProcessStat(pid)?.startTicks ?? null, host: hostname() };
}

/** Reads the owner of a folder. Returns `null` unless the file is a valid owner file. */
export function readOwner(path: string): FolderOwner | null {
  try {
    const parsed = parseJson(readSmallFile(path));
    if (!parsed.ok || !isPlainObject(parsed.value)) return null;
    const pid = readNumber(parsed.value, "pid");
    const host = readStringOrNull(parsed.value, "host");
    if (pid === null || !Number.isSafeInteger(pid) || pid <= 0 || host === null) return null;
    return { pid, startedAt: readNumber(parsed.value, "startedAt"), host };
  } catch {
    return null;
  }
}

/** Returns whether the owner has certainly ended. An owner on a different host may still run. */
export function hasEnded({ pid, startedAt, host }: FolderOwner): boolean {
  if (host !== hostname()) return false;
  return !isAlive(pid, ({ startTicks }) => startedAt === null || startTicks === startedAt);
}

const MAX_OWNER_BYTES = 4096;

/** Returns `""` for a link, a pipe, or a file that is too large for an owner file. */
function readSmallFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= MAX_OWNER_BYTES ? readFileSync(file, "utf8") : "";
  } finally {
    closeSync(file);
  }
}
