import { WinkError } from "../../base/errors.ts";
import { quoteValue } from "../../base/quote-value.ts";

/** Parts of a {@link PatchError}'s message. */
export interface PatchErrorParts {
  /** Follows the place in the message: `"the header has no path"`. */
  readonly problem: string;
  /** Imperative without a final period: `"write the path after the colon"`. */
  readonly remedy: string;
  readonly path?: string | null | undefined;
  readonly hunk?: number | null | undefined;
  readonly line?: number | null | undefined;
  readonly cause?: unknown;
}

/**
 * Thrown if a patch cannot be parsed or does not match the files. No file was changed, unless the
 * message reports otherwise.
 */
export class PatchError extends WinkError {
  override readonly name = "PatchError";
  /** Path of the file concerned, or `null` if the patch as a whole is. */
  readonly path: string | null;
  /** Number of the hunk within its file, from 1. */
  readonly hunk: number | null;
  /** Line of the patch text, or of the operation's `diff`, from 1. */
  readonly line: number | null;

  constructor(refusal: PatchErrorParts) {
    const { problem, remedy, cause } = refusal;
    const sentences = `${problem.replace(/\.$/, "")}. ${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`;
    super(`${describePlace(refusal)}: ${sentences}`, cause === undefined ? {} : { cause });
    this.path = refusal.path ?? null;
    this.hunk = refusal.hunk ?? null;
    this.line = refusal.line ?? null;
  }
}

function describePlace({ path, hunk, line }: PatchErrorParts): string {
  let place = typeof path === "string" ? `Patch of ${quoteValue(path)}` : "Patch";
  if (typeof hunk === "number") place += `, hunk ${hunk}`;
  if (typeof line === "number") place += `, line ${line}`;
  return place;
}
