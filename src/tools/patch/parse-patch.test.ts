import { describe, expect, test } from "vitest";
import { parsePatch, toPatchLines } from "./parse-patch.ts";

const createPatch = (...lines: string[]) =>
  ["*** Begin Patch", ...lines, "*** End Patch", ""].join("\n");
const matchError = (facts: object) => expect.objectContaining({ name: "PatchError", ...facts });

describe("parsePatch()", () => {
  test("parses creations, updates, moves and deletions in order", () => {
    const changes = parsePatch(
      createPatch(
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

  test("accepts a move without hunks", () => {
    expect(parsePatch(createPatch("*** Update File: a", "*** Move to: b"))).toMatchObject([
      { type: "update", path: "a", moveTo: "b", hunks: [] },
    ]);
  });

  test("accepts an empty new file", () => {
    expect(parsePatch(createPatch("*** Add File: a"))).toMatchObject([{ text: "" }]);
  });

  test("accepts spaces and blank lines around markers", () => {
    const padded = "\n  \n *** Begin Patch \n\n*** Delete File: a\n\t*** End Patch\t\n\n";
    expect(parsePatch(padded)).toMatchObject([{ type: "delete", path: "a" }]);
  });

  test("accepts spaces around headers outside a hunk", () => {
    const changes = parsePatch(
      createPatch(
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

  test("keeps a line of a hunk that looks like an indented header", () => {
    const changes = parsePatch(
      createPatch("*** Update File: a", "@@", " *** Delete File: b", " *** End Patch", "-x"),
    );
    expect(changes).toMatchObject([
      { hunks: [{ lines: [{ text: "*** Delete File: b" }, { text: "*** End Patch" }, {}] }] },
    ]);
  });

  test("accepts a new file whose text is a patch", () => {
    const inner = createPatch("*** Add File: b", "+x").trimEnd();
    const outer = createPatch(
      "*** Add File: a.patch",
      ...inner.split("\n").map((line) => `+${line}`),
    );
    expect(parsePatch(outer)).toMatchObject([{ text: `${inner}\n` }]);
  });

  test("accepts carriage returns", () => {
    const patch = createPatch(
      "*** Update File: a",
      "*** Move to: b",
      "@@ f",
      "-x",
      "*** End of File",
    );
    expect(parsePatch(patch.replaceAll("\n", "\r\n"))).toMatchObject([
      { path: "a", moveTo: "b", hunks: [{ anchors: [{ text: "f" }], atEnd: true }] },
    ]);
  });
});

describe("parsePatch() rejects", () => {
  test.each([
    ["", null, "the patch is empty"],
    ["\n \n", null, "the patch is empty"],
    ["*** Add File: a\n+x", 1, 'Make "*** Begin Patch" the first line'],
    ["```\n*** Begin Patch\n*** End Patch\n```", 1, 'Make "*** Begin Patch" the first line'],
    ["*** Begin Patch\n*** Add File: a\n+x\n", 3, 'Make "*** End Patch" the last line'],
    ["*** Begin Patch", 1, 'Make "*** End Patch" the last line'],
    ["*** End Patch", 1, 'Make "*** Begin Patch" the first line'],
    ["*** begin patch\n*** end patch", 1, 'Make "*** Begin Patch" the first line'],
  ])("a patch without its markers: %j", (patch, line, message) => {
    expect(() => parsePatch(patch)).toThrow(matchError({ path: null, hunk: null, line }));
    expect(() => parsePatch(patch)).toThrow(message);
  });

  test.each([[""], ["\n\n"]])("a patch without a header: %j", (body) => {
    expect(() => parsePatch(createPatch(body))).toThrow("the patch changes no file");
  });

  test.each([
    "*** Frobnicate File: foo",
    "@@",
    "+x",
    "*** Add file: a",
    "***Add File: a",
    "*** Move to: a",
    "--- a/foo",
  ])("%j instead of a header", (line) => {
    expect(() => parsePatch(createPatch("", line))).toThrow(matchError({ path: null, line: 3 }));
    expect(() => parsePatch(createPatch("", line))).toThrow("is not a header");
  });

  test.each(["*** Add File:", "*** Update File: ", "*** Delete File:  "])(
    "%j without a path",
    (header) => {
      expect(() => parsePatch(createPatch(header))).toThrow(matchError({ line: 2 }));
      expect(() => parsePatch(createPatch(header))).toThrow("the header has no path");
    },
  );

  test("a move without a path", () => {
    const patch = createPatch("*** Update File: a", "*** Move to: ", "@@", "-x");
    expect(() => parsePatch(patch)).toThrow(matchError({ line: 3 }));
  });

  test("an update without a hunk", () => {
    const patch = createPatch("*** Update File: a");
    expect(() => parsePatch(patch)).toThrow(matchError({ path: "a", line: 2 }));
    expect(() => parsePatch(patch)).toThrow("the update has no hunk");
  });

  test("a hunk without lines", () => {
    const patch = createPatch("*** Update File: a", "@@");
    expect(() => parsePatch(patch)).toThrow(matchError({ path: "a", hunk: 1, line: 3 }));
  });

  test.each([
    ["*** Delete File: a", "-x", 3],
    ["*** Delete File: a", "*** Move to: b", 3],
  ])("%j followed by %j", (header, body, line) => {
    expect(() => parsePatch(createPatch(header, body))).toThrow(matchError({ path: "a", line }));
    expect(() => parsePatch(createPatch(header, body))).toThrow("follows a file to delete");
  });

  test.each([
    ["*** Update File: a", "@@", "-x", "*** Frobnicate File: b"],
    ["*** Update File: a", "@@", "-x", "*** End Patch"],
    ["*** Update File: a", "@@", "-x", "*** Move to: b"],
  ])("a hunk that continues with %j", (...lines) => {
    expect(() => parsePatch(createPatch(...lines))).toThrow(
      matchError({ path: "a", hunk: 1, line: 5 }),
    );
  });

  test("a new file followed by a line that is not a header", () => {
    const patch = createPatch("*** Add File: a", "+x", "*** End Patch");
    expect(() => parsePatch(patch)).toThrow(matchError({ path: "a", line: 4 }));
  });

  test("half of a surrogate pair", () => {
    expect(() => parsePatch(createPatch("*** Add File: a", "+\ud800x"))).toThrow(
      matchError({ line: 3 }),
    );
    expect(() => toPatchLines("+a\n+\udc00\n", "a.txt")).toThrow(
      matchError({ path: "a.txt", line: 2 }),
    );
    expect(toPatchLines("+😀\n", "a.txt")).toHaveLength(1);
  });
});
