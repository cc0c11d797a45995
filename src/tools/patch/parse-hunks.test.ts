import { describe, expect, test } from "vitest";
import { parseHunks, parseNewText } from "./parse-hunks.ts";
import { toPatchLines } from "./parse-patch.ts";

const parseDiff = (diff: string) => parseHunks(toPatchLines(diff, "a.txt"), "a.txt");
const summarizeHunks = (diff: string) =>
  parseDiff(diff).map(({ anchors, lines, atEnd }) => ({
    anchors: anchors.map(({ text }) => text),
    lines: lines.map(({ kind, text }) => `${kind} ${text}`),
    atEnd,
  }));
const parseText = (diff: string) => parseNewText(toPatchLines(diff, "a.txt"), "a.txt");
const matchError = (facts: object) =>
  expect.objectContaining({ name: "PatchError", path: "a.txt", ...facts });

describe("parseHunks()", () => {
  test("classifies each line as kept, removed or added", () => {
    expect(summarizeHunks("@@\n a\n-b\n+c\n")).toEqual([
      { anchors: [], lines: ["keep a", "remove b", "add c"], atEnd: false },
    ]);
  });

  test("keeps the spaces and punctuation of lines", () => {
    expect(summarizeHunks("@@\n   a \n--b\n++c\n")[0]?.lines).toEqual([
      "keep   a ",
      "remove -b",
      "add +c",
    ]);
  });

  test("records the patch's line numbers", () => {
    const [first, second] = parseDiff("@@ f\n-a\n@@\n+b\n");
    expect(first?.anchors).toEqual([{ text: "f", number: 1 }]);
    expect(first?.lines[0]?.number).toBe(2);
    expect(second?.lines[0]?.number).toBe(4);
  });

  test("accepts a first hunk without @@", () => {
    expect(summarizeHunks(" a\n-b\n@@\n-c")).toHaveLength(2);
    expect(summarizeHunks("\n-b\n")[0]?.lines).toEqual(["remove b"]);
  });

  test("accepts nested anchors with their indentation", () => {
    expect(summarizeHunks("@@ class A\n@@ \t def m():\n-x")[0]?.anchors).toEqual([
      "class A",
      "\t def m():",
    ]);
  });

  test.each(["@@", "@@ ", "@@\t", "@@  "])("ignores the empty anchor %j", (header) => {
    expect(summarizeHunks(`${header}\n-x`)[0]?.anchors).toEqual([]);
  });

  test("keeps carriage returns only where the patch has them", () => {
    expect(parseDiff("@@\r\n-a\r\n+b\n")[0]?.lines.map(({ ending }) => ending)).toEqual([
      "\r\n",
      "\n",
    ]);
  });

  test("treats an empty line as an empty line of the file", () => {
    expect(summarizeHunks("@@\n a\n\n-b")[0]?.lines).toEqual(["keep a", "keep ", "remove b"]);
  });

  test("ignores an empty line at the end of a hunk", () => {
    const [first, second] = summarizeHunks("@@\n-a\n\n\n@@\n-b\n\n*** End of File\n\n");
    expect(first?.lines).toEqual(["remove a"]);
    expect(second).toEqual({ anchors: [], lines: ["remove b"], atEnd: true });
  });

  test("keeps a line of one space at the end of a hunk", () => {
    expect(summarizeHunks("@@\n-a\n \n")[0]?.lines).toEqual(["remove a", "keep "]);
  });

  test.each(["*** End of File", "*** End of File  "])(
    "recognizes the end-of-file marker %j",
    (marker) => {
      expect(summarizeHunks(`@@\n-a\n${marker}\n`)[0]?.atEnd).toBe(true);
      expect(summarizeHunks(`@@\n-a\n${marker}\n@@\n+b`).map(({ atEnd }) => atEnd)).toEqual([
        true,
        false,
      ]);
    },
  );
});

test("parseHunks() returns no hunks for no lines", () => {
  expect(parseDiff("")).toEqual([]);
  expect(parseDiff("\n\n")).toEqual([]);
});

describe("parseHunks() rejects", () => {
  test.each([
    ["a", 1],
    ["@@foo", 1],
    ["@@\n-a\nb", 3],
    ["@@\n-a\n\tb", 3],
    ["@@\n-a\n*** Move to: b", 3],
    ["@@\n-a\n\\ No newline at end of file", 3],
    ["*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** End Patch", 1],
  ])("a line without a mark: %j", (diff, line) => {
    expect(() => parseDiff(diff)).toThrow(matchError({ hunk: 1, line }));
    expect(() => parseDiff(diff)).toThrow(
      'Put " " before a line to keep, "-" before one to remove, "+" before one to add.',
    );
  });

  test.each([
    ["@@", 1, 1],
    ["@@ f\n@@ g\n\n", 1, 1],
    ["@@\n-a\n@@\n", 2, 3],
    ["@@\n*** End of File", 1, 1],
    ["*** End of File", 1, 1],
  ])("a hunk without lines: %j", (diff, hunk, line) => {
    expect(() => parseDiff(diff)).toThrow(matchError({ hunk, line }));
    expect(() => parseDiff(diff)).toThrow("the hunk has no lines");
  });

  test("an end-of-file marker before the last line", () => {
    expect(() => parseDiff("@@\n-a\n*** End of File\n+b")).toThrow(
      matchError({ hunk: 1, line: 3 }),
    );
    expect(() => parseDiff("@@\n-a\n*** End of File\n+b")).toThrow("not at the end of its hunk");
  });
});

describe("parseNewText()", () => {
  test.each([
    ["+a\n+b\n", "a\nb\n"],
    ["+a\n+b", "a\nb\n"],
    ["+a\n+\n++b\n+ c \n", "a\n\n+b\n c \n"],
    ["+a\n\n\n", "a\n"],
    ["+\n", "\n"],
    ["", ""],
    ["\n", ""],
  ])("parses %j as %j", (diff, text) => {
    expect(parseText(diff)).toBe(text);
  });

  test("uses the patch's line endings", () => {
    expect(parseText("+a\r\n+b\n+c\r\n+d")).toBe("a\r\nb\nc\r\nd\r\n");
  });

  test.each([
    ["+a\nb", 2],
    ["@@\n+a", 1],
    ["+a\n\n+b", 2],
    ["+a\n b", 2],
    ["+a\n*** End of File", 2],
  ])("rejects a line without a plus: %j", (diff, line) => {
    expect(() => parseText(diff)).toThrow(matchError({ hunk: null, line }));
    expect(() => parseText(diff)).toThrow('Put a "+" before every line.');
  });
});
