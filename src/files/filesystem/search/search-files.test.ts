import { chmodSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import type { GrepMatch } from "../filesystem.ts";
import { type SearchSource, searchFiles } from "./search-files.ts";

async function search(source: SearchSource, options: { glob?: string; maxMatches?: number } = {}) {
  const found: GrepMatch[] = [];
  const { glob, maxMatches = 10 } = options;
  const omissions = await searchFiles({ pattern: "a", glob, maxMatches, source }, (matches) =>
    found.push(...matches),
  );
  return { paths: found.map(({ path, line }) => `${path}:${line}`), omissions };
}

test("searchFiles() searches the files of a folder in order, up to the maximum number of matches", async () => {
  const root = temporaryTree({ "a.txt": "a\nb\na", "b.md": "a", "c.txt": "b", "d.txt": "a" });
  const source = { type: "folder", root } as const;
  expect((await search(source)).paths).toEqual(["a.txt:1", "a.txt:3", "b.md:1", "d.txt:1"]);
  expect((await search(source, { glob: "*.txt" })).paths).toEqual([
    "a.txt:1",
    "a.txt:3",
    "d.txt:1",
  ]);
  expect((await search(source, { maxMatches: 2 })).paths).toEqual(["a.txt:1", "a.txt:3"]);
});

test("searchFiles() counts large files, and skips files that cannot be opened", async () => {
  const root = temporaryTree({ big: "", closed: "a", f: "a" });
  truncateSync(join(root, "big"), 256 * 2 ** 20 + 1);
  chmodSync(join(root, "closed"), 0);
  symlinkSync("missing", join(root, "link"));
  const { paths, omissions } = await search({ type: "folder", root });
  expect(paths).toContain("f:1");
  expect(omissions).toEqual({ largeFiles: 1, longLines: 0, isCut: false });
});

test("searchFiles() searches files in memory", async () => {
  const files = [
    ["x", Buffer.from("a")],
    ["y", Buffer.from(`${"b".repeat(100_001)}\na`)],
  ] as const;
  const { paths, omissions } = await search({ type: "files", files });
  expect(paths).toEqual(["x:1", "y:2"]);
  expect(omissions.longLines).toBe(1);
  expect((await search({ type: "files", files }, { glob: "y", maxMatches: 0 })).paths).toEqual([]);
});
