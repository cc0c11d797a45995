import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { isWithin } from "../filesystem/host-place.ts";

/**
 * Where paths of a tree are on the disk, synchronously. No path leads there through a link that
 * leads out; each folder is looked at once, so that it is for one piece of work and not kept.
 */
export class SafePlaces {
  readonly root: string;
  readonly #safe = new Set<string>();
  readonly #made = new Set<string>();
  #real: string | null = null;

  constructor(root: string) {
    this.root = root;
  }

  /** Throws `WinkError` if a link above it leads out. */
  of(path: string): string {
    const at = join(this.root, path);
    const folder = dirname(at);
    if (!this.#safe.has(folder)) this.#check(folder);
    return at;
  }

  /** Makes a folder of the tree, and those above it, if they are not there. */
  makeFolder(path: string): void {
    if (this.#made.has(path)) return;
    mkdirSync(this.of(path), { recursive: true });
    this.#made.add(path);
  }

  /** What is not there yet will be a folder, so that what it is in is looked at. */
  #check(folder: string): void {
    this.#real ??= realpathSync.native(this.root);
    for (let above = folder; isWithin(this.root, above); above = dirname(above)) {
      const real = realpathOf(above);
      if (real === null) continue;
      if (!isWithin(this.#real, real)) {
        throw new WinkError("a symlink above it leads out of the workspace");
      }
      if (above === folder) this.#safe.add(folder);
      return;
    }
  }
}

function realpathOf(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
