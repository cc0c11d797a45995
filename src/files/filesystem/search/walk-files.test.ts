import { closeSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryTree } from "../../../../tests/support/temporary-tree.ts";
import { listMatchingFiles, type WalkOptions, walkFiles } from "./walk-files.ts";

const neverCut = () => expect.unreachable();

async function walk(root: string, options: Partial<WalkOptions> = {}): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const { path } of walkFiles(root, { onCut: neverCut, ...options })) paths.push(path);
  return paths;
}

test("walkFiles() visits files in the order of their paths", async () => {
  const root = temporaryTree({ "a/b": "", "a.b": "", a0: "", "c/d/e": "", empty: null });
  expect(await walk(root)).toEqual(["a.b", "a/b", "a0", "c/d/e"]);
  expect(await walk(join(root, "gone"))).toEqual([]);
});

test("walkFiles() reads a large folder in parts, and stops at the maximum number of entries", async () => {
  const names = Array.from({ length: 2_000 }, (_, n) => `${n}`.padStart(60, "n"));
  const root = temporaryTree({
    ...Object.fromEntries(names.map((name) => [name, ""])),
    "z/f": "",
  });
  expect(await walk(root)).toHaveLength(2_001);
  let cuts = 0;
  const paths = await walk(root, { maxEntries: 500, onCut: () => void cuts++ });
  expect(paths.length).toBeLessThanOrEqual(500);
  expect(cuts).toBe(1);
  const listed = listMatchingFiles(root, { matches: () => true, maxEntries: 500 });
  await expect(listed).rejects.toThrow('EFBIG: "." has more than 500 entries.');
});

test("walkFiles() stops when its signal aborts, and closes the folders", async () => {
  const names = Array.from({ length: 300 }, (_, n) => [`d/${n}`, ""]);
  const root = temporaryTree(Object.fromEntries(names));
  const signal = AbortSignal.abort(new Error("stop"));
  await expect(walk(root, { signal })).rejects.toThrow("stop");
  const matches = () => true;
  await expect(listMatchingFiles(root, { matches, signal })).rejects.toThrow("stop");
});

test("a walked file is opened as it was found, also through a symlink inside the root", async () => {
  const root = temporaryTree({ "d/f": "text", "z/g": "" });
  symlinkSync("d/f", join(root, "link"));
  symlinkSync("d/gone", join(root, "dangling"));
  const texts: string[] = [];
  for await (const { path, open } of walkFiles(root, { onCut: neverCut })) {
    if (path === "z/g") continue;
    const file = open();
    texts.push(`${path} ${readFileSync(file, "utf8")}`);
    closeSync(file);
    if (path !== "link") continue;
    rmSync(join(root, "d"), { recursive: true });
    expect(open).toThrow("is not a file anymore");
  }
  expect(texts).toEqual(["d/f text", "link text"]);
});

test("walkFiles() skips a folder that was replaced with a symlink after it was listed", async () => {
  const folder = temporaryTree({ "root/a": "", "root/d/f": "", "outside/secret": "" });
  const root = join(folder, "root");
  const paths: string[] = [];
  for await (const { path } of walkFiles(root, { onCut: neverCut })) {
    paths.push(path);
    if (path !== "a") continue;
    renameSync(join(root, "d"), join(folder, "moved"));
    symlinkSync("../outside", join(root, "d"));
  }
  expect(paths).toEqual(["a"]);
});
