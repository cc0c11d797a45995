import { FilesystemError } from "../../base/filesystem-error.ts";
import { show } from "../../base/show.ts";
import type { ReadOptions, ReadResult } from "./filesystem.ts";

const DEFAULT_LINES = 2000;

/** How the wanted lines of `path` are cut out of its text. */
export function lineWindow(path: string, options: ReadOptions = {}): (text: string) => ReadResult {
  const { offset = 0, limit = DEFAULT_LINES } = options;
  if (!Number.isSafeInteger(offset) || offset < 0) throw badNumber(path, "offset", offset);
  checkLimit(path, "limit", limit);
  return (text) => {
    const lines = linesOf(text);
    const wanted = lines.slice(offset, offset + limit);
    const truncated = offset + limit < lines.length;
    const isCut = truncated || wanted.length === 0;
    const end = !isCut && text.endsWith("\n") ? "\n" : "";
    return { text: wanted.join("\n") + end, offset, totalLines: lines.length, truncated };
  };
}

/** Lines without their newlines; one at the end begins no further line. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Refuses a limit that is neither a whole number nor `Infinity`. */
export function checkLimit(path: string, field: string, limit: number): void {
  const isCount = Number.isSafeInteger(limit) && limit >= 0;
  if (!isCount && limit !== Number.POSITIVE_INFINITY) throw badNumber(path, field, limit);
}

function badNumber(path: string, field: string, value: unknown): FilesystemError {
  const problem = `cannot be read with ${field} ${show(value)}: give a whole number from 0 on`;
  return FilesystemError.invalid(path, problem);
}
