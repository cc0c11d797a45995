import { FilesystemError } from "../../base/filesystem-error.ts";
import { expandBraces } from "./expand-braces.ts";
import { escapeExpression, starExpression } from "./star-expression.ts";

/** Whether a path matches a pattern. */
export type PathMatcher = (path: string) => boolean;

const MAX_PATTERN_LENGTH = 4096;

/** Every path is compared with every alternative, which takes longer for each star. */
const MAX_STARS = 256;
const MAX_EXPANDED_LENGTH = 65_536;
const ANY = "."; // includes newlines, because every expression here has the flag s

/** Holds at the start of a path and after each slash. */
const SEGMENT_START = "(?<![^\\/])";

/**
 * Matches a double star that is a whole segment with its slash, runs of stars, sets and single characters. A
 * bracket that starts no set is a character.
 */
const TOKEN = /(?<![^/])\*\*\/|\*+|\[(?=(!?\]?))\1[^\]]*\]|./gsu;

/**
 * Creates a matcher for whole paths with the rules of Python's `fnmatchcase`: `*` and `?` also match slashes,
 * and `[!a]` negates. `{a,b}` matches either text. A leading `**` and slash also matches zero directories. No
 * pattern backtracks.
 */
export function globMatcher(pattern: string): PathMatcher {
  const expressions = expandPattern(pattern).map((text) => pathExpression(text, "leading"));
  return (path) => expressions.some((expression) => expression.test(path));
}

/**
 * Returns the alternatives of a glob, each without braces. Throws `FilesystemError` for a glob that has an obvious
 * mistake, or that would make matching slow.
 */
export function expandPattern(pattern: string): readonly string[] {
  const texts = [...new Set(expandBraces(checkPattern(pattern)))];
  const all = texts.join("");
  const stars = all.match(/\*+/g)?.length ?? 0;
  if (stars <= MAX_STARS && all.length <= MAX_EXPANDED_LENGTH) return texts;
  const problem =
    stars > MAX_STARS
      ? `has ${stars} stars in all its alternatives. The maximum is ${MAX_STARS}.`
      : `has alternatives of ${all.length} characters. The maximum is ${MAX_EXPANDED_LENGTH}.`;
  throw FilesystemError.invalid(`${pattern.slice(0, 40)}…`, `${problem} Use a simpler pattern.`);
}

/** Returns a glob that has no obvious mistake. Throws `FilesystemError` for any other value. */
export function checkPattern(pattern: string): string {
  if (typeof pattern !== "string")
    throw FilesystemError.invalid(String(pattern), "is not a string");
  if (pattern === "")
    throw FilesystemError.invalid(pattern, 'is an empty pattern. Use "*" to match every path.');
  if (pattern.includes("\0")) throw FilesystemError.invalid(pattern, "contains a NUL character");
  if (pattern.length <= MAX_PATTERN_LENGTH) return pattern;
  const problem = `is a pattern of ${pattern.length} characters. The maximum is ${MAX_PATTERN_LENGTH}.`;
  throw FilesystemError.invalid(`${pattern.slice(0, 40)}…`, problem);
}

/**
 * Creates an expression for a pattern without braces. A `**` that is a whole segment matches zero or more
 * directories: only at the start of the pattern, or anywhere.
 */
export function pathExpression(pattern: string, doubleStars: "leading" | "anywhere"): RegExp {
  const parts = [""];
  let isLeading = true;
  for (const [token] of pattern.matchAll(TOKEN)) {
    const isDoubleStar = token === "**/";
    if (isDoubleStar && (isLeading || doubleStars === "anywhere")) parts.push(SEGMENT_START);
    else if (isDoubleStar) parts.push("\\/");
    else if (token.startsWith("*")) parts.push("");
    else parts.push(`${parts.pop()}${toTokenExpression(token)}`);
    isLeading &&= isDoubleStar;
  }
  return starExpression(parts, { any: ANY, flags: "su" });
}

function toTokenExpression(token: string): string {
  if (token === "?") return ANY;
  if (token.length < 3) return escapeExpression(token);
  return token.startsWith("[!")
    ? `[^${toCharacterSet(token.slice(2, -1))}]`
    : `[${toCharacterSet(token.slice(1, -1))}]`;
}

/** Converts the inside of `[…]`. A reversed range matches nothing. */
function toCharacterSet(inside: string): string {
  const members = inside.matchAll(/(.)-(.)|./gsu);
  return Array.from(members, ([member, from, to]) => {
    if (from === undefined || to === undefined) return escapeExpression(member);
    return getCodePoint(from) > getCodePoint(to)
      ? ""
      : `${escapeExpression(from)}-${escapeExpression(to)}`;
  }).join("");
}

function getCodePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
