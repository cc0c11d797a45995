import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { mountError } from "../../host/host-error.ts";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";

/** The folders of one run: the SDK's home, its temporary folder, and a folder to work in. */
export class ClaudeHome {
  /** The SDK's home. All three are real paths. */
  readonly home: string;
  readonly temporary: string;
  /** Empty, for a run without a workspace. */
  readonly work: string;
  readonly #remove: () => Promise<void>;

  private constructor(files: string, remove: () => Promise<void>) {
    this.home = join(files, "home");
    this.temporary = join(files, "tmp");
    this.work = join(files, "work");
    this.#remove = remove;
  }

  /** Creates the folders for this user only, and removes those of processes that have crashed. */
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

  /** Removes the folders. Call it when no process of the run is left; calling it again does nothing. */
  async remove(): Promise<void> {
    await this.#remove();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

const REMEDY = "the folders of a run could not be made: see to it, or set TMPDIR to another folder";
