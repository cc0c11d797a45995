import { constants, statSync } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";

/**
 * Assigns uploaded files in a container's folder to the container's own user, so that its code can change
 * them. Only needed when this process is root. Code in the container may run at the same time, so this
 * walks from handle to handle and never along a path, which that code could redirect to a host file.
 */
export class Ownership {
  readonly #root: string;
  readonly #uid: number;
  #settledMtimeNs = -1n;

  constructor(root: string, uid: number) {
    this.#root = root;
    this.#uid = uid;
  }

  /** Whether the top folder, where uploads arrive, is unchanged since the last `settle`. */
  isSettled(): boolean {
    return statSync(this.#root, { bigint: true }).mtimeNs === this.#settledMtimeNs;
  }

  /** Walks the whole folder and changes the owner where needed. */
  async settle(): Promise<void> {
    const { mtimeNs } = statSync(this.#root, { bigint: true });
    const folder = await open(this.#root, FOLDER);
    try {
      await this.#changeOwner(folder, 0);
      this.#settledMtimeNs = mtimeNs;
    } finally {
      await folder.close();
    }
  }

  async #changeOwner(folder: FileHandle, depth: number): Promise<void> {
    const path = `/proc/self/fd/${folder.fd}`;
    if ((await folder.stat()).uid !== this.#uid) await folder.chown(this.#uid, this.#uid);
    if (depth >= MAX_DEPTH) return;
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const flags = entry.isDirectory() ? FOLDER : FILE;
      if (entry.isDirectory() || entry.isFile()) {
        await this.#changeEntryOwner(`${path}/${entry.name}`, flags, depth);
      }
    }
  }

  async #changeEntryOwner(path: string, flags: number, depth: number): Promise<void> {
    let entry: FileHandle;
    try {
      entry = await open(path, flags);
    } catch {
      // It was deleted or replaced since it was listed: do not touch it.
      return;
    }
    try {
      const facts = await entry.stat();
      if (facts.isDirectory()) await this.#changeOwner(entry, depth + 1);
      else if (facts.uid !== this.#uid) await entry.chown(this.#uid, this.#uid);
    } finally {
      await entry.close();
    }
  }
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** `O_NONBLOCK` because a file may have been replaced by a pipe since it was listed. */
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const MAX_DEPTH = 64;
