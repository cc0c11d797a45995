import { realpathSync, type Stats, statSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { checkCallFence } from "../../base/call-fence.ts";
import { checkKnownKeys } from "../../base/errors.ts";
import { copyBytes, createFilesystemError, FilesystemError } from "../../base/filesystem-error.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { toFilesystemError } from "../../host/to-filesystem-error.ts";
import { getParent, normalizePath, ROOT } from "../path.ts";
import type {
  FileStat,
  Filesystem,
  FilesystemOptions,
  FsSnapshot,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem.ts";
import { globMatcher } from "./glob.ts";
import { type HostChange, HostChanges } from "./host-changes.ts";
import {
  createNotRegularError,
  findRealPath,
  listFilesBelow,
  readHostFile,
  resolveInside,
} from "./host-reading.ts";
import { lineSearch } from "./line-search.ts";
import { lineWindow } from "./line-window.ts";
import { resolveHostPath } from "./resolve-host-path.ts";
import { encodeText, textDecoder } from "./text-encoding.ts";
import { UndoJournal } from "./undo-journal.ts";

const MAX_CONCURRENT_READS = 16;

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

  /** Reads lines of a UTF-8 text file. */
  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    const window = lineWindow(path, options);
    return window(textDecoder(path)(await this.readBytes(path)));
  }

  /** Reads a file as text, by default as UTF-8. */
  async readText(path: string, encoding?: string): Promise<string> {
    const decode = textDecoder(path, encoding);
    return decode(await this.readBytes(path));
  }

  /** Reads a file as bytes. */
  async readBytes(path: string): Promise<Uint8Array> {
    return await this.#inspect(path, (at) => this.#readFile(path, at));
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
      const directory = await findRealPath(this.#root, path, getParent(at));
      const real = join(directory, at.slice(at.lastIndexOf("/") + 1));
      done.push(await this.#removeEntry(path, at, real));
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
      const stats = await lstat(await findRealPath(this.#root, path, at));
      const isFile = stats.isFile();
      return { path: at, isFile, isDir: stats.isDirectory(), sizeBytes: isFile ? stats.size : 0 };
    });
  }

  /** Lists the names in a directory, sorted. */
  async listDir(path: string): Promise<string[]> {
    return await this.#inspect(path, async (at) => {
      const real = await findRealPath(this.#root, path, at);
      if (!(await lstat(real)).isDirectory()) throw createFilesystemError(path, "not-directory");
      return (await readdir(real)).sort();
    });
  }

  /** Lists the paths of files that match a pattern, sorted. */
  async glob(pattern: string): Promise<string[]> {
    const matches = globMatcher(pattern);
    return (await this.#lock.runShared(() => listFilesBelow(this.#root))).filter(matches);
  }

  /** Finds lines that match a JavaScript regular expression. Skips files that are binary or not readable. */
  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    const search = lineSearch(pattern, options);
    return await this.#lock.runShared(async () => {
      const paths = (await listFilesBelow(this.#root)).filter(search.accepts);
      for (let from = 0; from < paths.length && !search.isFull; from += MAX_CONCURRENT_READS) {
        const some = paths.slice(from, from + MAX_CONCURRENT_READS);
        for (const [path, bytes] of await Promise.all(
          some.map((path) => this.#tryReadFile(path)),
        )) {
          search.searchFile(path, bytes);
        }
      }
      return search.matches;
    });
  }

  /** Creates a directory and its parents. Does nothing if it exists. */
  async mkdir(path: string): Promise<void> {
    await this.#applyChange(path, async (at, done) => {
      const place = await resolveInside(this.#root, path, at);
      if (place.kind === "missing")
        await this.#createDirectories(place.directory, place.names, done);
      else if (!(await lstat(place.real)).isDirectory())
        throw createFilesystemError(path, "exists");
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
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock.runExclusive(async () => {
      this.#journal.clear();
      await this.#changes.clear();
    });
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

  async #readFile(path: string, at: string): Promise<Uint8Array> {
    return await readHostFile(path, await findRealPath(this.#root, path, at));
  }

  /** Reads a file, or returns no bytes if it cannot be read. */
  async #tryReadFile(path: string): Promise<[string, Uint8Array]> {
    try {
      return [path, await this.#readFile(path, path)];
    } catch {
      return [path, new Uint8Array()];
    }
  }

  async #tryStat(path: string): Promise<Stats | null> {
    const at = normalizePath(path);
    return await this.#lock.runShared(async () => {
      try {
        const place = await resolveHostPath(this.#root, at);
        return place.kind === "found" ? await lstat(place.real) : null;
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
    const place = await resolveInside(this.#root, path, at);
    if (place.kind === "missing") {
      const { directory, names } = place;
      await this.#createDirectories(directory, names.slice(0, -1), done);
      done.push(await this.#changes.createFile(join(directory, ...names), bytes));
      return;
    }
    const before = await lstat(place.real);
    if (before.isDirectory()) throw createFilesystemError(path, "directory");
    if (!before.isFile()) throw createNotRegularError(path);
    done.push(await this.#changes.overwriteFile(place.real, bytes, before));
  }

  async #createDirectories(
    directory: string,
    names: readonly string[],
    done: HostChange[],
  ): Promise<void> {
    let real = directory;
    for (const name of names) {
      real = join(real, name);
      done.push(await this.#changes.createDirectory(real));
    }
  }

  /** Removes an entry. `real` is the entry's own path, even if it is a symlink. */
  async #removeEntry(path: string, at: string, real: string): Promise<HostChange> {
    const before = await lstat(real);
    if (before.isSymbolicLink()) {
      await resolveInside(this.#root, path, at); // throws if the link leads out of the root
      return await this.#changes.removeLink(real);
    }
    if (before.isFile()) return await this.#changes.removeFile(real);
    if (!before.isDirectory()) throw createNotRegularError(path);
    return await this.#changes.removeDirectory(real, before);
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

function createRestoreError(snapshot: FsSnapshot, failures: readonly unknown[]): FilesystemError {
  const first = toFilesystemError(snapshot.id, failures[0]);
  const count = failures.length === 1 ? "1 change" : `${failures.length} changes`;
  const problem = `was not fully restored because ${count} could not be undone. Fix the cause, then restore it again: ${first.message}`;
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  return new FilesystemError(first.code, first.path, problem, cause);
}
