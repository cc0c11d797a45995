import { checkKnownKeys, getErrorMessage, type KnownKeys } from "../../../base/errors.ts";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import type { GlobOptions, GrepOptions } from "../filesystem.ts";
import { expandPattern } from "../glob.ts";
import { checkLimit } from "../line-window.ts";

/** A search with checked options. */
export interface Search extends Pick<GrepOptions, "glob" | "onIncomplete" | "signal"> {
  /** The source of a valid regular expression. */
  readonly pattern: string;
  readonly maxMatches: number;
  readonly timeoutMs: number;
}

const DEFAULT_MAX_MATCHES = 1000;
const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_PATTERN_LENGTH = 4096;

const grepKeys: KnownKeys<GrepOptions> = {
  glob: true,
  maxMatches: true,
  onIncomplete: true,
  signal: true,
  timeoutMs: true,
};

/** The keys of {@link GlobOptions}. */
export const globKeys: KnownKeys<GlobOptions> = { signal: true };

/** Checks the arguments of `Filesystem.grep`. Throws `FilesystemError`. */
export function checkSearch(pattern: string, options: GrepOptions = {}): Search {
  checkKnownKeys(options, "Filesystem.grep(options)", grepKeys);
  const { maxMatches = DEFAULT_MAX_MATCHES, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  checkExpression(pattern);
  if (options.glob !== undefined) expandPattern(options.glob);
  checkLimit(pattern, "maxMatches", maxMatches);
  checkLimit(pattern, "timeoutMs", timeoutMs);
  return { ...options, pattern, maxMatches, timeoutMs };
}

/** Throws unless the pattern is a regular expression. It is compiled later, in the thread. */
function checkExpression(pattern: string): void {
  if (typeof pattern !== "string") {
    throw FilesystemError.invalid(
      String(pattern),
      "is not a string. Pass the source of a regular expression.",
    );
  }
  if (pattern.length > MAX_PATTERN_LENGTH) {
    const problem = `is an expression of ${pattern.length} characters. The maximum is ${MAX_PATTERN_LENGTH}.`;
    throw FilesystemError.invalid(`${pattern.slice(0, 40)}…`, problem);
  }
  try {
    new RegExp(pattern);
  } catch (cause) {
    const problem = `is not a JavaScript regular expression: ${getErrorMessage(cause)}`;
    throw FilesystemError.invalid(pattern, problem, cause);
  }
}
