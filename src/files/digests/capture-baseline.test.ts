import { appendFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { readOriginalText } from "./baseline.ts";
import { captureBaseline } from "./capture-baseline.ts";
import { digestFolder, MAX_CONTENT_BYTES } from "./folder-digest.ts";

function capture(tree: Tree) {
  const folder = temporaryTree(tree);
  const originals = join(temporaryTree(), "originals");
  return { folder, originals, baseline: captureBaseline({ folder, originals }) };
}

describe("captureBaseline()", () => {
  test("records every file and folder, and keeps the text of text files", () => {
    const { folder, originals, baseline } = capture({
      "a.txt": "one\n",
      "b/c.txt": "größe\r\n",
      "b/empty": "",
      "bom.txt": "\uFEFFx",
      e: null,
    });
    const { files, folders } = digestFolder(folder);
    expect(baseline).toMatchObject({ files, folders });
    expect(statSync(originals).mode & 0o777).toBe(0o600);
    writeFileSync(join(folder, "a.txt"), "changed");
    const paths = ["a.txt", "b/c.txt", "b/empty", "bom.txt"];
    expect(paths.map((path) => readOriginalText(baseline, path))).toEqual([
      "one\n",
      "größe\r\n",
      "",
      "\uFEFFx",
    ]);
  });

  test("keeps no binary file, no file that is not UTF-8, and none over 4 MiB", () => {
    const { baseline, originals } = capture({
      nul: "a\0b",
      latin1: Buffer.from([0x66, 0xfc, 0x72]),
      large: "x".repeat(MAX_CONTENT_BYTES + 1),
      fits: "x".repeat(MAX_CONTENT_BYTES),
    });
    expect([...baseline.positions.keys()]).toEqual(["fits"]);
    expect(baseline.files.get("large")?.bytes).toBe(MAX_CONTENT_BYTES + 1);
    expect(statSync(originals).size).toBe(MAX_CONTENT_BYTES);
    expect(readOriginalText(baseline, "nul")).toBeNull();
    expect(readOriginalText(baseline, "missing")).toBeNull();
  });

  test("does not follow symlinks", () => {
    const folder = temporaryTree({ a: "1" });
    symlinkSync("/etc/hostname", join(folder, "link"));
    const baseline = captureBaseline({ folder, originals: null });
    expect([...baseline.files.keys()]).toEqual(["a"]);
    expect(baseline.positions.size).toBe(0);
  });
});

describe("readOriginalText()", () => {
  test("returns null if the kept copy was changed", () => {
    const { baseline, originals } = capture({ a: "one", b: "two" });
    writeFileSync(originals, "evi");
    expect(readOriginalText(baseline, "a")).toBeNull();
    expect(readOriginalText(baseline, "b")).toBeNull();
    appendFileSync(originals, "two");
    expect(readOriginalText(baseline, "b")).toBe("two");
  });
});
