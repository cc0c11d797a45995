import { PatchError } from "./patch-error.ts";

/** Enough for 2,000 hunks whose rarest lines each occur 2,500 times in the file. */
const MAX_COMPARISONS = 5_000_000;

/** Counts the line comparisons of one file, so that a patch for a file with many equal lines cannot stop the program. */
export class ComparisonBudget {
  readonly #path: string;
  #left = MAX_COMPARISONS;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws `PatchError` if there were too many comparisons. */
  spend(comparisons: number): void {
    this.#left -= comparisons;
    if (this.#left >= 0) return;
    throw new PatchError({
      path: this.#path,
      problem: `finding the places of the hunks takes more than ${MAX_COMPARISONS} line comparisons`,
      remedy: "use hunks with lines that occur only once in the file, or replace the whole file",
    });
  }
}
