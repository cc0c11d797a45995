import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from "node:fs";
import { getErrorCode } from "./to-filesystem-error.ts";

/** Options for pinning a folder. */
export interface PinOptions {
  /** Whether to open the folder and use its descriptor. @default whether the system has `/proc/self/fd` */
  readonly byDescriptor?: boolean | undefined;
}

/** An entry of a pinned folder. It may not exist. */
export interface PinnedEntry {
  readonly folder: PinnedFolder;
  readonly name: string;
  /** The path relative to the checkpoint's folder, as bytes like `name`. */
  readonly path: string;
}

/**
 * A folder that operations stay in, even if its path changes. On Linux the folder is held open, so that replacing
 * it with a symlink has no effect. On other systems its path is used. All operations are synchronous.
 *
 * Names are bytes with one character each (latin1), because a name may not be valid UTF-8.
 */
export class PinnedFolder implements Disposable {
  /** A path to the folder, valid until it is disposed. */
  readonly hostPath: Buffer;
  readonly #descriptor: number | null;
  /** The folder's identity, if it is not held open. */
  readonly #identity: string | null;

  private constructor(place: Buffer, pinned: { descriptor: number } | { identity: string }) {
    this.hostPath = place;
    this.#descriptor = "descriptor" in pinned ? pinned.descriptor : null;
    this.#identity = "identity" in pinned ? pinned.identity : null;
  }

  /** Pins a folder. Throws Node's error if the path is not a folder, also for a symlink to one. */
  static pin(path: Buffer, { byDescriptor = HAS_PROC_DESCRIPTORS }: PinOptions = {}): PinnedFolder {
    if (!byDescriptor) {
      return new PinnedFolder(path, { identity: readIdentity(path) });
    }
    const descriptor = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return new PinnedFolder(Buffer.from(toProcPath(descriptor)), { descriptor });
  }

  /** Throws if another entry has taken the folder's place. Does nothing if the folder is held open. */
  checkInPlace(): void {
    if (this.#identity !== null && readIdentity(this.hostPath) !== this.#identity)
      throw createNotAFolderError();
  }

  /** Pins a subfolder. */
  enter(name: string): PinnedFolder {
    return PinnedFolder.pin(this.toPath(name), { byDescriptor: this.#descriptor !== null });
  }

  /** Returns the path of an entry. */
  toPath(name: string): Buffer {
    return Buffer.concat([this.hostPath, SLASH, toNameBytes(name)]);
  }

  /** Returns the stats of an entry, or `null` if it does not exist. Does not follow symlinks. */
  lstat(name: string): BigIntStats | null {
    return lstatSync(this.toPath(name), { bigint: true, throwIfNoEntry: false }) ?? null;
  }

  /** Returns the stats of the folder. */
  stat(): BigIntStats {
    return statSync(this.hostPath, { bigint: true });
  }

  /** Lists the names in the folder. */
  listNames(): readonly string[] {
    return readdirSync(this.hostPath, { encoding: "latin1" });
  }

  /** Gives the owner full access. Ignores failures: later operations report them. */
  unlock(mode: number): void {
    try {
      chmodSync(this.hostPath, mode | constants.S_IRWXU);
    } catch {}
  }

  /** Sets the permissions of the folder. */
  setMode(mode: number): void {
    chmodSync(this.hostPath, mode);
  }

  /** Closes the folder. */
  [Symbol.dispose](): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
  }
}

/** Called for a missing folder, which it may create. `index` is its place in the path. */
export type OnMissing = (folder: PinnedFolder, name: string, index: number) => void;

/**
 * Pins a folder at or below another one, step by step, so that no part of the path is a symlink. Both are real
 * paths. Throws Node's error if a part was replaced.
 */
export function pinBelow(root: string, folder: string, onMissing?: OnMissing): PinnedFolder {
  const names = toPinnedName(folder.slice(root.length)).split("/");
  return pinNames(
    root,
    names.filter((name) => name !== ""),
    onMissing,
  );
}

/**
 * Pins the folder at `names` below `root`, step by step, so that no part of the path is a symlink. Calls
 * `onMissing` for a missing folder, which may create it. Throws Node's error, with the code ELOOP for a symlink.
 */
export function pinNames(
  root: string,
  names: readonly string[],
  onMissing?: OnMissing,
): PinnedFolder {
  let pinned = PinnedFolder.pin(Buffer.from(root));
  for (const [index, name] of names.entries()) {
    using above = pinned;
    if (onMissing && above.lstat(name) === null) onMissing(above, name, index);
    pinned = enterFolder(above, name);
  }
  return pinned;
}

/** Pins a subfolder. Fails with ELOOP for a symlink, where the system reports ENOTDIR. */
function enterFolder(folder: PinnedFolder, name: string): PinnedFolder {
  try {
    return folder.enter(name);
  } catch (error) {
    if (getErrorCode(error) !== "ENOTDIR" || !folder.lstat(name)?.isSymbolicLink()) throw error;
    const problem = "ELOOP: a symlink is where a folder is expected";
    throw Object.assign(new Error(problem, { cause: error }), { code: "ELOOP" });
  }
}

/** Creates a folder in a pinned folder. Does nothing if an entry has that name. */
export function createInPinned(folder: PinnedFolder, name: string, mode = 0o777): void {
  try {
    mkdirSync(folder.toPath(name), { mode });
  } catch (error) {
    if (getErrorCode(error) !== "EEXIST") throw error;
  }
}

/** Joins a relative folder path, `.` for the root, and a name. */
export function joinPath(folder: string, name: string): string {
  return folder === "." ? name : `${folder}/${name}`;
}

/** Returns a path to an open file that stays valid if the file is moved, or `path` without `/proc/self/fd`. */
export function toDescriptorPath(descriptor: number, path: Buffer): string | Buffer {
  return HAS_PROC_DESCRIPTORS ? toProcPath(descriptor) : path;
}

/** Converts a name to the form that {@link PinnedFolder} takes: one character per byte. */
export const toPinnedName = (name: string): string => Buffer.from(name).toString("latin1");

/** Converts a name or path with one character per byte to bytes. */
export const toNameBytes = (name: string): Buffer => Buffer.from(name, "latin1");

/** Converts a name or path with one character per byte to readable text. */
export const toReadableName = (name: string): string => toNameBytes(name).toString();

/** Returns the identity of a folder. Throws if the path is not a folder, also for a symlink to one. */
function readIdentity(path: Buffer): string {
  const stats = lstatSync(path, { bigint: true });
  if (!stats.isDirectory()) throw createNotAFolderError();
  return `${stats.dev}:${stats.ino}`;
}

/** Creates the same error as the system. */
function createNotAFolderError(): Error {
  return Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
}

const toProcPath = (descriptor: number) => `/proc/self/fd/${descriptor}`;
const HAS_PROC_DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd");
const SLASH = Buffer.from("/");

/** Linux's `O_PATH`, which works without read permission on the folder. Node has no constant for it. */
const O_PATH = 0o10000000;
