import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { checkCallFence } from "../../base/call-fence.ts";
import { checkKnownKeys } from "../../base/errors.ts";
import { copyBytes, createFilesystemError, FilesystemError } from "../../base/filesystem-error.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { type PinnedEntry, type PinnedFolder, toPinnedName } from "../../host/pinned-folder.ts";
import { toFilesystemError } from "../../host/to-filesystem-error.ts";
import { getParent, normalizePath, ROOT } from "../path.ts";
import type {
  FileStat,
  Filesystem,
  FilesystemOptions,
  FsSnapshot,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem.ts";
import { globMatcher } from "./glob.ts";
import { type HostChange, HostChanges } from "./host-changes.ts";
import {
  checkFound,
  checkInside,
  createNotRegularError,
  type InnerPath,
  openDirectory,
  readHostFile,
} from "./host-reading.ts";
import { lineWindow } from "./line-window.ts";
import { checkSearch, globKeys } from "./search/check-search.ts";
import { searchInThread } from "./search/search-in-thread.ts";
import { listMatchingFiles } from "./search/walk-files.ts";
import { encodeText, textDecoder } from "./text-encoding.ts";
import { UndoJournal } from "./undo-journal.ts";
import { WalkedPath } from "./walk-path.ts";

const MAX_BYTES = 2 ** 31 - 1;
const MAX_TEXT_BYTES = 64 * 2 ** 20;

/** Linux opens paths of up to 4,095 bytes. A name has up to 255. */
const MAX_DIRECTORY_BYTES = 4095 - 256;

/**
 * The files below a directory of the host. Symlinks are followed if they stay below it. A snapshot covers
 * changes made through this object, not changes by other processes. Disposing of it releases every snapshot.
 *
 * @example
 * ```ts
 * import { HostFilesystem } from "weakincentives/files";
 *
 * const filesystem = new HostFilesystem("./project");
 * const text = await filesystem.readText("package.json"); // paths cannot leave the root
 * ```
 */
export class HostFilesystem implements Filesystem, AsyncDisposable {
  /** Whether every change is rejected with a `FilesystemError`. */
  readonly readOnly: boolean;
  readonly #root: string;
  readonly #lock = new SharedLock();
  readonly #journal = new UndoJournal<HostChange>();
  readonly #changes: HostChanges;

  /** Opens the directory `root`. Throws `FilesystemError` if it is not a directory. */
  constructor(root: string, options: FilesystemOptions = {}) {
    checkKnownKeys(options, "HostFilesystem(options)", { readOnly: true });
    this.readOnly = options.readOnly ?? false;
    this.#root = resolveRoot(root);
    this.#changes = new HostChanges(this.#root, () => this.#journal.hasSnapshots);
  }

  /** Reads lines of a UTF-8 text file of up to 64 MiB. */
  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    const window = lineWindow(path, options);
    return window(textDecoder(path)(await this.#readFile(path, MAX_TEXT_BYTES)));
  }

  /** Reads a file of up to 64 MiB as text, by default as UTF-8. */
  async readText(path: string, encoding?: string): Promise<string> {
    const decode = textDecoder(path, encoding);
    return decode(await this.#readFile(path, MAX_TEXT_BYTES));
  }

  /** Reads a file of up to 2 GiB as bytes. */
  async readBytes(path: string): Promise<Uint8Array> {
    return await this.#readFile(path, MAX_BYTES);
  }

  /** Replaces a file atomically, or creates it with its parent directories. Preserves the owner and mode. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    const copy = copyBytes(path, bytes);
    await this.#applyChange(path, (at, done) => this.#writeFile(path, at, { bytes: copy, done }));
  }

  /** Writes a text file, by default as UTF-8. */
  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    await this.write(path, encodeText(path, text, encoding));
  }

  /** Deletes a file, a symlink or an empty directory. */
  async delete(path: string): Promise<void> {
    await this.#applyChange(path, async (at, done) => {
      if (at === ROOT) throw createFilesystemError(path, "root");
      done.push(await this.#removeEntry(path, at));
    });
  }

  /** Whether the path exists and this user may access it. */
  async exists(path: string): Promise<boolean> {
    return (await this.#tryStat(path)) !== null;
  }

  /** Whether the path is a file, after following symlinks. */
  async isFile(path: string): Promise<boolean> {
    return (await this.#tryStat(path))?.isFile() ?? false;
  }

  /** Whether the path is a directory, after following symlinks. */
  async isDir(path: string): Promise<boolean> {
    return (await this.#tryStat(path))?.isDirectory() ?? false;
  }

  /** Returns the type and size of a file or directory, after following symlinks. */
  async stat(path: string): Promise<FileStat> {
    return await this.#inspect(path, async (at) => {
      using walked = new WalkedPath(this.#root, at);
      const { stats } = checkFound(walked, path);
      const isFile = stats.isFile();
      return { path: at, isFile, isDir: stats.isDirectory(), sizeBytes: isFile ? stats.size : 0 };
    });
  }

  /** Lists the names in a directory, sorted. */
  async listDir(path: string): Promise<string[]> {
    return await this.#inspect(path, async (at) => {
      using directory = openDirectory(this.#root, path, at);
      const names = await readdir(directory.hostPath);
      directory.checkInPlace();
      return names.sort();
    });
  }

  /** Lists the paths of files that match a pattern, sorted. Throws if the root has more than 1,000,000 entries. */
  async glob(pattern: string, options?: GlobOptions): Promise<string[]> {
    const matches = globMatcher(pattern);
    checkKnownKeys(options ?? {}, "Filesystem.glob(options)", globKeys);
    const signal = options?.signal;
    return await this.#lock.runShared(() => listMatchingFiles(this.#root, { matches, signal }));
  }

  /**
   * Finds lines that match a JavaScript regular expression, in a thread. Skips files that are binary, not readable or
   * larger than 256 MiB.
   */
  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    const search = checkSearch(pattern, options);
    const source = { type: "folder", root: this.#root } as const;
    return await this.#lock.runShared(() => searchInThread(search, source));
  }

  /** Creates a directory and its parents. Does nothing if it exists. */
  async mkdir(path: string): Promise<void> {
    await this.#applyChange(path, async (at, done) => {
      using walked = new WalkedPath(this.#root, at);
      const end = checkInside(walked, path);
      if (end.kind === "missing") await this.#createMissing(end, { done });
      else if (!end.stats.isDirectory()) throw createFilesystemError(path, "exists");
      walked.checkInPlace();
    });
  }

  /** Creates a snapshot of the current state. O(1) for any tree size. */
  async snapshot(): Promise<FsSnapshot> {
    return await this.#lock.runExclusive(async () => this.#journal.snapshot());
  }

  /**
   * Undoes every change made through this object since the snapshot. If some changes cannot be undone, it undoes
   * the others and throws `FilesystemError`; restore the same snapshot again to retry them.
   */
  async restore(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.runExclusive(async () => {
      const left: HostChange[] = [];
      const failures: unknown[] = [];
      for (const change of this.#journal.getChangesSince(snapshot)) {
        try {
          await change.undo();
        } catch (error) {
          left.unshift(change);
          failures.push(error);
        }
      }
      this.#journal.rewind(snapshot, left);
      if (failures.length > 0) throw createRestoreError(snapshot, failures);
    });
  }

  /** Discards a snapshot and deletes the copies stored for it. */
  async release(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.runExclusive(async () => {
      for (const change of this.#journal.release(snapshot)) await change.discard?.();
    });
  }

  /** Releases every snapshot. The file system remains usable. */
  async close(): Promise<void> {
    await this.#lock.runExclusive(async () => {
      this.#journal.clear();
      await this.#changes.clear();
    });
  }

  /** Releases every snapshot, like {@link HostFilesystem.close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #inspect<Result>(path: string, work: (at: string) => Promise<Result>): Promise<Result> {
    const at = normalizePath(path);
    try {
      return await this.#lock.runShared(() => work(at));
    } catch (error) {
      throw toFilesystemError(path, error);
    }
  }

  /** Runs `work` atomically: if it throws, the changes in `done` are undone. */
  async #applyChange(
    path: string,
    work: (at: string, done: HostChange[]) => Promise<void>,
  ): Promise<void> {
    const at = normalizePath(path);
    if (this.readOnly) throw createFilesystemError(path, "read-only");
    checkCallFence(`The change of ${quoteValue(path)}`);
    checkPathLength(path, `${this.#root}/${getParent(at)}`);
    await this.#lock.runExclusive(async () => {
      const done: HostChange[] = [];
      try {
        await work(at, done);
      } catch (error) {
        // Report the original error, even if a new directory cannot be removed.
        for (const change of done.reverse()) await change.undo().catch(() => {});
        throw toFilesystemError(path, error);
      }
      this.#journal.record(...done);
    });
  }

  async #readFile(path: string, maxBytes: number): Promise<Uint8Array> {
    return await this.#inspect(path, (at) => readHostFile(this.#root, { path, at, maxBytes }));
  }

  async #tryStat(path: string): Promise<Stats | null> {
    const at = normalizePath(path);
    return await this.#lock.runShared(async () => {
      try {
        using walked = new WalkedPath(this.#root, at);
        return walked.end.kind === "found" ? walked.end.stats : null;
      } catch {
        return null; // no access: treat it as missing
      }
    });
  }

  async #writeFile(
    path: string,
    at: string,
    { bytes, done }: { readonly bytes: Uint8Array; readonly done: HostChange[] },
  ): Promise<void> {
    using walked = new WalkedPath(this.#root, at);
    const end = checkInside(walked, path);
    if (end.kind === "missing") await this.#createMissing(end, { bytes, done });
    else {
      const { entry, stats } = end;
      if (entry === null || stats.isDirectory()) throw createFilesystemError(path, "directory");
      if (!stats.isFile()) throw createNotRegularError(path);
      done.push(await this.#changes.overwriteFile(entry, bytes, stats));
    }
    walked.checkInPlace();
  }

  /** Creates missing directories, the last one as a file if there are bytes for it. */
  async #createMissing(
    { folder, path, names }: Extract<InnerPath, { kind: "missing" }>,
    { bytes, done }: { readonly bytes?: Uint8Array; readonly done: HostChange[] },
  ): Promise<void> {
    const opened: PinnedFolder[] = [];
    try {
      let at = folder;
      for (const [index, name] of names.entries()) {
        const isLast = index === names.length - 1;
        const entry = { folder: at, name, path: [...path, ...names.slice(0, index + 1)].join("/") };
        if (isLast && bytes) done.push(await this.#changes.createFile(entry, bytes));
        else done.push(await this.#changes.createDirectory(entry));
        if (isLast) return;
        at = at.enter(name);
        opened.push(at);
      }
    } finally {
      for (const folder of opened) folder[Symbol.dispose]();
    }
  }

  /** Removes an entry, which may be a symlink. */
  async #removeEntry(path: string, at: string): Promise<HostChange> {
    using parent = new WalkedPath(this.#root, getParent(at));
    const { entry: above, stats } = checkFound(parent, path);
    if (!stats.isDirectory()) throw createFilesystemError(path, "below-file");
    using folder = parent.open(above);
    const name = toPinnedName(at.slice(at.lastIndexOf("/") + 1));
    const before = lstatSync(folder.toPath(name));
    const entry = { folder, name, path: above ? `${above.path}/${name}` : name };
    return await this.#removeKind(entry, before, { path, at });
  }

  async #removeKind(
    entry: PinnedEntry,
    before: Stats,
    { path, at }: { readonly path: string; readonly at: string },
  ): Promise<HostChange> {
    if (before.isSymbolicLink()) {
      using target = new WalkedPath(this.#root, at);
      checkInside(target, path); // throws if the link leads out of the root
      return await this.#changes.removeLink(entry);
    }
    if (before.isFile()) return await this.#changes.removeFile(entry);
    if (!before.isDirectory()) throw createNotRegularError(path);
    return await this.#changes.removeDirectory(entry, before);
  }
}

function resolveRoot(root: string): string {
  try {
    const real = realpathSync.native(root);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw toFilesystemError(String(root), error);
  }
  throw createFilesystemError(root, "not-directory");
}

/** Rejects a path that other programs could not open. */
function checkPathLength(path: string, directory: string): void {
  if (Buffer.byteLength(directory) <= MAX_DIRECTORY_BYTES) return;
  throw FilesystemError.invalid(path, "is too long for the host. Use shorter or fewer names.");
}

function createRestoreError(snapshot: FsSnapshot, failures: readonly unknown[]): FilesystemError {
  const first = toFilesystemError(snapshot.id, failures[0]);
  const count = failures.length === 1 ? "1 change" : `${failures.length} changes`;
  const problem = `was not fully restored because ${count} could not be undone. Fix the cause, then restore it again: ${first.message}`;
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  return new FilesystemError(first.code, first.path, problem, cause);
}
