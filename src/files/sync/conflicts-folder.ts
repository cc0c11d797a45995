import { mkdir, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type SyncFailure, toSyncReason } from "./sync-failure.ts";
import { syncFolder } from "./sync-folder.ts";
import { copyTreeFile, type TreeFile } from "./tree-file.ts";

/**
 * A temporary folder with the workspace's versions of files that a sync did not write to the host. Only this user
 * can read it. It is created with the first file and is not removed automatically.
 */
export class ConflictsFolder {
  #folder: Promise<string> | null = null;
  #path: string | null = null;

  /** The path of the folder, or `null` if it was not needed. */
  get path(): string | null {
    return this.#path;
  }

  /** Saves a file under its path in the workspace. */
  async save(path: string, file: TreeFile): Promise<void> {
    const target = join(await this.#create(), path);
    await mkdir(dirname(target), { recursive: true });
    await copyTreeFile(file, target);
  }

  /** Saves all given files of a workspace. Returns the failures. */
  async saveAll(from: string, paths: readonly string[]): Promise<readonly SyncFailure[]> {
    try {
      const to = await this.#create();
      return (await syncFolder({ from, to, changed: paths, deleted: [] })).failed;
    } catch (error) {
      return [{ path: ".", reason: toSyncReason(error, tmpdir()) }];
    }
  }

  async #create(): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), "wink-conflicts-")); // mode 0700
    this.#path = await this.#folder;
    return this.#path;
  }
}
