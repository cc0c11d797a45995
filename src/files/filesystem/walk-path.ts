import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { dirname, isAbsolute, join, parse } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import {
  type PinnedEntry,
  PinnedFolder,
  type PinOptions,
  toNameBytes,
  toPinnedName,
} from "../../host/pinned-folder.ts";
import { getErrorCode } from "../../host/to-filesystem-error.ts";

/** Where a path leads. Names and paths have one character per byte. */
export type PathEnd =
  /** `entry` is not a symlink. It is `null` for the root itself. */
  | { readonly kind: "found"; readonly entry: PinnedEntry | null; readonly stats: Stats }
  /** `names` are missing below `folder`, whose path relative to the root is `path`. */
  | {
      readonly kind: "missing";
      readonly folder: PinnedFolder;
      readonly path: readonly string[];
      readonly names: readonly string[];
    }
  | { readonly kind: "below-file" }
  /** The path leaves the root, or its symlinks form a cycle. */
  | { readonly kind: "outside" }
  /** The root itself does not exist. */
  | { readonly kind: "no-root" };

/** More symlinks in one path are taken for a cycle. */
const MAX_LINKS = 40;

/** How often a folder may be replaced while the path is walked. */
const MAX_REPLACEMENTS = 100;

/**
 * A path below a root, walked step by step through open folders, so that replacing a folder with a symlink has no
 * effect. Follows symlinks that stay inside the root. Synchronous. Dispose of it to close the folders.
 *
 * Without `/proc/self/fd` folders are used by their paths: call `checkInPlace` after the operation. A folder that
 * was replaced and restored in the meantime is not detected there.
 */
export class WalkedPath implements Disposable {
  readonly end: PathEnd;
  readonly #root: string;
  readonly #options: PinOptions;
  /** The open folders, from the root on. */
  readonly #folders: PinnedFolder[] = [];
  /** The names of the open folders below the root. */
  readonly #names: string[] = [];
  /** The current folder while a symlink leads through folders outside the root. */
  #outside: string | null = null;

  /** @param root - a real path @param path - a normalized path */
  constructor(root: string, path: string, options: PinOptions = {}) {
    this.#root = toPinnedName(root);
    this.#options = options;
    try {
      this.#folders.push(PinnedFolder.pin(Buffer.from(root), options));
      this.end = this.#walk(splitSteps(toPinnedName(path)));
    } catch (error) {
      this[Symbol.dispose]();
      const kind = ROOT_PROBLEMS.get(getErrorCode(error));
      if (this.#folders.length > 0 || kind === undefined) throw error;
      this.end = { kind };
    }
  }

  /** Opens the found directory. */
  open(entry: PinnedEntry | null): PinnedFolder {
    if (entry) return entry.folder.enter(entry.name);
    return PinnedFolder.pin(toNameBytes(this.#root), this.#options);
  }

  /** Throws if a folder was replaced and the system cannot hold folders open. */
  checkInPlace(): void {
    for (const folder of this.#folders) folder.checkInPlace();
  }

  [Symbol.dispose](): void {
    for (const folder of this.#folders) folder[Symbol.dispose]();
  }

  #walk(ahead: string[]): PathEnd {
    let links = 0;
    let replacements = 0;
    for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
      if (name === "..") {
        this.#leaveFolder();
        continue;
      }
      try {
        const step = this.#outside === null ? this.#step(name, ahead) : this.#stepOutside(name);
        if (typeof step === "object") return step;
        if (step === "entered") continue;
        links += 1;
        if (links > MAX_LINKS) return { kind: "outside" };
        ahead.unshift(...this.#followLink(name));
      } catch (error) {
        if (!REPLACED_CODES.has(getErrorCode(error))) throw error;
        replacements += 1;
        if (replacements > MAX_REPLACEMENTS) throw createReplacedError(ahead);
        ahead.unshift(name);
      }
    }
    return this.#outside === null ? this.#endAtFolder() : { kind: "outside" };
  }

  get #folder(): PinnedFolder {
    return this.#folders.at(-1) as PinnedFolder;
  }

  /** Takes one step inside the root. */
  #step(name: string, ahead: readonly string[]): PathEnd | "entered" | "link" {
    const folder = this.#folder;
    const stats = lstatSync(folder.toPath(name), { throwIfNoEntry: false });
    if (stats === undefined) return this.#endMissing([name, ...ahead]);
    if (stats.isSymbolicLink()) return "link";
    if (ahead.length === 0) {
      const path = [...this.#names, name].join("/");
      return { kind: "found", entry: { folder, name, path }, stats };
    }
    if (!stats.isDirectory()) return { kind: "below-file" };
    this.#folders.push(folder.enter(name));
    this.#names.push(name);
    return "entered";
  }

  /** Takes one step outside the root, which code inside cannot change. Errors count as outside. */
  #stepOutside(name: string): PathEnd | "entered" | "link" {
    const next = join(this.#outside ?? "", name);
    if (next !== this.#root) {
      const stats = tryLstat(next);
      if (stats?.isSymbolicLink()) return "link";
      if (!stats?.isDirectory()) return { kind: "outside" };
    }
    this.#goTo(next);
    return "entered";
  }

  #followLink(name: string): readonly string[] {
    const at =
      this.#outside === null ? this.#folder.toPath(name) : toNameBytes(join(this.#outside, name));
    const target = readlinkSync(at, "latin1");
    if (isAbsolute(target)) this.#goTo(parse(target).root);
    return splitSteps(target);
  }

  /** Goes to an absolute path, which is the root or outside it. */
  #goTo(path: string): void {
    this.#outside = path === this.#root ? null : path;
    for (const folder of this.#folders.splice(1)) folder[Symbol.dispose]();
    this.#names.length = 0;
  }

  #leaveFolder(): void {
    if (this.#outside !== null) this.#goTo(dirname(this.#outside));
    else if (this.#names.pop() === undefined) this.#goTo(dirname(this.#root));
    else this.#folders.pop()?.[Symbol.dispose]();
  }

  #endMissing(names: readonly string[]): PathEnd {
    if (names.includes("..")) return { kind: "outside" };
    return { kind: "missing", folder: this.#folder, path: [...this.#names], names };
  }

  /** Ends at a folder that was already entered, as for the path of the root. */
  #endAtFolder(): PathEnd {
    const stats = lstatSync(Buffer.concat([this.#folder.hostPath, CURRENT]));
    const name = this.#names.at(-1);
    const folder = this.#folders.at(-2);
    if (name === undefined || folder === undefined) return { kind: "found", entry: null, stats };
    return { kind: "found", entry: { folder, name, path: this.#names.join("/") }, stats };
  }
}

/** Error codes for an entry that was replaced between two calls. */
const REPLACED_CODES = new Set<string | undefined>(["ENOTDIR", "ELOOP", "ENOENT", "EINVAL"]);
const CURRENT = Buffer.from("/.");

/** Reasons why the root cannot be opened: it was removed, or replaced with a symlink or a file. */
const ROOT_PROBLEMS = new Map<string | undefined, "no-root" | "outside">([
  ["ENOENT", "no-root"],
  ["ENOTDIR", "outside"],
]);

function splitSteps(path: string): string[] {
  return path
    .slice(parse(path).root.length)
    .split("/")
    .filter((step) => step !== "" && step !== ".");
}

function tryLstat(path: string): Stats | null {
  try {
    return lstatSync(toNameBytes(path));
  } catch {
    return null;
  }
}

function createReplacedError(names: readonly string[]): FilesystemError {
  const problem = "keeps being replaced by another process. Try again once it has stopped.";
  return new FilesystemError("EACCES", names.join("/"), problem);
}
