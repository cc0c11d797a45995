import { describe, expect, test } from "vitest";
import { parsePatch, patchLines } from "./v4a-patch.ts";

const patchOf = (...lines: string[]) =>
  ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const refusal = (facts: object) => expect.objectContaining({ name: "PatchError", ...facts });

describe("a patch", () => {
  test("creates, updates, moves and deletes files, in its order", () => {
    const changes = parsePatch(
      patchOf(
        "*** Add File: new.txt",
        "+a",
        "*** Update File: old.txt",
        "*** Move to: sub/new name.txt",
        "@@",
        "-a",
        "+b",
        "*** Delete File: gone.txt",
        "*** Update File: other.txt",
        "@@ f",
        "-x",
      ),
    );
    expect(changes).toMatchObject([
      { type: "create", path: "new.txt", line: 2, text: "a\n" },
      { type: "update", path: "old.txt", line: 4, moveTo: "sub/new name.txt" },
      { type: "delete", path: "gone.txt", line: 9 },
      { type: "update", path: "other.txt", line: 10, moveTo: null },
    ]);
    expect(changes[3]).toHaveProperty("hunks.0.lines.0.number", 12);
  });

  test("may move a file and leave its text alone", () => {
    expect(parsePatch(patchOf("*** Update File: a", "*** Move to: b"))).toMatchObject([
      { type: "update", path: "a", moveTo: "b", hunks: [] },
    ]);
  });

  test("may make an empty file", () => {
    expect(parsePatch(patchOf("*** Add File: a"))).toMatchObject([{ text: "" }]);
  });

  test("may have padded markers and blank lines around them", () => {
    const padded = "\n  \n *** Begin Patch \n\n*** Delete File: a\n\t*** End Patch\t\n\n";
    expect(parsePatch(padded)).toMatchObject([{ type: "delete", path: "a" }]);
  });

  test("may have padded headers where no hunk is open", () => {
    const changes = parsePatch(
      patchOf(
        "  *** Delete File: a  ",
        "\t*** Add File:  b",
        "+x",
        " *** Update File: c",
        "@@",
        "-x",
      ),
    );
    expect(changes.map(({ type, path }) => `${type} ${path}`)).toEqual([
      "delete a",
      "create b",
      "update c",
    ]);
  });

  test("keeps a line that looks like a padded header within a hunk", () => {
    const changes = parsePatch(
      patchOf("*** Update File: a", "@@", " *** Delete File: b", " *** End Patch", "-x"),
    );
    expect(changes).toMatchObject([
      { hunks: [{ lines: [{ text: "*** Delete File: b" }, { text: "*** End Patch" }, {}] }] },
    ]);
  });

  test("may add a file that holds a patch", () => {
    const inner = patchOf("*** Add File: b", "+x").trimEnd();
    const outer = patchOf("*** Add File: a.patch", ...inner.split("\n").map((line) => `+${line}`));
    expect(parsePatch(outer)).toMatchObject([{ text: `${inner}\n` }]);
  });

  test("may be written with carriage returns", () => {
    const patch = patchOf("*** Update File: a", "*** Move to: b", "@@ f", "-x", "*** End of File");
    expect(parsePatch(patch.replaceAll("\n", "\r\n"))).toMatchObject([
      { path: "a", moveTo: "b", hunks: [{ anchors: [{ text: "f" }], atEnd: true }] },
    ]);
  });
});

describe("a patch is refused", () => {
  test.each([
    ["", null, "is empty"],
    ["\n \n", null, "is empty"],
    ["*** Add File: a\n+x", 1, 'make "*** Begin Patch" the first line'],
    ["```\n*** Begin Patch\n*** End Patch\n```", 1, 'make "*** Begin Patch" the first line'],
    ["*** Begin Patch\n*** Add File: a\n+x\n", 3, 'make "*** End Patch" the last line'],
    ["*** Begin Patch", 1, 'make "*** End Patch" the last line'],
    ["*** End Patch", 1, 'make "*** Begin Patch" the first line'],
    ["*** begin patch\n*** end patch", 1, 'make "*** Begin Patch" the first line'],
  ])("without its markers: %j", (patch, line, message) => {
    expect(() => parsePatch(patch)).toThrow(refusal({ path: null, hunk: null, line }));
    expect(() => parsePatch(patch)).toThrow(message);
  });

  test.each([[""], ["\n\n"]])("if it has no header: %j", (body) => {
    expect(() => parsePatch(patchOf(body))).toThrow("changes no file");
  });

  test.each([
    "*** Frobnicate File: foo",
    "@@",
    "+x",
    "*** Add file: a",
    "***Add File: a",
    "*** Move to: a",
    "--- a/foo",
  ])("if it starts with %j instead of a header", (line) => {
    expect(() => parsePatch(patchOf("", line))).toThrow(refusal({ path: null, line: 3 }));
    expect(() => parsePatch(patchOf("", line))).toThrow("is no header");
  });

  test.each(["*** Add File:", "*** Update File: ", "*** Delete File:  "])(
    "if %j names no file",
    (header) => {
      expect(() => parsePatch(patchOf(header))).toThrow(refusal({ line: 2 }));
      expect(() => parsePatch(patchOf(header))).toThrow("names no file");
    },
  );

  test("if a move names no file", () => {
    const patch = patchOf("*** Update File: a", "*** Move to: ", "@@", "-x");
    expect(() => parsePatch(patch)).toThrow(refusal({ line: 3 }));
  });

  test("if an update has no hunk", () => {
    const patch = patchOf("*** Update File: a");
    expect(() => parsePatch(patch)).toThrow(refusal({ path: "a", line: 2 }));
    expect(() => parsePatch(patch)).toThrow("has no hunk");
  });

  test("if a hunk has no lines", () => {
    const patch = patchOf("*** Update File: a", "@@");
    expect(() => parsePatch(patch)).toThrow(refusal({ path: "a", hunk: 1, line: 3 }));
  });

  test.each([
    ["*** Delete File: a", "-x", 3],
    ["*** Delete File: a", "*** Move to: b", 3],
  ])("if %j is followed by %j", (header, body, line) => {
    expect(() => parsePatch(patchOf(header, body))).toThrow(refusal({ path: "a", line }));
    expect(() => parsePatch(patchOf(header, body))).toThrow("follows a file to be deleted");
  });

  test.each([
    ["*** Update File: a", "@@", "-x", "*** Frobnicate File: b"],
    ["*** Update File: a", "@@", "-x", "*** End Patch"],
    ["*** Update File: a", "@@", "-x", "*** Move to: b"],
  ])("if a hunk runs into %j", (...lines) => {
    expect(() => parsePatch(patchOf(...lines))).toThrow(refusal({ path: "a", hunk: 1, line: 5 }));
  });

  test("if a new file runs into what is no header", () => {
    const patch = patchOf("*** Add File: a", "+x", "*** End Patch");
    expect(() => parsePatch(patch)).toThrow(refusal({ path: "a", line: 4 }));
  });

  test("if it holds half of a character", () => {
    expect(() => parsePatch(patchOf("*** Add File: a", "+\ud800x"))).toThrow(refusal({ line: 3 }));
    expect(() => patchLines("+a\n+\udc00\n", "a.txt")).toThrow(refusal({ path: "a.txt", line: 2 }));
    expect(patchLines("+😀\n", "a.txt")).toHaveLength(1);
  });
});
