import {
  type BigIntStats,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  statSync,
} from "node:fs";
import { ROOT } from "../path.ts";

/** How the folders of a machine are held. */
export interface HoldOptions {
  /** @default whether this machine shows a process its descriptors as files */
  readonly byDescriptor?: boolean | undefined;
}

/** An entry of a folder, which need not be there. */
export interface HeldEntry {
  readonly folder: HeldFolder;
  readonly name: string;
  /** From the folder that is worked on; bytes, as the name. */
  readonly path: string;
}

/**
 * A folder in which things are done synchronously. On Linux it is held open, and what is done in it
 * is done there even if somebody puts a symlink in its place meanwhile; elsewhere, its path is used.
 *
 * Names are bytes, one character each: a name need not be UTF-8, and none may be lost.
 */
export class HeldFolder implements Disposable {
  /** What leads to the folder itself, for as long as it is held. */
  readonly place: Buffer;
  readonly #descriptor: number | null;

  private constructor(place: Buffer, descriptor: number | null) {
    this.place = place;
    this.#descriptor = descriptor;
  }

  /** Holds what is a folder, and no link to one. Throws what this machine says. */
  static hold(path: Buffer, { byDescriptor = SHOWS_DESCRIPTORS }: HoldOptions = {}): HeldFolder {
    if (!byDescriptor) {
      if (!lstatSync(path).isDirectory()) throw notAFolder();
      return new HeldFolder(path, null);
    }
    const descriptor = openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return new HeldFolder(Buffer.from(placeOf(descriptor)), descriptor);
  }

  /** Holds a folder in it. */
  enter(name: string): HeldFolder {
    return HeldFolder.hold(this.at(name), { byDescriptor: this.#descriptor !== null });
  }

  at(name: string): Buffer {
    return Buffer.concat([this.place, SLASH, bytesOf(name)]);
  }

  /** `null` if nothing of that name is there. */
  look(name: string): BigIntStats | null {
    return lstatSync(this.at(name), { bigint: true, throwIfNoEntry: false }) ?? null;
  }

  /** Of the folder itself. */
  stats(): BigIntStats {
    return statSync(this.place, { bigint: true });
  }

  names(): readonly string[] {
    return readdirSync(this.place, { encoding: "latin1" });
  }

  /** Lets its owner list and change it; if that may not be, what is done in it says so. */
  unlock(mode: number): void {
    try {
      chmodSync(this.place, mode | constants.S_IRWXU);
    } catch {}
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
  }
}

/** The path of what is in a folder. */
export function pathIn(folder: string, name: string): string {
  return folder === ROOT ? name : `${folder}/${name}`;
}

/** What leads to an open file, whatever its path leads to now; without such places, its path. */
export function placeOfOpen(descriptor: number, path: Buffer): string | Buffer {
  return SHOWS_DESCRIPTORS ? placeOf(descriptor) : path;
}

/** The bytes of a name or a path, from one character each. */
export const bytesOf = (name: string): Buffer => Buffer.from(name, "latin1");

/** A name or a path as people read it. */
export const readable = (name: string): string => bytesOf(name).toString();

/** As this machine would say it. */
function notAFolder(): Error {
  return Object.assign(new Error("ENOTDIR: not a directory"), { code: "ENOTDIR" });
}

const placeOf = (descriptor: number) => `/proc/self/fd/${descriptor}`;
const SHOWS_DESCRIPTORS = process.platform === "linux" && existsSync("/proc/self/fd");
const SLASH = Buffer.from("/");

/** Linux's: needs no permission to read the folder. Node does not name it. */
const O_PATH = 0o10000000;
