import { WinkError } from "../../base/errors.ts";
import { MAX_WRITE_BYTES } from "./check-tool-path.ts";

/** A text with some parts replaced. */
export interface ReplacedText {
  readonly text: string;
  /** How often the old text occurs. */
  readonly found: number;
}

const MAX_OCCURRENCES = 100_000;

/** Replaces every occurrence of `before`. Throws `WinkError` if there are too many, or if the result is too large. */
export function replaceText(text: string, before: string, after: string): ReplacedText {
  let found = 0;
  for (let at = text.indexOf(before); at >= 0; at = text.indexOf(before, at + before.length)) {
    found += 1;
    if (found > MAX_OCCURRENCES) throw createTooManyError();
  }
  if (text.length + found * (after.length - before.length) > MAX_WRITE_BYTES)
    throw createTooLargeError();
  return { text: text.split(before).join(after), found };
}

function createTooManyError(): WinkError {
  return new WinkError(
    `old_text occurs more than ${MAX_OCCURRENCES} times. Pass a longer text, or write the whole file.`,
  );
}

function createTooLargeError(): WinkError {
  return new WinkError(
    `The new file would have more than ${MAX_WRITE_BYTES} characters. Pass a shorter new_text.`,
  );
}
