import { WinkError } from "../../base/errors.ts";
import { show } from "../../base/show.ts";

export interface PatchRefusal {
  /** Reads on after the place: `"names no file"`. */
  readonly problem: string;
  /** Reads on after the problem: `"write it after the colon"`. */
  readonly remedy: string;
  readonly path?: string | null | undefined;
  readonly hunk?: number | null | undefined;
  readonly line?: number | null | undefined;
  readonly cause?: unknown;
}

/** A patch that cannot be read, or does not fit the files; nothing was changed. */
export class PatchError extends WinkError {
  override readonly name = "PatchError";
  /** The file at fault, or `null` if it is the patch as a whole. */
  readonly path: string | null;
  /** Which hunk of that file, counted from 1. */
  readonly hunk: number | null;
  /** Of the patch text, or of the operation's `diff`, counted from 1. */
  readonly line: number | null;

  constructor(refusal: PatchRefusal) {
    const { problem, remedy, cause } = refusal;
    super(`${placeOf(refusal)}: ${problem}: ${remedy}`, cause === undefined ? {} : { cause });
    this.path = refusal.path ?? null;
    this.hunk = refusal.hunk ?? null;
    this.line = refusal.line ?? null;
  }
}

function placeOf({ path, hunk, line }: PatchRefusal): string {
  let place = typeof path === "string" ? `Patch of ${show(path)}` : "Patch";
  if (typeof hunk === "number") place += `, hunk ${hunk}`;
  if (typeof line === "number") place += `, line ${line}`;
  return place;
}
