import { FilesystemError } from "../../base/filesystem-error.ts";

/** Whether a path matches a pattern. */
export type PathMatcher = (path: string) => boolean;

const ANY = "."; // includes newlines, because every expression here has the flag s

/** Matches runs of stars, sets and single characters. A bracket that starts no set is a character. */
const TOKEN = /\*+|\[(?=(!?\]?))\1[^\]]*\]|./gsu;

/**
 * Creates a matcher for whole paths with the rules of Python's `fnmatchcase`: `*` and `?` also match slashes,
 * and `[!a]` negates. A leading `**` and slash also matches zero directories. No pattern backtracks.
 */
export function globMatcher(pattern: string): PathMatcher {
  if (typeof pattern !== "string")
    throw FilesystemError.invalid(String(pattern), "is not a string");
  if (pattern === "")
    throw FilesystemError.invalid(pattern, 'is an empty pattern. Use "*" to match every path.');
  if (pattern.includes("\0")) throw FilesystemError.invalid(pattern, "contains a NUL character");
  const expressions = [toPathExpression(pattern)];
  for (let rest = pattern; rest.startsWith("**/"); ) {
    rest = rest.slice(3);
    expressions.push(toPathExpression(rest));
  }
  return (path) => expressions.some((expression) => expression.test(path));
}

/** Builds an expression without backtracking: after a star, each part matches only at the first place where it fits. */
function toPathExpression(pattern: string): RegExp {
  const [first = "", ...others] = splitAtStars(pattern);
  const last = others.pop();
  const middle = others.map((part, n) => `(?=(?<at${n}>${ANY}*?${part}))\\k<at${n}>`).join("");
  return new RegExp(last === undefined ? `^${first}$` : `^${first}${middle}${ANY}*${last}$`, "su");
}

/** Returns the parts before, between and after the stars as regular expressions. */
function splitAtStars(pattern: string): readonly string[] {
  const parts = [""];
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith("*")) parts.push("");
    else parts.push(`${parts.pop()}${toTokenExpression(token)}`);
  }
  return parts;
}

function toTokenExpression(token: string): string {
  if (token === "?") return ANY;
  if (token.length < 3) return escapeToken(token);
  return token.startsWith("[!")
    ? `[^${toCharacterSet(token.slice(2, -1))}]`
    : `[${toCharacterSet(token.slice(1, -1))}]`;
}

/** Converts the inside of `[…]`. A reversed range matches nothing. */
function toCharacterSet(inside: string): string {
  const members = inside.matchAll(/(.)-(.)|./gsu);
  return Array.from(members, ([member, from, to]) => {
    if (from === undefined || to === undefined) return escapeToken(member);
    return getCodePoint(from) > getCodePoint(to) ? "" : `${escapeToken(from)}-${escapeToken(to)}`;
  }).join("");
}

function getCodePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function escapeToken(text: string): string {
  return text.replace(/[-\\^$.*+?()[\]{}|]/g, (character) =>
    character === "-" ? "\\x2d" : `\\${character}`,
  );
}
