import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isPlainPath, WasmFolder } from "./folder.ts";
import type { FileChange } from "./kernel-messages.ts";

let parent: string;
let root: string;

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), "wink-folder-"));
  root = join(parent, "data");
  await mkdir(root);
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const createFileChange = (path: string, text = "new"): FileChange => ({
  change: "file",
  path,
  bytes: Buffer.from(text),
});
const createFolder = (limits: { diskBytes?: number; maxFiles?: number } = {}) =>
  new WasmFolder(root, { diskBytes: 1_000, maxFiles: 10, ...limits });

async function listChanges(folder: WasmFolder): Promise<string[]> {
  const changes = [];
  for await (const { change, path } of folder.findChanges()) changes.push(`${change} ${path}`);
  return changes;
}

describe("WasmFolder", () => {
  test("finds changes since the last call, and all files after a reset", async () => {
    const folder = createFolder();
    await mkdir(join(root, "d"));
    await writeFile(join(root, "d/a"), "1");
    expect(await listChanges(folder)).toEqual(["folder d", "file d/a"]);
    expect(await listChanges(folder)).toEqual([]);
    await writeFile(join(root, "d/a"), "22");
    expect(await listChanges(folder)).toEqual(["file d/a"]);
    await rm(join(root, "d"), { recursive: true });
    expect(await listChanges(folder)).toEqual(["deleted d/a", "deleted d"]);
    await writeFile(join(root, "b"), "1");
    await listChanges(folder);
    folder.reset();
    expect(await listChanges(folder)).toEqual(["file b"]);
  });

  test("ignores links", async () => {
    await symlink(parent, join(root, "out"));
    expect(await listChanges(createFolder())).toEqual([]);
  });

  test("applies changes made by code, and does not report them again", async () => {
    const folder = createFolder();
    const changes: FileChange[] = [{ change: "folder", path: "empty" }, createFileChange("x/y/z")];
    expect(await folder.applyChanges(changes)).toEqual([]);
    expect(await readFile(join(root, "x/y/z"), "utf8")).toBe("new");
    expect(await listChanges(folder)).toEqual(["folder x", "folder x/y"]);
    await folder.applyChanges([{ change: "deleted", path: "x/y/z" }]);
    expect(await readdir(join(root, "x/y"))).toEqual([]);
  });

  test("replaces a folder with a file, and a file with a folder", async () => {
    const folder = createFolder();
    await folder.applyChanges([createFileChange("a"), createFileChange("b/c")]);
    await folder.applyChanges([{ change: "folder", path: "a" }, createFileChange("b")]);
    expect(await readdir(join(root, "a"))).toEqual([]);
    expect(await readFile(join(root, "b"), "utf8")).toBe("new");
  });

  test("deletes only files that the code had", async () => {
    await writeFile(join(root, "upload"), "1");
    await createFolder().applyChanges([{ change: "deleted", path: "upload" }]);
    expect(await readdir(root)).toEqual(["upload"]);
  });

  test("replaces links instead of writing through them", async () => {
    await writeFile(join(parent, "secret"), "safe");
    await symlink(join(parent, "secret"), join(root, "a"));
    await symlink(parent, join(root, "d"));
    await createFolder().applyChanges([createFileChange("a"), createFileChange("d/secret")]);
    expect(await readFile(join(parent, "secret"), "utf8")).toBe("safe");
    expect(await readFile(join(root, "d/secret"), "utf8")).toBe("new");
  });

  test("does not delete through a link", async () => {
    const folder = createFolder();
    await folder.applyChanges([createFileChange("d/secret")]);
    await writeFile(join(parent, "secret"), "safe");
    await rm(join(root, "d"), { recursive: true });
    await symlink(parent, join(root, "d"));
    await folder.applyChanges([{ change: "deleted", path: "d/secret" }]);
    expect(await readFile(join(parent, "secret"), "utf8")).toBe("safe");
  });

  test("rejects names that lead out of the folder, and lists them", async () => {
    const names = ["../evil", "/evil", "a/../../evil", "nul\0", "", ".", "a//b"];
    expect(await createFolder().applyChanges(names.map((name) => createFileChange(name)))).toEqual(
      names,
    );
    expect(await readdir(parent)).toEqual(["data"]);
    expect(await readdir(root)).toEqual([]);
  });

  test("rejects changes beyond its limits of bytes and files", async () => {
    const folder = createFolder({ diskBytes: 5, maxFiles: 2 });
    expect(
      await folder.applyChanges([createFileChange("a", "1234"), createFileChange("b", "56")]),
    ).toEqual(["b"]);
    expect(
      await folder.applyChanges([createFileChange("a", "1"), createFileChange("b", "56")]),
    ).toEqual([]);
    expect(await folder.applyChanges([createFileChange("c", "7")])).toEqual(["c"]);
  });

  test("applies many files at once", async () => {
    const many = Array.from({ length: 100 }, (_, index) => createFileChange(`d/${index}`, "1"));
    expect(await createFolder({ maxFiles: 200 }).applyChanges(many)).toEqual([]);
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

describe("A file that arrives in pieces", () => {
  const LIMITS = { diskBytes: 10, maxFiles: 10 };
  const piece = (path: string, text: string, more = true): FileChange => ({
    ...{ change: "file", path, bytes: Buffer.from(text), more },
  });

  test("is joined, within the disk limit", async () => {
    const folder = new WasmFolder(root, LIMITS);
    expect(await folder.applyChanges([piece("a", "12"), piece("a", "34")])).toEqual([]);
    expect(await folder.applyChanges([piece("a", "56", false)])).toEqual([]);
    await folder.removeUnfinished();
    expect(await readFile(join(root, "a"), "utf8")).toBe("123456");
    const large = [piece("b", "12"), piece("b", "345"), piece("b", "6"), piece("b", "7", false)];
    expect(await folder.applyChanges([...large, piece("c", "x", false)])).toEqual(["b"]);
    expect(await readdir(root)).toEqual(["a", "c"]);
    expect(await folder.applyChanges([piece("d", "x".repeat(11), false)])).toEqual(["d"]);
  });

  test("is removed if its end never arrives", async () => {
    const folder = new WasmFolder(root, LIMITS);
    await folder.applyChanges([piece("a", "12")]);
    await folder.applyChanges([piece("b", "12"), piece("c", "x", false)]);
    await folder.applyChanges([piece("d", "12")]);
    await folder.removeUnfinished();
    expect(await readdir(root)).toEqual(["c"]);
  });
});
