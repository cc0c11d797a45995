import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isPlainPath, WasmFolder } from "./folder.ts";
import type { FileChange } from "./messages.ts";

let parent: string;
let root: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "wink-folder-"));
  root = join(parent, "data");
  await mkdir(root);
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const file = (path: string, text = "new"): FileChange => ({
  change: "file",
  path,
  bytes: Buffer.from(text),
});
const folderOf = (limits: { diskBytes?: number; maxFiles?: number } = {}) =>
  new WasmFolder(root, { diskBytes: 1_000, maxFiles: 10, ...limits });

async function looked(folder: WasmFolder): Promise<string[]> {
  const changes = [];
  for await (const { change, path } of folder.look()) changes.push(`${change} ${path}`);
  return changes;
}

describe("the host's side of /mnt/data", () => {
  test("tells what was changed since the last look, and all of it after forgetting", async () => {
    const folder = folderOf();
    await mkdir(join(root, "d"));
    await writeFile(join(root, "d/a"), "1");
    expect(await looked(folder)).toEqual(["folder d", "file d/a"]);
    expect(await looked(folder)).toEqual([]);
    await writeFile(join(root, "d/a"), "22");
    expect(await looked(folder)).toEqual(["file d/a"]);
    await rm(join(root, "d"), { recursive: true });
    expect(await looked(folder)).toEqual(["gone d/a", "gone d"]);
    await writeFile(join(root, "b"), "1");
    await looked(folder);
    folder.forget();
    expect(await looked(folder)).toEqual(["file b"]);
  });

  test("does not tell of links", async () => {
    await symlink(parent, join(root, "out"));
    expect(await looked(folderOf())).toEqual([]);
  });

  test("does what code did, and does not tell it of that again", async () => {
    const folder = folderOf();
    const changes: FileChange[] = [{ change: "folder", path: "empty" }, file("x/y/z")];
    expect(await folder.take(changes)).toEqual([]);
    expect(await readFile(join(root, "x/y/z"), "utf8")).toBe("new");
    expect(await looked(folder)).toEqual(["folder x", "folder x/y"]);
    await folder.take([{ change: "gone", path: "x/y/z" }]);
    expect(await readdir(join(root, "x/y"))).toEqual([]);
  });

  test("puts a file where a folder was, and a folder where a file was", async () => {
    const folder = folderOf();
    await folder.take([file("a"), file("b/c")]);
    await folder.take([{ change: "folder", path: "a" }, file("b")]);
    expect(await readdir(join(root, "a"))).toEqual([]);
    expect(await readFile(join(root, "b"), "utf8")).toBe("new");
  });

  test("removes nothing that code never had", async () => {
    await writeFile(join(root, "upload"), "1");
    await folderOf().take([{ change: "gone", path: "upload" }]);
    expect(await readdir(root)).toEqual(["upload"]);
  });

  test("replaces links instead of writing through them", async () => {
    await writeFile(join(parent, "secret"), "safe");
    await symlink(join(parent, "secret"), join(root, "a"));
    await symlink(parent, join(root, "d"));
    await folderOf().take([file("a"), file("d/secret")]);
    expect(await readFile(join(parent, "secret"), "utf8")).toBe("safe");
    expect(await readFile(join(root, "d/secret"), "utf8")).toBe("new");
  });

  test("removes nothing through a link", async () => {
    const folder = folderOf();
    await folder.take([file("d/secret")]);
    await writeFile(join(parent, "secret"), "safe");
    await rm(join(root, "d"), { recursive: true });
    await symlink(parent, join(root, "d"));
    await folder.take([{ change: "gone", path: "d/secret" }]);
    expect(await readFile(join(parent, "secret"), "utf8")).toBe("safe");
  });

  test("refuses names that lead out, and says which", async () => {
    const names = ["../evil", "/evil", "a/../../evil", "nul\0", "", ".", "a//b"];
    expect(await folderOf().take(names.map((name) => file(name)))).toEqual(names);
    expect(await readdir(parent)).toEqual(["data"]);
    expect(await readdir(root)).toEqual([]);
  });

  test("refuses what is beyond its bytes or its number of files", async () => {
    const folder = folderOf({ diskBytes: 5, maxFiles: 2 });
    expect(await folder.take([file("a", "1234"), file("b", "56")])).toEqual(["b"]);
    expect(await folder.take([file("a", "1"), file("b", "56")])).toEqual([]);
    expect(await folder.take([file("c", "7")])).toEqual(["c"]);
  });

  test("takes many files at once", async () => {
    const many = Array.from({ length: 100 }, (_, index) => file(`d/${index}`, "1"));
    expect(await folderOf({ maxFiles: 200 }).take(many)).toEqual([]);
    expect(await readdir(join(root, "d"))).toHaveLength(100);
  });
});

test.each([
  ["a", true],
  ["a b/c\nd", true],
  ["\ud800", false],
  ["x".repeat(256), false],
  ["a/".repeat(3_000), false],
])("isPlainPath(%j) is %j", (path, plain) => {
  expect(isPlainPath(path)).toBe(plain);
});
