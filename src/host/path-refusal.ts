/** The reason why the store refuses to use a file or folder: it leads elsewhere, is not its own, or is too large. */
export class PathRefusal extends Error {
  override readonly name = "PathRefusal";
  /** What to do about it, as a sentence. */
  readonly remedy: string;

  constructor(problem: string, remedy = REMOVE) {
    super(problem);
    this.remedy = remedy;
  }
}

const REMOVE = "Remove it, and use a directory that only the store's user can write to.";
