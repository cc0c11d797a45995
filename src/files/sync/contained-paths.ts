import { mkdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { WinkError } from "../../base/errors.ts";
import { isWithin } from "../filesystem/resolve-host-path.ts";

/**
 * Resolves paths below a root, synchronously, and rejects paths that leave it through a symlink. Checks each
 * folder only once, so use an instance for one operation and then discard it.
 */
export class ContainedPaths {
  readonly root: string;
  readonly #safe = new Set<string>();
  readonly #created = new Set<string>();
  #real: string | null = null;

  constructor(root: string) {
    this.root = root;
  }

  /** Returns the path on disk. Throws `WinkError` if a symlink above it leads out of the root. */
  resolve(path: string): string {
    const at = join(this.root, path);
    const folder = dirname(at);
    if (!this.#safe.has(folder)) this.#check(folder);
    return at;
  }

  /** Creates a folder and its parents, if they are missing. */
  createFolder(path: string): void {
    if (this.#created.has(path)) return;
    mkdirSync(this.resolve(path), { recursive: true });
    this.#created.add(path);
  }

  /** Checks the nearest existing folder: missing folders will be created below it. */
  #check(folder: string): void {
    this.#real ??= realpathSync.native(this.root);
    for (let above = folder; isWithin(this.root, above); above = dirname(above)) {
      const real = tryRealpath(above);
      if (real === null) continue;
      if (!isWithin(this.#real, real)) {
        throw new WinkError(
          "A symlink above it leads out of the workspace. Replace it with a folder.",
        );
      }
      if (above === folder) this.#safe.add(folder);
      return;
    }
  }
}

function tryRealpath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}
