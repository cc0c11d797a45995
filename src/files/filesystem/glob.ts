import { FilesystemError } from "../../base/filesystem-error.ts";

/** Whether a path matches. */
export type PathMatcher = (path: string) => boolean;

const ANY = "."; // newlines too: every expression here has the flag s

/** Runs of stars, sets, and single characters; what closes no set is a character. */
const TOKEN = /\*+|\[(?=(!?\]?))\1[^\]]*\]|./gsu;

/**
 * Matches whole paths as Python's `fnmatchcase` does: `*` and `?` cross slashes, `[!a]` negates. A
 * leading `**` with its slash also stands for no directory at all. Never slow, whatever the pattern.
 */
export function globMatcher(pattern: string): PathMatcher {
  if (typeof pattern !== "string") throw FilesystemError.invalid(String(pattern), "is not text");
  if (pattern === "")
    throw FilesystemError.invalid(pattern, 'is an empty pattern: "*" matches every path');
  if (pattern.includes("\0")) throw FilesystemError.invalid(pattern, "holds a NUL");
  const expressions = [wholePath(pattern)];
  for (let rest = pattern; rest.startsWith("**/"); ) {
    rest = rest.slice(3);
    expressions.push(wholePath(rest));
  }
  return (path) => expressions.some((expression) => expression.test(path));
}

/** After a star each part takes the first place where it fits and no other: nothing backtracks. */
function wholePath(pattern: string): RegExp {
  const [first = "", ...others] = partsOf(pattern);
  const last = others.pop();
  const middle = others.map((part, n) => `(?=(?<at${n}>${ANY}*?${part}))\\k<at${n}>`).join("");
  return new RegExp(last === undefined ? `^${first}$` : `^${first}${middle}${ANY}*${last}$`, "su");
}

/** What stands before, between and after the stars, as regular expressions. */
function partsOf(pattern: string): readonly string[] {
  const parts = [""];
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith("*")) parts.push("");
    else parts.push(`${parts.pop()}${expressionOf(token)}`);
  }
  return parts;
}

function expressionOf(token: string): string {
  if (token === "?") return ANY;
  if (token.length < 3) return escaped(token);
  return token.startsWith("[!")
    ? `[^${setOf(token.slice(2, -1))}]`
    : `[${setOf(token.slice(1, -1))}]`;
}

/** The inside of `[…]`: a range that runs backwards holds nothing. */
function setOf(inside: string): string {
  const members = inside.matchAll(/(.)-(.)|./gsu);
  return Array.from(members, ([member, from, to]) => {
    if (from === undefined || to === undefined) return escaped(member);
    return codeOf(from) > codeOf(to) ? "" : `${escaped(from)}-${escaped(to)}`;
  }).join("");
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function escaped(text: string): string {
  return text.replace(/[-\\^$.*+?()[\]{}|]/g, (character) =>
    character === "-" ? "\\x2d" : `\\${character}`,
  );
}
