import { checkKnownKeys, type KnownKeys } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { ReadOptions, ReadResult } from "./filesystem.ts";

const DEFAULT_LINES = 2000;

const readKeys: KnownKeys<ReadOptions> = { limit: true, offset: true };

/** Creates a function that selects lines from the text of `path`. Throws `FilesystemError` for an invalid option. */
export function lineWindow(path: string, options: ReadOptions = {}): (text: string) => ReadResult {
  checkKnownKeys(options, "Filesystem.read(options)", readKeys);
  const { offset = 0, limit = DEFAULT_LINES } = options;
  if (!Number.isSafeInteger(offset) || offset < 0) throw createNumberError(path, "offset", offset);
  checkLimit(path, "limit", limit);
  return (text) => {
    const lines = splitLines(text);
    const wanted = lines.slice(offset, offset + limit);
    const truncated = offset + limit < lines.length;
    const isCut = truncated || wanted.length === 0;
    const end = !isCut && text.endsWith("\n") ? "\n" : "";
    return { text: wanted.join("\n") + end, offset, totalLines: lines.length, truncated };
  };
}

/** Splits a text into lines without their newlines. A final newline does not start another line. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Throws `FilesystemError` if a limit is neither a non-negative integer nor `Infinity`. */
export function checkLimit(path: string, field: string, limit: number): void {
  const isCount = Number.isSafeInteger(limit) && limit >= 0;
  if (!isCount && limit !== Number.POSITIVE_INFINITY) throw createNumberError(path, field, limit);
}

function createNumberError(path: string, field: string, value: unknown): FilesystemError {
  const problem = `cannot be read with ${field} ${quoteValue(value)}. Use a non-negative integer.`;
  return FilesystemError.invalid(path, problem);
}
