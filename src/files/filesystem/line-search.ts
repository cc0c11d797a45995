import { checkKnownKeys, getErrorMessage, type KnownKeys } from "../../base/errors.ts";
import { FilesystemError } from "../../base/filesystem-error.ts";
import type { GrepMatch, GrepOptions } from "./filesystem.ts";
import { globMatcher, type PathMatcher } from "./glob.ts";
import { checkLimit, splitLines } from "./line-window.ts";
import { textDecoder } from "./text-encoding.ts";

const DEFAULT_MAX_MATCHES = 1000;

const grepKeys: KnownKeys<GrepOptions> = { glob: true, maxMatches: true };

/** Longer lines are skipped: they are rarely prose or code, and a pattern may take very long on them. */
const MAX_LINE_LENGTH = 100_000;

/** Searches lines file by file. Pass the files in path order. */
export interface LineSearch {
  /** Whether a file should be searched. */
  readonly accepts: PathMatcher;
  /** Whether the maximum number of matches was reached. */
  readonly isFull: boolean;
  /** The matches so far. */
  readonly matches: readonly GrepMatch[];
  /** Adds the matching lines of a file to `matches`. */
  searchFile(path: string, bytes: Uint8Array): void;
}

/** Creates a search for lines that match a JavaScript regular expression. */
export function lineSearch(pattern: string, options: GrepOptions = {}): LineSearch {
  checkKnownKeys(options, "Filesystem.grep(options)", grepKeys);
  const { glob, maxMatches = DEFAULT_MAX_MATCHES } = options;
  const expression = compilePattern(pattern);
  const accepts = glob === undefined ? () => true : globMatcher(glob);
  checkLimit(pattern, "maxMatches", maxMatches);
  const matches: GrepMatch[] = [];
  const isFull = () => matches.length >= maxMatches;
  return {
    accepts,
    matches,
    get isFull() {
      return isFull();
    },
    searchFile(path, bytes) {
      const text = decodeOrEmpty(path, bytes);
      for (const [index, line] of splitLines(text).entries()) {
        if (isFull()) return;
        const shown = line.endsWith("\r") ? line.slice(0, -1) : line;
        if (shown.length > MAX_LINE_LENGTH || !expression.test(shown)) continue;
        matches.push({ path, line: index + 1, text: shown });
      }
    },
  };
}

function compilePattern(pattern: string): RegExp {
  if (typeof pattern !== "string") {
    throw FilesystemError.invalid(
      String(pattern),
      "is not a string. Pass the source of a regular expression.",
    );
  }
  try {
    return new RegExp(pattern);
  } catch (cause) {
    const problem = `is not a JavaScript regular expression: ${getErrorMessage(cause)}`;
    throw FilesystemError.invalid(pattern, problem, cause);
  }
}

/** Decodes a text file. Returns `""` for a binary file. */
function decodeOrEmpty(path: string, bytes: Uint8Array): string {
  if (bytes.includes(0)) return "";
  try {
    return textDecoder(path)(bytes);
  } catch {
    return ""; // not UTF-8
  }
}
