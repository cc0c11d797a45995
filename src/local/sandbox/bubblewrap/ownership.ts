import { constants, statSync } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";

/**
 * Gives what we put into a container's folder to the container's own user, so that its code may change
 * it. Only root does this, in folders where that code may be busy at the same time; so it goes from
 * handle to handle and never along a path, which somebody could bend to a file of the host.
 */
export class Ownership {
  readonly #root: string;
  readonly #uid: number;
  #seen = -1n;

  constructor(root: string, uid: number) {
    this.#root = root;
    this.#uid = uid;
  }

  /** Whether nothing has come or gone at the top, where uploads land, since all was settled. */
  isSettled(): boolean {
    return statSync(this.#root, { bigint: true }).mtimeNs === this.#seen;
  }

  /** Looks at all of it. */
  async settle(): Promise<void> {
    const { mtimeNs } = statSync(this.#root, { bigint: true });
    const folder = await open(this.#root, FOLDER);
    try {
      await this.#give(folder, 0);
      this.#seen = mtimeNs;
    } finally {
      await folder.close();
    }
  }

  async #give(folder: FileHandle, depth: number): Promise<void> {
    const path = `/proc/self/fd/${folder.fd}`;
    if ((await folder.stat()).uid !== this.#uid) await folder.chown(this.#uid, this.#uid);
    if (depth >= DEEPEST) return;
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const flags = entry.isDirectory() ? FOLDER : FILE;
      if (entry.isDirectory() || entry.isFile()) {
        await this.#giveEntry(`${path}/${entry.name}`, flags, depth);
      }
    }
  }

  async #giveEntry(path: string, flags: number, depth: number): Promise<void> {
    let entry: FileHandle;
    try {
      entry = await open(path, flags);
    } catch {
      // Gone, or become something else since it was listed: not ours to give.
      return;
    }
    try {
      const facts = await entry.stat();
      if (facts.isDirectory()) await this.#give(entry, depth + 1);
      else if (facts.uid !== this.#uid) await entry.chown(this.#uid, this.#uid);
    } finally {
      await entry.close();
    }
  }
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** Without waiting: what was a file when listed may be a pipe by now. */
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const DEEPEST = 64;
