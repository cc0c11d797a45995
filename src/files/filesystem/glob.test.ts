import { expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import table from "./fnmatch-table.json" with { type: "json" };
import { globMatcher } from "./glob.ts";

/*
 * The table was recorded from Python 3.11: patterns put together at random from pieces such as
 * "*", "?", "[!a-c]", "[]a]", "{a,b}", "\\" and parts of the paths, and a few written by hand, each
 * with fnmatch.fnmatchcase(path, pattern). None begins with the double star and slash, where we differ.
 */
const rows = table as [pattern: string, path: string, matches: boolean][];

test("patterns match what Python's fnmatch matches, and nothing else", () => {
  expect(rows.length).toBeGreaterThan(200);
  const ours = rows.map(([pattern, path]) => [pattern, path, globMatcher(pattern)(path)]);
  expect(ours).toEqual(rows);
});

test.each([
  ["**/*.py", "a.py", true],
  ["**/*.py", "a/b/c.py", true],
  ["**/a", "a", true],
  ["**/a", "ba", false],
  ["**/**/a", "a", true],
  ["**/**/a", "x/a", true],
  ["**/", "a", false],
  ["a/**/b", "a/x/b", true],
  ["a/**/b", "a/b", false],
  ["***/a", "a", false],
])("only a leading **/ also stands for no directory: %s and %s is %s", (pattern, path, matches) => {
  expect(globMatcher(pattern)(path)).toBe(matches);
});

test("a leading **/ matches whatever the rest matches, and what it matches in any directory", () => {
  for (const [pattern, path, matches] of rows) {
    if (matches) expect(globMatcher(`**/${pattern}`)(path), pattern).toBe(true);
    if (matches) expect(globMatcher(`**/${pattern}`)(`x/y/${path}`), pattern).toBe(true);
  }
});

test.each([
  ["stars that could match in many ways", `${"*a".repeat(60)}*b`, "a".repeat(4000)],
  ["the same in sets", `${"*[ab]".repeat(60)}*c`, "ab".repeat(2000)],
  ["many backslashes", `]b${"\\".repeat(4000)}`, "b"],
  ["many brackets", "[".repeat(4000), "["],
])("%s are answered at once", (_what, pattern, path) => {
  expect(globMatcher(pattern)(path)).toBe(false);
});

test.each([
  ["", 'EINVAL: "" is an empty pattern: "*" matches every path'],
  ["a\0", 'EINVAL: "a\\u0000" holds a NUL'],
  [3 as never, 'EINVAL: "3" is not text'],
])("the pattern %j is refused", (pattern, message) => {
  expect(() => globMatcher(pattern)).toThrow(FilesystemError);
  expect(() => globMatcher(pattern)).toThrow(message);
});
