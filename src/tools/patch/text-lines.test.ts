import fc from "fast-check";
import { expect, test } from "vitest";
import { findCommonEnding, joinLines, splitLines } from "./text-lines.ts";

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
  [
    "a\rb\u2028c\n",
    [
      ["a", "\r"],
      ["b\u2028c", "\n"],
    ],
  ],
  [
    "a\r\r\n",
    [
      ["a", "\r"],
      ["", "\r\n"],
    ],
  ],
  ["a\r", [["a", "\r"]]],
  [
    "\n\r",
    [
      ["", "\n"],
      ["", "\r"],
    ],
  ],
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

test("joinLines() adds an ending to a former last line", () => {
  const lines = [...splitLines("a\r\nb"), ...splitLines("c\r\n")];
  expect(joinLines(lines, "\r")).toBe("a\r\nb\rc\r\n");
  expect(joinLines([...splitLines("a"), ...splitLines("b\n")])).toBe("a\nb\n");
});

test.each([
  ["a\r\nb\nc\n", "\n"],
  ["a\r\nb\r\nc\n", "\r\n"],
  ["a\rb\rc\n", "\r"],
  ["a\r\nb\n", "\r\n"],
  ["a\nb\r\n", "\n"],
  ["a\nb\rc\rd\n", "\n"],
  ["a\r\nb", "\r\n"],
  ["a", null],
  ["", null],
])("findCommonEnding() of %j is %j, the first one if two are equally common", (text, ending) => {
  expect(findCommonEnding(splitLines(text))).toBe(ending);
});
