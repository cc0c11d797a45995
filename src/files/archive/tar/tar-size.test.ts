import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { checkTarSize, computeTarBytes, createTooLargeError, readSizes } from "./tar-size.ts";
import { writeTarFile } from "./write-tar-file.ts";

const TREE = { "a/b/c.txt": "hello", "a/d.bin": Buffer.alloc(700_001, 7), empty: "", none: null };

describe("readSizes()", () => {
  test("lists all files with their sizes, and counts folders", () => {
    const { files, folderCount } = readSizes(temporaryTree(TREE));
    const sizes = Object.fromEntries(files.map(({ path, bytes }) => [path, bytes]));
    expect(sizes).toEqual({ "a/b/c.txt": 5, "a/d.bin": 700_001, empty: 0 });
    expect(folderCount).toBe(3);
  });

  test("does not follow links, and skips unreadable files", () => {
    const folder = temporaryTree({ a: "1" });
    symlinkSync("/", join(folder, "root"));
    writeFileSync(Buffer.from(`${folder}/\xff`, "latin1"), "its name is not UTF-8");
    const { files, folderCount } = readSizes(folder);
    expect(files.map(({ path }) => path).sort()).toEqual(["a", "root"]);
    expect(folderCount).toBe(0);
    expect(readSizes(join(folder, "missing"))).toEqual({ files: [], folderCount: 0 });
  });
});

describe("computeTarBytes()", () => {
  test("is the size of the tar that is written", () => {
    const folder = temporaryTree(TREE);
    const path = join(temporaryTree(), "a.tar");
    writeTarFile({ folder, path });
    expect(computeTarBytes(readSizes(folder))).toBe(statSync(path).size);
  });
});

describe("checkTarSize()", () => {
  const createTree = (...sizes: readonly number[]) => ({
    files: sizes.map((bytes, index) => ({ path: `f${index}`, bytes })),
    folderCount: 1,
  });

  test("returns the size if it is within the limit", () => {
    expect(checkTarSize(createTree(512, 1), 3_584)).toBe(3_584);
  });

  test("names the size, the limit and the largest files", () => {
    const tree = createTree(1, 6, 2, 5, 3, 4);
    expect(checkTarSize(tree, 7_680)).toBe(7_680);
    expect(() => checkTarSize(tree, 7_679)).toThrow(
      "The workspace's files are 7680 bytes long as one archive, and one upload can have at most 7679. " +
        'The largest are "f1" (6 bytes), "f3" (5 bytes), "f5" (4 bytes), ',
    );
  });
});

test("createTooLargeError() names at most five files, the largest first, and the remedy", () => {
  const files = [1, 6, 2, 5, 3, 4].map((bytes) => ({ path: `"${bytes}`, bytes }));
  expect(createTooLargeError("It is too large.", files)).toMatchObject({
    name: "WorkspaceBudgetExceededError",
    message:
      String.raw`It is too large. The largest are "\"6" (6 bytes), "\"5" (5 bytes), "\"4" (4 bytes), ` +
      String.raw`"\"3" (3 bytes), "\"2" (2 bytes). Exclude files with excludeGlob or gitignore, or remove them.`,
  });
  expect(files[0]).toEqual({ path: '"1', bytes: 1 });
});
