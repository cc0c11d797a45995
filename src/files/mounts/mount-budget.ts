import { WorkspaceBudgetExceededError } from "../../base/filesystem-error.ts";

/** Counts what a mount brings: exactly `maxBytes` pass, one more does not. */
export class MountBudget {
  readonly #mount: string;
  readonly #maxBytes: number;
  #bytes = 0;

  /** `mount` is what an error calls it. */
  constructor(mount: string, maxBytes: number) {
    this.#mount = mount;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  spend(bytes: number, path: string): void {
    this.#bytes += bytes;
    if (this.#bytes <= this.#maxBytes) return;
    throw new WorkspaceBudgetExceededError(
      `${this.#mount} is over its maxBytes of ${this.#maxBytes}: ${JSON.stringify(path)} brings it to ${this.#bytes}; raise maxBytes, or leave files out by excludeGlob`,
    );
  }
}
