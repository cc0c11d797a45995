import { expect, test } from "vitest";
import { findInText } from "./find-in-text.ts";

test.each([
  ["ignores case", "An OWL sleeps.", "owl", ["OWL"]],
  [
    "ignores differences in white space",
    "one\n\t two  three",
    "One two three",
    ["one\n\t two  three"],
  ],
  ["needs white space between words", "onetwo", "one two", []],
  [
    "takes special characters literally",
    "1+1=2 (a|b)* [x] \\d",
    "(a|b)* [x] \\D",
    ["(a|b)* [x] \\d"],
  ],
  ["finds places that do not overlap", "aaaa", "aa", ["aa", "aa"]],
  ["finds a match after a partial one", "ababac", "abac", ["abac"]],
  ["keeps characters whose lower case is longer", "x İstanbul y", "İSTANBUL Y", ["İstanbul y"]],
  ["finds nothing for an empty pattern", "abc", "  ", []],
])("findInText() %s", (_what, text, pattern, found) => {
  const matches = findInText(text, pattern);
  expect(matches.map(({ start, end }) => text.slice(start, end))).toEqual(found);
});

test("findInText() returns the first 100 matches with their context on one line", () => {
  const matches = findInText("left \n owl right ".repeat(200), "owl");
  expect(matches).toHaveLength(100);
  expect(matches[0]?.text).toMatch(/^left owl right left owl right/);
});
