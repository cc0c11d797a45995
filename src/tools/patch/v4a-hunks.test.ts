import { describe, expect, test } from "vitest";
import { parseHunks, parseNewText } from "./v4a-hunks.ts";
import { patchLines } from "./v4a-patch.ts";

const hunksOf = (diff: string) => parseHunks(patchLines(diff, "a.txt"), "a.txt");
const brief = (diff: string) =>
  hunksOf(diff).map(({ anchors, lines, atEnd }) => ({
    anchors: anchors.map(({ text }) => text),
    lines: lines.map(({ kind, text }) => `${kind} ${text}`),
    atEnd,
  }));
const newText = (diff: string) => parseNewText(patchLines(diff, "a.txt"), "a.txt");
const refusal = (facts: object) =>
  expect.objectContaining({ name: "PatchError", path: "a.txt", ...facts });

describe("a hunk", () => {
  test("says of each line whether it stays, goes or comes", () => {
    expect(brief("@@\n a\n-b\n+c\n")).toEqual([
      { anchors: [], lines: ["keep a", "remove b", "add c"], atEnd: false },
    ]);
  });

  test("keeps the spaces and marks of its lines", () => {
    expect(brief("@@\n   a \n--b\n++c\n")[0]?.lines).toEqual(["keep   a ", "remove -b", "add +c"]);
  });

  test("knows the lines of the patch it was read from", () => {
    const [first, second] = hunksOf("@@ f\n-a\n@@\n+b\n");
    expect(first?.anchors).toEqual([{ text: "f", number: 1 }]);
    expect(first?.lines[0]?.number).toBe(2);
    expect(second?.lines[0]?.number).toBe(4);
  });

  test("may be the first without an @@", () => {
    expect(brief(" a\n-b\n@@\n-c")).toHaveLength(2);
    expect(brief("\n-b\n")[0]?.lines).toEqual(["remove b"]);
  });

  test("may have anchors one below the other, with their indentation", () => {
    expect(brief("@@ class A\n@@ \t def m():\n-x")[0]?.anchors).toEqual(["class A", "\t def m():"]);
  });

  test.each(["@@", "@@ ", "@@\t", "@@  "])("has no anchor after %j", (header) => {
    expect(brief(`${header}\n-x`)[0]?.anchors).toEqual([]);
  });

  test("ends in carriage returns only where its patch does", () => {
    expect(hunksOf("@@\r\n-a\r\n+b\n")[0]?.lines.map(({ ending }) => ending)).toEqual([
      "\r\n",
      "\n",
    ]);
  });

  test("takes an empty line for an empty line of the file", () => {
    expect(brief("@@\n a\n\n-b")[0]?.lines).toEqual(["keep a", "keep ", "remove b"]);
  });

  test("is only set off by an empty line at its end", () => {
    const [first, second] = brief("@@\n-a\n\n\n@@\n-b\n\n*** End of File\n\n");
    expect(first?.lines).toEqual(["remove a"]);
    expect(second).toEqual({ anchors: [], lines: ["remove b"], atEnd: true });
  });

  test("keeps a line of one space at its end", () => {
    expect(brief("@@\n-a\n \n")[0]?.lines).toEqual(["remove a", "keep "]);
  });

  test.each(["*** End of File", "*** End of File  "])("ends the file with %j", (marker) => {
    expect(brief(`@@\n-a\n${marker}\n`)[0]?.atEnd).toBe(true);
    expect(brief(`@@\n-a\n${marker}\n@@\n+b`).map(({ atEnd }) => atEnd)).toEqual([true, false]);
  });
});

test("no lines are no hunks", () => {
  expect(hunksOf("")).toEqual([]);
  expect(hunksOf("\n\n")).toEqual([]);
});

describe("a hunk is refused", () => {
  test.each([
    ["a", 1],
    ["@@foo", 1],
    ["@@\n-a\nb", 3],
    ["@@\n-a\n\tb", 3],
    ["@@\n-a\n*** Move to: b", 3],
    ["@@\n-a\n\\ No newline at end of file", 3],
    ["*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch", 1],
  ])("for a line with no mark before it: %j", (diff, line) => {
    expect(() => hunksOf(diff)).toThrow(refusal({ hunk: 1, line }));
    expect(() => hunksOf(diff)).toThrow('put " " before a line that stays');
  });

  test.each([
    ["@@", 1, 1],
    ["@@ f\n@@ g\n\n", 1, 1],
    ["@@\n-a\n@@\n", 2, 3],
    ["@@\n*** End of File", 1, 1],
    ["*** End of File", 1, 1],
  ])("for having no lines: %j", (diff, hunk, line) => {
    expect(() => hunksOf(diff)).toThrow(refusal({ hunk, line }));
    expect(() => hunksOf(diff)).toThrow("has no lines");
  });

  test("for an end of file that more lines follow", () => {
    expect(() => hunksOf("@@\n-a\n*** End of File\n+b")).toThrow(refusal({ hunk: 1, line: 3 }));
    expect(() => hunksOf("@@\n-a\n*** End of File\n+b")).toThrow("not at the end of its hunk");
  });
});

describe("a new file", () => {
  test.each([
    ["+a\n+b\n", "a\nb\n"],
    ["+a\n+b", "a\nb\n"],
    ["+a\n+\n++b\n+ c \n", "a\n\n+b\n c \n"],
    ["+a\n\n\n", "a\n"],
    ["+\n", "\n"],
    ["", ""],
    ["\n", ""],
  ])("made by %j is %j", (diff, text) => {
    expect(newText(diff)).toBe(text);
  });

  test("ends its lines as the patch does", () => {
    expect(newText("+a\r\n+b\n+c\r\n+d")).toBe("a\r\nb\nc\r\nd\r\n");
  });

  test.each([
    ["+a\nb", 2],
    ["@@\n+a", 1],
    ["+a\n\n+b", 2],
    ["+a\n b", 2],
    ["+a\n*** End of File", 2],
  ])("is refused for a line without a plus: %j", (diff, line) => {
    expect(() => newText(diff)).toThrow(refusal({ hunk: null, line }));
    expect(() => newText(diff)).toThrow('put a "+" before every line');
  });
});
