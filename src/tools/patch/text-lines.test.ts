import fc from "fast-check";
import { expect, test } from "vitest";
import { findLineEnding, joinLines, splitLines } from "./text-lines.ts";

test.each([
  ["", []],
  ["a", [["a", ""]]],
  ["a\n", [["a", "\n"]]],
  ["\n", [["", "\n"]]],
  ["\r\n", [["", "\r\n"]]],
  [
    "a\r\nb\nc",
    [
      ["a", "\r\n"],
      ["b", "\n"],
      ["c", ""],
    ],
  ],
  ["a\rb\u2028c\n", [["a\rb\u2028c", "\n"]]],
  ["a\r\r\n", [["a\r", "\r\n"]]],
  ["a\r", [["a\r", ""]]],
])("splitLines() splits %j into lines and endings", (text, lines) => {
  expect(splitLines(text).map(({ text, ending }) => [text, ending])).toEqual(lines);
});

test("joinLines() returns the text that was split", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "\r\n", " ") });
  fc.assert(
    fc.property(texts, (text) => {
      expect(joinLines(splitLines(text))).toBe(text);
    }),
  );
});

test("joinLines() adds a newline to a former last line", () => {
  const lines = [...splitLines("a\r\nb"), ...splitLines("c\r\n")];
  expect(joinLines(lines)).toBe("a\r\nb\r\nc\r\n");
  expect(joinLines([...splitLines("a"), ...splitLines("b\n")])).toBe("a\nb\n");
});

test.each([
  ["a\r\nb\n", 0, "\r\n"],
  ["a\r\nb\n", 1, "\r\n"],
  ["a\r\nb\n", 2, "\n"],
  ["a\r\nb", 2, "\r\n"],
  ["a", 1, "\n"],
  ["", 0, "\n"],
])("findLineEnding() for a line inserted in %j before line %i is %j", (text, index, ending) => {
  expect(findLineEnding(splitLines(text), index, "\n")).toBe(ending);
});
