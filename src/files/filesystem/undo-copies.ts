import { constants } from "node:fs";
import { copyFile, link, mkdtemp, realpath, rename, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { replaceFile } from "../../host/open-no-follow.ts";
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

  /** Stores a copy of `real` and returns the path of the copy. */
  async copy(real: string): Promise<string> {
    return await this.#store(async (kept) => {
      // File contents are never changed in place, so a hard link is as good as a copy.
      await link(real, kept).catch(() => copyFile(real, kept, constants.COPYFILE_FICLONE));
    });
  }

  /** Moves `real` into the store and returns its new path. */
  async moveIn(real: string): Promise<string> {
    return await this.#store(async (kept) => {
      if (await tryRename(real, kept)) return;
      await copyFile(real, kept, constants.COPYFILE_FICLONE);
      await unlink(real);
    });
  }

  /** Moves a stored copy to `real`, replacing any file there. */
  async restore(kept: string, real: string): Promise<void> {
    if (!(await tryRename(kept, real))) {
      await replaceFile(real, (temporary) => copyFile(kept, temporary));
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

/** Renames a file. Returns `false` if the paths are on different devices. */
async function tryRename(from: string, to: string): Promise<boolean> {
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
