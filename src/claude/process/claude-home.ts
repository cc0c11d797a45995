import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { mountError } from "../../host/host-error.ts";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";

/** The folders of one run: what the SDK takes for its user's home, for its temporary files, to work in. */
export class ClaudeHome {
  /** Real paths, all of them. */
  readonly home: string;
  readonly temporary: string;
  /** Empty; for a run that was given no workspace. */
  readonly work: string;
  readonly #remove: () => Promise<void>;

  private constructor(files: string, remove: () => Promise<void>) {
    this.home = join(files, "home");
    this.temporary = join(files, "tmp");
    this.work = join(files, "work");
    this.#remove = remove;
  }

  /** Makes them, for this user only, and removes those of processes that have crashed. */
  static async create(folder: TemporaryFolder = reserveFolder()): Promise<ClaudeHome> {
    await sweepAbandonedFolders();
    await folder.create();
    try {
      const made = new ClaudeHome(await realpath(folder.files), () => folder.remove());
      for (const path of [made.home, made.temporary, made.work]) await mkdir(path, { mode: 0o700 });
      return made;
    } catch (error) {
      await folder.remove();
      throw mountError(error, folder.home, REMEDY);
    }
  }

  /** Removes all of it, as often as it is asked to; only when nothing of the run is left to write there. */
  async remove(): Promise<void> {
    await this.#remove();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

const REMEDY = "the folders of a run could not be made: see to it, or set TMPDIR to another folder";
