/** The reason why a file or folder is not used: it leads elsewhere, belongs to another user, is damaged or is too large. */
export class PathRefusal extends Error {
  override readonly name = "PathRefusal";
  /** What to do about it, as a sentence. */
  readonly remedy: string;

  constructor(problem: string, remedy = REMOVE) {
    super(problem);
    this.remedy = remedy;
  }
}

const REMOVE = "Remove it, and use a directory that only the user of this process can write to.";
