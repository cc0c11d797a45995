import { constants } from "node:fs";
import { copyFile, link, mkdtemp, realpath, rename, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { replaceFile } from "../../host/file-access.ts";
import { hostCode, unless } from "../../host/host-error.ts";
import { isWithin } from "./host-place.ts";

/** Old files of a root, in a private directory outside it that is there only while it holds any. */
export class KeptFiles {
  readonly #root: string;
  readonly #kept = new Set<string>();
  #directory: string | null = null;
  #count = 0;

  constructor(root: string) {
    this.#root = root;
  }

  /** Keeps what `real` is now; it stays where it is. */
  async keep(real: string): Promise<string> {
    return await this.#into(async (kept) => {
      // Its bytes are never changed in place, so that a second name for them is as good as a copy.
      await link(real, kept).catch(() => copyFile(real, kept, constants.COPYFILE_FICLONE));
    });
  }

  /** Moves `real` away. */
  async take(real: string): Promise<string> {
    return await this.#into(async (kept) => {
      if (await moved(real, kept)) return;
      await copyFile(real, kept, constants.COPYFILE_FICLONE);
      await unlink(real);
    });
  }

  /** Puts what was kept at `real`, whatever file is there. */
  async putBack(kept: string, real: string): Promise<void> {
    if (!(await moved(kept, real))) {
      await replaceFile(real, (temporary) => copyFile(kept, temporary));
    }
    await this.drop(kept);
  }

  async drop(kept: string): Promise<void> {
    await unless(unlink(kept), "ENOENT");
    this.#kept.delete(kept);
    if (this.#kept.size === 0) await this.clear();
  }

  async clear(): Promise<void> {
    const directory = this.#directory;
    if (directory === null) return;
    this.#directory = null;
    this.#kept.clear();
    await rm(directory, { recursive: true, force: true });
  }

  async #into(put: (kept: string) => Promise<void>): Promise<string> {
    this.#directory ??= await privateDirectory(this.#root);
    this.#count += 1;
    const kept = join(this.#directory, String(this.#count));
    this.#kept.add(kept);
    try {
      await put(kept);
      return kept;
    } catch (error) {
      await this.drop(kept);
      throw error;
    }
  }
}

/** `false` if they are on two devices. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (hostCode(error) === "EXDEV") return false;
    throw error;
  }
}

async function privateDirectory(root: string): Promise<string> {
  for (const parent of [await realpath(tmpdir()), dirname(root)]) {
    if (!isWithin(root, parent)) return await mkdtemp(join(parent, "wink-undo-"));
  }
  const problem = "has no place outside it for what a snapshot must keep: take a folder below it";
  throw new FilesystemError("EACCES", root, problem);
}
