import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import {
  reserveFolder,
  sweepAbandonedFolders,
  type TemporaryFolder,
} from "../../host/temporary-folder.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";

/** Folders for a run: the SDK's home, its temporary folder, and an empty working folder. */
export class ClaudeHome {
  /** The real path of the SDK's home. */
  readonly home: string;
  /** The real path of the SDK's temporary folder. */
  readonly temporary: string;
  /** The real path of the working folder for a run without a workspace. */
  readonly work: string;
  readonly #remove: () => Promise<void>;

  private constructor(files: string, remove: () => Promise<void>) {
    this.home = join(files, "home");
    this.temporary = join(files, "tmp");
    this.work = join(files, "work");
    this.#remove = remove;
  }

  /** Creates the folders, readable only by this user, and removes the folders of crashed processes. */
  static async create(folder: TemporaryFolder = reserveFolder()): Promise<ClaudeHome> {
    await sweepAbandonedFolders();
    await folder.create();
    try {
      const folders = new ClaudeHome(await realpath(folder.files), () => folder.remove());
      for (const path of [folders.home, folders.temporary, folders.work])
        await mkdir(path, { mode: 0o700 });
      return folders;
    } catch (error) {
      await folder.remove();
      throw toFilesystemErrorWithRemedy(error, folder.home, REMEDY);
    }
  }

  /** Removes the folders. Call it after all processes of the run have ended. Idempotent. */
  async remove(): Promise<void> {
    await this.#remove();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove();
  }
}

const REMEDY =
  "make the temporary folder writable, or set TMPDIR to another folder, so that the run's folders can be created";
