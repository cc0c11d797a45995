import { expect, test } from "vitest";
import { FilesystemError } from "../../base/filesystem-error.ts";
import table from "./fnmatch-table.json" with { type: "json" };
import { globMatcher } from "./glob.ts";

/*
 * The table was recorded with fnmatch.fnmatchcase(path, pattern) of Python 3.11. Most patterns are random
 * combinations of pieces such as "*", "?", "[!a-c]", "[]a]", "{a,b}", "\\" and parts of the paths; some are
 * written by hand. None starts with a double star and slash, where globMatcher() differs. Python has no braces.
 */
const rows = (table as [pattern: string, path: string, matches: boolean][]).filter(
  ([pattern]) => !/[{}]/.test(pattern),
);

test("globMatcher() gives the same results as Python's fnmatchcase", () => {
  expect(rows.length).toBeGreaterThan(200);
  const actual = rows.map(([pattern, path]) => [pattern, path, globMatcher(pattern)(path)]);
  expect(actual).toEqual(rows);
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
])(
  "globMatcher() lets only a leading **/ match zero directories: %s and %s is %s",
  (pattern, path, matches) => {
    expect(globMatcher(pattern)(path)).toBe(matches);
  },
);

test("globMatcher() lets a leading **/ match in the root and in any directory", () => {
  for (const [pattern, path, matches] of rows) {
    if (matches) expect(globMatcher(`**/${pattern}`)(path), pattern).toBe(true);
    if (matches) expect(globMatcher(`**/${pattern}`)(`x/y/${path}`), pattern).toBe(true);
  }
});

test.each([
  ["*.{py,md}", "src/a.py", true],
  ["*.{py,md}", "a.md", true],
  ["*.{py,md}", "a.{py,md}", false],
  ["{src,lib}/**", "lib/a/b", true],
  ["{src,lib/{a,b}}/*.ts", "lib/b/c.ts", true],
  ["{src,lib/{a,b}}/*.ts", "lib/c.ts", false],
  ["a{,.bak}", "a", true],
  ["a{,.bak}", "a.bak", true],
  ["[{]a,b[}]", "{a,b}", true],
  ["\\{a,b\\}", "{a,b}", true],
  ["{a}", "{a}", true],
  ["{**/,x/}a", "y/z/a", true],
])("globMatcher() expands braces: %s and %s is %s", (pattern, path, matches) => {
  expect(globMatcher(pattern)(path)).toBe(matches);
});

test.each([
  ["stars that could match in many ways", `${"*a".repeat(60)}*b`, "a".repeat(4000)],
  ["sets that could match in many ways", `${"*[ab]".repeat(60)}*c`, "ab".repeat(2000)],
  ["many backslashes", `]b${"\\".repeat(4000)}`, "b"],
  ["many brackets", "[".repeat(4000), "["],
  ["many double stars", `${"**/".repeat(250)}b`, "a/".repeat(60)],
  ["double stars that could match in many ways", `${"**/a/".repeat(60)}b`, "a/".repeat(2000)],
  ["braces with stars", `{${"*a,".repeat(60)}b}*c`, "a".repeat(4000)],
])("globMatcher() does not backtrack: %s", (_what, pattern, path) => {
  expect(globMatcher(pattern)(path)).toBe(false);
});

test.each([
  ["**/".repeat(300), "has 300 stars in all its alternatives. The maximum is 256."],
  [`${"{a,b}".repeat(8)}**/**/`, "has 512 stars in all its alternatives."],
  [`${"{a,b}".repeat(8)}${"?".repeat(300)}`, "has alternatives of 78848 characters."],
])("globMatcher() rejects a pattern that would make matching slow", (pattern, problem) => {
  expect(() => globMatcher(pattern)).toThrow(problem);
});

test.each([
  ["", 'EINVAL: "" is an empty pattern. Use "*" to match every path.'],
  ["a\0", 'EINVAL: "a\\u0000" contains a NUL character'],
  ["{a,b}".repeat(9), "has braces with more than 256 alternatives"],
  ["a".repeat(4097), `"${"a".repeat(40)}…" is a pattern of 4097 characters. The maximum is 4096.`],
  ["[".repeat(100_000), "is a pattern of 100000 characters"],
  [3 as never, 'EINVAL: "3" is not a string'],
])("globMatcher() rejects the pattern %j", (pattern, message) => {
  expect(() => globMatcher(pattern)).toThrow(FilesystemError);
  expect(() => globMatcher(pattern)).toThrow(message);
});
