import { WorkspaceBudgetExceededError } from "../../base/filesystem-error.ts";

/** Counts the bytes of a mount and throws when they exceed `maxBytes`. */
export class MountBudget {
  readonly #mount: string;
  readonly #maxBytes: number;
  #bytes = 0;

  /** @param mount - the name of the mount in the error message */
  constructor(mount: string, maxBytes: number) {
    this.#mount = mount;
    this.#maxBytes = maxBytes;
  }

  /** The bytes counted so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds the bytes of a file. Throws `WorkspaceBudgetExceededError` if the total exceeds `maxBytes`. */
  spend(bytes: number, path: string): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    throw new WorkspaceBudgetExceededError(
      `${this.#mount} is over its maxBytes of ${this.#maxBytes}: ${JSON.stringify(path)} brings it to ${this.#bytes}. Raise maxBytes, or exclude files with excludeGlob.`,
    );
  }
}
