import { randomUUID } from "node:crypto";
import { closeSync, constants, fstatSync, type PathLike } from "node:fs";
import { copyFile, link, lstat, mkdtemp, realpath, rename, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { openNoFollow } from "../../host/open-no-follow.ts";
import { type PinnedEntry, toDescriptorPath, toReadableName } from "../../host/pinned-folder.ts";
import { getErrorCode, ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { isWithin } from "./resolve-host-path.ts";

/** Copies of replaced files. They are stored in a private directory outside the root, which exists only while it has files. */
export class UndoCopies {
  readonly #root: string;
  readonly #copies = new Set<string>();
  #directory: string | null = null;
  #count = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** Stores a copy of a file and returns the path of the copy. */
  async copy(entry: PinnedEntry): Promise<string> {
    return await this.#store(async (kept) => {
      // File contents are never changed in place, so a hard link is as good as a copy.
      if (!(await tryLink(entry, kept))) await copyEntry(entry, kept);
    });
  }

  /** Moves a file into the store and returns its new path. */
  async moveIn(entry: PinnedEntry): Promise<string> {
    const at = entry.folder.toPath(entry.name);
    return await this.#store(async (kept) => {
      if (await tryRename(at, kept)) return;
      await copyEntry(entry, kept);
      await unlink(at);
    });
  }

  /** Moves a stored copy to an entry, replacing any file there. */
  async restore(kept: string, entry: PinnedEntry): Promise<void> {
    if (!(await tryRename(kept, entry.folder.toPath(entry.name)))) {
      await replaceEntry(entry, (temporary) => copyFile(kept, temporary, constants.COPYFILE_EXCL));
    }
    await this.delete(kept);
  }

  /** Deletes a copy, and the directory with the last one. */
  async delete(kept: string): Promise<void> {
    await ignoreErrorCodes(unlink(kept), "ENOENT");
    this.#copies.delete(kept);
    if (this.#copies.size === 0) await this.clear();
  }

  /** Deletes all copies. */
  async clear(): Promise<void> {
    const directory = this.#directory;
    if (directory === null) return;
    this.#directory = null;
    this.#copies.clear();
    await rm(directory, { recursive: true, force: true });
  }

  async #store(put: (kept: string) => Promise<void>): Promise<string> {
    this.#directory ??= await createPrivateDirectory(this.#root);
    this.#count += 1;
    const kept = join(this.#directory, String(this.#count));
    this.#copies.add(kept);
    try {
      await put(kept);
      return kept;
    } catch (error) {
      await this.delete(kept);
      throw error;
    }
  }
}

/** Replaces a file atomically: `fill` writes a temporary file in the same folder, which is then renamed. */
export async function replaceEntry(
  { folder, name }: PinnedEntry,
  fill: (temporary: Buffer) => Promise<void>,
): Promise<void> {
  const temporary = folder.toPath(`.wink-${randomUUID()}.tmp`);
  try {
    await fill(temporary);
    await rename(temporary, folder.toPath(name));
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {}); // only the first failure is reported
    throw error;
  }
}

/** Stores a hard link. Returns `false` if that is not possible, and also for a symlink that has replaced the file. */
async function tryLink({ folder, name }: PinnedEntry, kept: string): Promise<boolean> {
  try {
    await link(folder.toPath(name), kept);
  } catch {
    return false;
  }
  if ((await lstat(kept)).isFile()) return true;
  await unlink(kept);
  return false;
}

/** Copies a file that is opened first, because copying by its path would follow a symlink. */
async function copyEntry({ folder, name }: PinnedEntry, kept: string): Promise<void> {
  const at = folder.toPath(name);
  const descriptor = openNoFollow(at);
  try {
    if (!fstatSync(descriptor).isFile()) throw createReplacedError(name);
    await copyFile(toDescriptorPath(descriptor, at), kept, constants.COPYFILE_FICLONE);
  } finally {
    closeSync(descriptor);
  }
}

function createReplacedError(name: string): FilesystemError {
  const problem = "was replaced by another process while it was copied. Try again.";
  return new FilesystemError("EACCES", toReadableName(name), problem);
}

/** Renames a file. Returns `false` if the paths are on different devices. */
async function tryRename(from: PathLike, to: PathLike): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (getErrorCode(error) === "EXDEV") return false;
    throw error;
  }
}

async function createPrivateDirectory(root: string): Promise<string> {
  for (const parent of [await realpath(tmpdir()), dirname(root)]) {
    if (!isWithin(root, parent)) return await mkdtemp(join(parent, "wink-undo-"));
  }
  const problem =
    "leaves no place outside it to store copies for a snapshot. Use a folder below it as the root.";
  throw new FilesystemError("EACCES", root, problem);
}
