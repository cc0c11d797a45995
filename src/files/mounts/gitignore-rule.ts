import { escapeExpression, starExpression } from "../filesystem/star-expression.ts";
import { parseGitignoreSet } from "./gitignore-set.ts";

/** One line of a `.gitignore` file. */
export interface GitignoreRule {
  /** Whether the rule includes paths again that an earlier rule ignores. */
  readonly isNegated: boolean;
  /** Whether the rule applies only to folders. */
  readonly isFolderOnly: boolean;
  /** Whether the rule matches a path below the folder of its file. */
  matches(path: string): boolean;
  /** How long a comparison may take: 1, and 1 for each star and each slash. */
  readonly cost: number;
}

/**
 * Parses a line of a `.gitignore` file. Returns `null` for a blank line, a comment, and a pattern that never
 * matches. Lines and paths are UTF-8 bytes as Latin-1 characters, because git's `?` matches one byte.
 */
export function parseGitignoreRule(line: string): GitignoreRule | null {
  if (line.startsWith("#")) return null;
  const isNegated = line.startsWith("!");
  const text = trimSpaces(line).slice(isNegated ? 1 : 0);
  const isFolderOnly = text.endsWith("/");
  const pattern = isFolderOnly ? text.slice(0, -1) : text;
  if (pattern === "") return null;
  const matches = pattern.includes("/") ? pathMatcher(pattern) : nameMatcher(pattern);
  const cost = 1 + (pattern.match(/[*/]/g)?.length ?? 0);
  return matches && { isNegated, isFolderOnly, matches, cost };
}

type Matcher = (path: string) => boolean;

/** A segment of a pattern; `"**"` matches zero or more folders. */
type Segment = RegExp | "**";

/** Removes spaces at the end, except one after a backslash. */
function trimSpaces(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line[at] === " ") continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

function nameMatcher(pattern: string): Matcher | null {
  const [segment] = parseSegments(pattern) ?? [];
  if (segment === undefined) return null;
  if (segment === "**") return () => true;
  return (path) => segment.test(path.slice(path.lastIndexOf("/") + 1));
}

function pathMatcher(given: string): Matcher | null {
  const pattern = given.startsWith("/") ? given.slice(1) : given;
  const forms = expandEarlyDoubleStar(pattern).map(parseSegments);
  const known = forms.filter((form) => form !== null);
  if (known.length === 0) return null;
  return (path) => {
    const names = path.split("/");
    return known.some((segments) => matchesSegments(segments, names));
  };
}

/**
 * Git lets `a**` and a slash match any folders if nothing before it is special, although it is not a whole
 * segment. Returns equivalent patterns.
 */
function expandEarlyDoubleStar(pattern: string): readonly string[] {
  const [, start, slash, rest] = /^([^*?[\\]*[^*?[\\/])\*\*+(\\?\/)(.*)$/s.exec(pattern) ?? [];
  if (start === undefined || rest === undefined) return [pattern];
  const folders = `${start}*/**/${rest}`;
  return slash === "/" ? [start + rest, folders] : [folders];
}

/** Splits a pattern at its slashes. Returns `null` if it never matches. */
function parseSegments(pattern: string): readonly Segment[] | null {
  const segments: Segment[] = [];
  let parts = [""];
  let start = 0;
  const closeSegment = (end: number) => {
    const isDoubleStar = /^\*\*+$/.test(pattern.slice(start, end));
    // Before an escaped slash, a double star matches at least one folder.
    if (!isDoubleStar || pattern[end] === "\\") segments.push(toExpression(parts));
    if (isDoubleStar) segments.push("**");
  };
  for (let at = 0; at < pattern.length; ) {
    const character = pattern.charAt(at);
    const literal = character === "\\" ? pattern[at + 1] : character;
    const set = character === "[" ? parseGitignoreSet(pattern, at) : undefined;
    if (literal === undefined || set === null) return null;
    const next = set?.end ?? at + (character === "\\" ? 2 : 1);
    if (literal === "/") {
      closeSegment(at);
      parts = [""];
      start = next;
    } else if (character === "*") parts.push("");
    else parts.push(`${parts.pop()}${set?.expression ?? toCharacter(character, literal)}`);
    at = next;
  }
  closeSegment(pattern.length);
  return segments;
}

function toExpression(parts: readonly string[]): RegExp {
  return starExpression(parts, { any: "[^]", flags: "" });
}

function toCharacter(character: string, literal: string): string {
  return character === "?" ? "[^]" : escapeExpression(literal);
}

/** Compares names with segments. After a `**`, the next segments match only at the first place where they fit. */
function matchesSegments(segments: readonly Segment[], names: readonly string[]): boolean {
  let at = 0;
  for (let index = 0; index < segments.length; ) {
    const end = segments.indexOf("**", index);
    const run = segments.slice(index, end < 0 ? segments.length : end);
    const isFirst = index === 0;
    const from = end < 0 ? names.length - run.length : isFirst ? 0 : findRun(run, names, at);
    if (from < at || (isFirst && from !== 0) || !fitsAt(run, names, from)) return false;
    at = from + run.length;
    index = end < 0 ? segments.length : end + 1;
  }
  // A pattern that ends with a double star matches what is below, not the folder itself.
  return segments.at(-1) === "**" ? at < names.length : at === names.length;
}

function findRun(run: readonly Segment[], names: readonly string[], from: number): number {
  for (let at = from; at + run.length <= names.length; at++) if (fitsAt(run, names, at)) return at;
  return -1;
}

function fitsAt(run: readonly Segment[], names: readonly string[], from: number): boolean {
  return run.every((segment, index) => {
    const name = names[from + index];
    return name !== undefined && segment !== "**" && segment.test(name);
  });
}
