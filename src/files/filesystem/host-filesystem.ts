import { realpathSync, type Stats, statSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { copyBytes, FilesystemError, refuse } from "../../base/filesystem-error.ts";
import { SharedLock } from "../../base/shared-lock.ts";
import { hostError } from "../../host/host-error.ts";
import { checkedPath, parentOf, ROOT } from "../path.ts";
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
import { lineSearch } from "./grep.ts";
import { type HostChange, HostChanges } from "./host-changes.ts";
import { locate } from "./host-place.ts";
import { filesBelow, notRegular, openPlace, readWhole, realPathOf } from "./host-reading.ts";
import { lineWindow } from "./line-window.ts";
import { encodeText, textDecoder } from "./text-encoding.ts";
import { UndoJournal } from "./undo-journal.ts";

const FILES_AT_ONCE = 16;

/**
 * The files below a directory of this machine. Symlinks are followed while they stay below it. A
 * snapshot covers what is changed through this object, not what others do meanwhile. Disposing of
 * it releases every snapshot.
 */
export class HostFilesystem implements Filesystem, AsyncDisposable {
  readonly readOnly: boolean;
  readonly #root: string;
  readonly #lock = new SharedLock();
  readonly #journal = new UndoJournal<HostChange>();
  readonly #changes: HostChanges;

  /** Throws `FilesystemError` if `root` is not a directory. */
  constructor(root: string, options: FilesystemOptions = {}) {
    this.readOnly = options.readOnly ?? false;
    this.#root = realRoot(root);
    this.#changes = new HostChanges(this.#root, () => this.#journal.isWanted);
  }

  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    const window = lineWindow(path, options);
    return window(textDecoder(path)(await this.readBytes(path)));
  }

  async readText(path: string, encoding?: string): Promise<string> {
    const decode = textDecoder(path, encoding);
    return decode(await this.readBytes(path));
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return await this.#look(path, (at) => this.#bytes(path, at));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const copy = copyBytes(path, bytes);
    await this.#change(path, (at, done) => this.#write(path, at, { bytes: copy, done }));
  }

  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    await this.write(path, encodeText(path, text, encoding));
  }

  async delete(path: string): Promise<void> {
    await this.#change(path, async (at, done) => {
      if (at === ROOT) throw refuse(path, "root");
      const directory = await realPathOf(this.#root, path, parentOf(at));
      const real = join(directory, at.slice(at.lastIndexOf("/") + 1));
      done.push(await this.#remove(path, at, real));
    });
  }

  async exists(path: string): Promise<boolean> {
    return (await this.#find(path)) !== null;
  }

  async isFile(path: string): Promise<boolean> {
    return (await this.#find(path))?.isFile() ?? false;
  }

  async isDir(path: string): Promise<boolean> {
    return (await this.#find(path))?.isDirectory() ?? false;
  }

  async stat(path: string): Promise<FileStat> {
    return await this.#look(path, async (at) => {
      const stats = await lstat(await realPathOf(this.#root, path, at));
      const isFile = stats.isFile();
      return { path: at, isFile, isDir: stats.isDirectory(), sizeBytes: isFile ? stats.size : 0 };
    });
  }

  async listDir(path: string): Promise<string[]> {
    return await this.#look(path, async (at) => {
      const real = await realPathOf(this.#root, path, at);
      if (!(await lstat(real)).isDirectory()) throw refuse(path, "not-directory");
      return (await readdir(real)).sort();
    });
  }

  async glob(pattern: string): Promise<string[]> {
    const matches = globMatcher(pattern);
    return (await this.#lock.share(() => filesBelow(this.#root))).filter(matches);
  }

  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    const search = lineSearch(pattern, options);
    return await this.#lock.share(async () => {
      const paths = (await filesBelow(this.#root)).filter(search.wants);
      for (let from = 0; from < paths.length && !search.full; from += FILES_AT_ONCE) {
        const some = paths.slice(from, from + FILES_AT_ONCE);
        for (const [path, bytes] of await Promise.all(some.map((path) => this.#readable(path)))) {
          search.look(path, bytes);
        }
      }
      return search.found;
    });
  }

  async mkdir(path: string): Promise<void> {
    await this.#change(path, async (at, done) => {
      const place = await openPlace(this.#root, path, at);
      if (place.kind === "missing") await this.#makeDirectories(place.directory, place.names, done);
      else if (!(await lstat(place.real)).isDirectory()) throw refuse(path, "exists");
    });
  }

  async snapshot(): Promise<FsSnapshot> {
    return await this.#lock.alone(async () => this.#journal.snapshot());
  }

  /** What could not be undone is tried again when the same snapshot is restored again. */
  async restore(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.alone(async () => {
      const left: HostChange[] = [];
      const failures: unknown[] = [];
      for (const change of this.#journal.since(snapshot)) {
        try {
          await change.undo();
        } catch (error) {
          left.unshift(change);
          failures.push(error);
        }
      }
      this.#journal.rewind(snapshot, left);
      if (failures.length > 0) throw notRestored(snapshot, failures);
    });
  }

  async release(snapshot: FsSnapshot): Promise<void> {
    await this.#lock.alone(async () => {
      for (const change of this.#journal.release(snapshot)) await change.forget?.();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock.alone(async () => {
      this.#journal.clear();
      await this.#changes.clear();
    });
  }

  async #look<Result>(path: string, work: (at: string) => Promise<Result>): Promise<Result> {
    const at = checkedPath(path);
    try {
      return await this.#lock.share(() => work(at));
    } catch (error) {
      throw hostError(path, error);
    }
  }

  /** All of `work` is done, or nothing: `done` is what it has done so far. */
  async #change(
    path: string,
    work: (at: string, done: HostChange[]) => Promise<void>,
  ): Promise<void> {
    const at = checkedPath(path);
    if (this.readOnly) throw refuse(path, "read-only");
    await this.#lock.alone(async () => {
      const done: HostChange[] = [];
      try {
        await work(at, done);
      } catch (error) {
        // What led here is what to report, even if an empty directory cannot be taken away again.
        for (const change of done.reverse()) await change.undo().catch(() => {});
        throw hostError(path, error);
      }
      this.#journal.record(...done);
    });
  }

  async #bytes(path: string, at: string): Promise<Uint8Array> {
    return await readWhole(path, await realPathOf(this.#root, path, at));
  }

  /** What cannot be read has nothing to find. */
  async #readable(path: string): Promise<[string, Uint8Array]> {
    try {
      return [path, await this.#bytes(path, path)];
    } catch {
      return [path, new Uint8Array()];
    }
  }

  async #find(path: string): Promise<Stats | null> {
    const at = checkedPath(path);
    return await this.#lock.share(async () => {
      try {
        const place = await locate(this.#root, at);
        return place.kind === "found" ? await lstat(place.real) : null;
      } catch {
        return null; // not to be seen: for us it is not there
      }
    });
  }

  async #write(
    path: string,
    at: string,
    { bytes, done }: { readonly bytes: Uint8Array; readonly done: HostChange[] },
  ): Promise<void> {
    const place = await openPlace(this.#root, path, at);
    if (place.kind === "missing") {
      const { directory, names } = place;
      await this.#makeDirectories(directory, names.slice(0, -1), done);
      done.push(await this.#changes.createFile(join(directory, ...names), bytes));
      return;
    }
    const before = await lstat(place.real);
    if (before.isDirectory()) throw refuse(path, "directory");
    if (!before.isFile()) throw notRegular(path);
    done.push(await this.#changes.overwriteFile(place.real, bytes, before));
  }

  async #makeDirectories(
    directory: string,
    names: readonly string[],
    done: HostChange[],
  ): Promise<void> {
    let real = directory;
    for (const name of names) {
      real = join(real, name);
      done.push(await this.#changes.makeDirectory(real));
    }
  }

  /** `real` is the thing itself, be it a link. */
  async #remove(path: string, at: string, real: string): Promise<HostChange> {
    const before = await lstat(real);
    if (before.isSymbolicLink()) {
      await openPlace(this.#root, path, at); // refuses one that leads out
      return await this.#changes.removeLink(real);
    }
    if (before.isFile()) return await this.#changes.removeFile(real);
    if (!before.isDirectory()) throw notRegular(path);
    return await this.#changes.removeDirectory(real, before);
  }
}

function realRoot(root: string): string {
  try {
    const real = realpathSync.native(root);
    if (statSync(real).isDirectory()) return real;
  } catch (error) {
    throw hostError(String(root), error);
  }
  throw refuse(root, "not-directory");
}

function notRestored(snapshot: FsSnapshot, failures: readonly unknown[]): FilesystemError {
  const first = hostError(snapshot.id, failures[0]);
  const count = failures.length === 1 ? "a change" : `${failures.length} changes`;
  const problem = `was not restored wholly, ${count} could not be undone: ${first.message}`;
  const cause = failures.length === 1 ? failures[0] : new AggregateError(failures);
  return new FilesystemError(first.code, first.path, problem, cause);
}
