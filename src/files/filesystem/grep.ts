import { messageOf } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import type { GrepMatch, GrepOptions } from "./filesystem.ts";
import { globMatcher, type PathMatcher } from "./glob.ts";
import { checkLimit, linesOf } from "./line-window.ts";
import { textDecoder } from "./text-encoding.ts";

const DEFAULT_MATCHES = 1000;

/** Longer lines are no prose or code, and a pattern may need very long for them. */
const LONGEST_LINE = 100_000;

/** Finds lines, file by file; give it the files in the order of their paths. */
export interface LineSearch {
  /** Whether a file is to be looked into. */
  readonly wants: PathMatcher;
  /** No more is wanted. */
  readonly full: boolean;
  readonly found: readonly GrepMatch[];
  look(path: string, bytes: Uint8Array): void;
}

/** A search for lines that `pattern`, a JavaScript regular expression, matches. */
export function lineSearch(pattern: string, options: GrepOptions = {}): LineSearch {
  const { glob, maxMatches = DEFAULT_MATCHES } = options;
  const expression = expressionOf(pattern);
  const wants = glob === undefined ? () => true : globMatcher(glob);
  checkLimit(pattern, "maxMatches", maxMatches);
  const found: GrepMatch[] = [];
  const isFull = () => found.length >= maxMatches;
  return {
    wants,
    found,
    get full() {
      return isFull();
    },
    look(path, bytes) {
      const text = textOf(path, bytes);
      for (const [index, line] of linesOf(text).entries()) {
        if (isFull()) return;
        const shown = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (shown.length > LONGEST_LINE || !expression.test(shown)) continue;
        found.push({ path, line: index + 1, text: shown });
      }
    },
  };
}

function expressionOf(pattern: string): RegExp {
  if (typeof pattern !== "string") {
    throw FilesystemError.invalid(String(pattern), "is not the text of a regular expression");
  }
  try {
    return new RegExp(pattern);
  } catch (cause) {
    const problem = `is not a JavaScript regular expression: ${messageOf(cause)}`;
    throw FilesystemError.invalid(pattern, problem, cause);
  }
}

/** Nothing to find in what is not text. */
function textOf(path: string, bytes: Uint8Array): string {
  if (bytes.includes(0)) return "";
  try {
    return textDecoder(path)(bytes);
  } catch {
    return ""; // not UTF-8: binary files are passed over
  }
}
