import { createHash } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { readOriginalText } from "../digests/baseline.ts";
import { digestFolder } from "../digests/folder-digest.ts";
import type { TreeState } from "../tree-state.ts";
import { isSameTree, KeptFolder } from "./kept-folder.ts";
import { parseKeptTree } from "./kept-tree.ts";
import { preparePrivateFolder } from "./private-folder.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const NO_TREE: TreeState = { files: new Map(), folders: new Map() };

async function openFolder(path: string): Promise<KeptFolder> {
  const kept = new KeptFolder(path);
  await kept.open();
  onTestFinished(() => kept.close());
  return kept;
}

/** Keeps a tree as it was mounted. */
async function keepFirst(kept: KeptFolder, folder: string): Promise<TreeState> {
  const { tree } = await kept.keep(folder);
  await kept.keepMounted(tree);
  return tree;
}

/** Restores a folder's kept files, as another process would. */
async function restore(path: string, given: { readonly tree?: TreeState } = {}) {
  const kept = await openFolder(path);
  const home = temporaryTree({ files: null });
  const folder = join(home, "files");
  const tree = given.tree ?? kept.read("manifest") ?? NO_TREE;
  const mounted = kept.read("mounted") ?? NO_TREE;
  const originals = join(home, "originals");
  const restored = await kept.restore({ folder, originals, mounted, tree });
  return { ...restored, folder, kept };
}

const newPersistDir = () => join(temporaryTree(), "kept");

describe("KeptFolder", () => {
  test("restores files, folders and modes, and the text of the mounted files", async () => {
    const persistDir = newPersistDir();
    const folder = temporaryTree({
      "a.txt": "one",
      "b/c": "two",
      "b/d/e": "3",
      gone: "4",
      e: null,
    });
    const kept = await openFolder(persistDir);
    await keepFirst(kept, folder);
    writeFileSync(join(folder, "a.txt"), "changed");
    writeFileSync(join(folder, "tool"), "#!/bin/sh\n");
    chmodSync(join(folder, "tool"), 0o755);
    rmSync(join(folder, "gone"));
    rmSync(join(folder, "b"), { recursive: true });
    writeFileSync(join(folder, "b"), "a file now");
    mkdirSync(join(folder, "new/empty"), { recursive: true });
    chmodSync(join(folder, "new"), 0o555);
    await kept.keep(folder);
    await kept.close();
    const { folder: copy, baseline, lost } = await restore(persistDir);
    expect(digestFolder(copy)).toEqual(digestFolder(folder));
    expect(lost).toEqual([]);
    expect(readOriginalText(baseline, "a.txt")).toBe("one");
    expect(baseline.files.get("b/c")?.digest).toBe(sha256("two"));
    chmodSync(join(folder, "new"), 0o755);
    chmodSync(join(copy, "new"), 0o755);
  });

  test("keeps only private files and folders", async () => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    await keepFirst(kept, temporaryTree({ a: "1", b: "1" }));
    const getMode = (name: string) => statSync(join(persistDir, name)).mode & 0o777;
    expect(["", "blobs", "lock"].map(getMode)).toEqual([0o700, 0o700, 0o700]);
    const blob = join("blobs", sha256("1"));
    expect(["manifest.json", "mounted.json", blob].map(getMode)).toEqual([0o600, 0o600, 0o600]);
    expect(readdirSync(join(persistDir, "blobs"))).toEqual([sha256("1")]);
  });

  test("does not read a file again whose version is known", async () => {
    const kept = await openFolder(newPersistDir());
    const folder = temporaryTree({ a: "1", b: "2" });
    const old = new Date(Date.now() - 60_000);
    await keepFirst(kept, folder);
    utimesSync(join(folder, "a"), old, old);
    writeFileSync(join(folder, "b"), "3");
    const { tree } = await kept.keep(folder);
    expect([...tree.files.values()].map(({ digest }) => digest)).toEqual([
      sha256("1"),
      sha256("3"),
    ]);
  });

  test("reports symlinks, which cannot be kept, and follows none", async () => {
    const kept = await openFolder(newPersistDir());
    const folder = temporaryTree({ a: "1" });
    symlinkSync("/etc/hostname", join(folder, "link"));
    const { tree, failed } = await kept.keep(folder);
    expect([...tree.files.keys()]).toEqual(["a"]);
    expect(failed).toEqual([{ path: "link", reason: expect.stringContaining("is a symlink") }]);
  });

  test("stores a file over 4 MiB once", async () => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    const large = "x".repeat(5 * 2 ** 20);
    await keepFirst(kept, temporaryTree({ a: large, b: large }));
    expect(readdirSync(join(persistDir, "blobs"))).toEqual([sha256(large)]);
    await kept.close();
    const { folder } = await restore(persistDir);
    expect(readFileSync(join(folder, "b"), "utf8")).toBe(large);
  });

  test("keeps the bytes of the last three trees and of the mounted files", async () => {
    const persistDir = newPersistDir();
    const folder = temporaryTree({ a: "0" });
    const kept = await openFolder(persistDir);
    await keepFirst(kept, folder);
    for (const text of ["1", "2", "3", "4", "5", "2", "6"]) {
      writeFileSync(join(folder, "a"), text);
      await kept.keep(folder);
    }
    const stored = readdirSync(join(persistDir, "blobs")).sort();
    expect(stored).toEqual(["0", "4", "5", "2", "6"].map(sha256).sort());
  });

  test("restores an earlier tree, and then removes the bytes of later ones and of a crash", async () => {
    const persistDir = newPersistDir();
    const folder = temporaryTree({ a: "0" });
    const kept = await openFolder(persistDir);
    const tree = await keepFirst(kept, folder);
    writeFileSync(join(folder, "a"), "1");
    await kept.keep(folder);
    await kept.close();
    writeFileSync(join(persistDir, "blobs", "tmp-1"), "half");
    writeFileSync(join(persistDir, "tmp-2"), "half");
    const restored = await restore(persistDir, { tree });
    expect(readFileSync(join(restored.folder, "a"), "utf8")).toBe("0");
    expect(readdirSync(join(persistDir, "blobs"))).toEqual([sha256("0")]);
    expect(existsSync(join(persistDir, "tmp-2"))).toBe(false);
  });

  test("reports missing and damaged bytes as lost, and does not use them", async () => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    await keepFirst(kept, temporaryTree({ a: "1", b: "2", c: "3", d: "4", e: "5" }));
    await kept.close();
    const blob = (text: string) => join(persistDir, "blobs", sha256(text));
    rmSync(blob("1"));
    writeFileSync(blob("2"), "x");
    writeFileSync(blob("3"), "longer");
    rmSync(blob("4"));
    symlinkSync("/etc/hostname", blob("4"));
    const { folder, lost, baseline } = await restore(persistDir);
    expect(readdirSync(folder)).toEqual(["e"]);
    expect(lost).toEqual([
      { path: "a", reason: "its kept copy is missing" },
      { path: "b", reason: "its kept copy is damaged" },
      { path: "c", reason: "its kept copy is damaged" },
      { path: "d", reason: "its kept copy is missing" },
    ]);
    expect(baseline.files.get("a")?.digest).toBe(sha256("1"));
  });

  test("restores a file whose mounted version is damaged, if it was changed", async () => {
    const persistDir = newPersistDir();
    const folder = temporaryTree({ a: "1" });
    const kept = await openFolder(persistDir);
    await keepFirst(kept, folder);
    writeFileSync(join(folder, "a"), "2");
    await kept.keep(folder);
    await kept.close();
    rmSync(join(persistDir, "blobs", sha256("1")));
    const restored = await restore(persistDir);
    expect(readFileSync(join(restored.folder, "a"), "utf8")).toBe("2");
    expect(restored.lost).toEqual([]);
    expect(readOriginalText(restored.baseline, "a")).toBeNull();
  });

  test("only computes digests without a folder", async () => {
    const kept = new KeptFolder(null);
    await kept.open();
    const { tree } = await kept.keep(temporaryTree({ a: "1", empty: "" }));
    expect(tree.files.get("a")?.digest).toBe(sha256("1"));
    await kept.keepMounted(tree);
    expect([kept.path, kept.read("manifest")]).toEqual([null, null]);
    await kept.close();
  });

  test("rejects a folder that another workspace of the process uses, until it is closed", async () => {
    const persistDir = newPersistDir();
    const first = await openFolder(persistDir);
    await first.open();
    const message =
      "is used by another workspace of this process. Wait until it has called cleanup()";
    await expect(new KeptFolder(persistDir).open()).rejects.toThrow(message);
    await first.close();
    await openFolder(persistDir);
  });

  test("rejects a folder that a process on another host uses, and names it", async () => {
    const persistDir = newPersistDir();
    mkdirSync(join(persistDir, "lock"), { recursive: true, mode: 0o700 });
    writeFileSync(join(persistDir, "lock", "1.then.00000000.elsewhere"), "held");
    const opening = new KeptFolder(persistDir).open();
    await expect(opening).rejects.toThrow("is used by process 1 on elsewhere. Wait until it has");
  });

  test("keeps the bytes of the last trees if none was mounted", async () => {
    const persistDir = newPersistDir();
    const folder = temporaryTree({ a: "1" });
    const kept = await openFolder(persistDir);
    await kept.keep(folder);
    writeFileSync(join(folder, "a"), "2");
    await kept.keep(folder);
    expect(readdirSync(join(persistDir, "blobs")).sort()).toEqual(
      [sha256("1"), sha256("2")].sort(),
    );
  });

  test("rejects a folder that is a file or a symlink, or that others can write to", async () => {
    const root = temporaryTree({ file: "", open: null, target: null });
    symlinkSync(join(root, "target"), join(root, "link"));
    chmodSync(join(root, "open"), 0o777);
    const open = (name: string) => new KeptFolder(join(root, name)).open();
    await expect(open("file")).rejects.toMatchObject({ name: "FilesystemError" });
    await expect(open("link")).rejects.toThrow(
      "is a symlink or a file, not a folder. Use a folder",
    );
    await expect(open("open")).rejects.toThrow("can be written to by other users");
    symlinkSync(root, join(root, "target", "lock"));
    await expect(open("target")).rejects.toThrow("cannot be locked");
  });

  test.skipIf(process.getuid?.() !== 0)("rejects a folder of another user", async () => {
    const root = temporaryTree({ theirs: null });
    chownSync(join(root, "theirs"), 65_533, 65_533);
    const opening = new KeptFolder(join(root, "theirs")).open();
    await expect(opening).rejects.toThrow("belongs to another user (uid 65533)");
  });

  test("leaves the kept files if the bytes cannot be stored", async () => {
    const persistDir = newPersistDir();
    const folder = temporaryTree({ a: "1" });
    const kept = await openFolder(persistDir);
    await keepFirst(kept, folder);
    const before = readFileSync(join(persistDir, "manifest.json"), "utf8");
    rmSync(join(persistDir, "blobs"), { recursive: true });
    writeFileSync(join(folder, "b"), "2");
    await expect(kept.keep(folder)).rejects.toMatchObject({
      name: "FilesystemError",
      message: expect.stringContaining("Free space on the disk, then try again."),
    });
    expect(readFileSync(join(persistDir, "manifest.json"), "utf8")).toBe(before);
  });

  test("leaves the kept files if the manifest cannot be replaced", async () => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    mkdirSync(join(persistDir, "manifest.json"));
    await expect(kept.keep(temporaryTree({ a: "1" }))).rejects.toThrow("Free space on the disk");
    expect(readdirSync(persistDir).filter((name) => name.startsWith("tmp-"))).toEqual([]);
  });
});

test("isSameTree() compares the states of files and the modes of folders", () => {
  const state = { digest: sha256("1"), bytes: 1, mode: 0o644 };
  const tree = { files: new Map([["a", state]]), folders: new Map([["b", 0o755]]) };
  expect(isSameTree(tree, { ...tree })).toBe(true);
  expect(isSameTree(tree, { ...tree, files: new Map([["a", { ...state, mode: 0o755 }]]) })).toBe(
    false,
  );
  expect(isSameTree(tree, { ...tree, folders: new Map([["b", 0o700]]) })).toBe(false);
  expect(isSameTree(tree, NO_TREE)).toBe(false);
});

test("parseKeptTree() returns null for a value that is no object", () => {
  expect(parseKeptTree([])).toBeNull();
});

test("preparePrivateFolder() checks no owner on systems without user ids", async () => {
  const folder = temporaryTree();
  chmodSync(folder, 0o777);
  await expect(preparePrivateFolder(folder)).rejects.toThrow("can be written to by other users");
  const { geteuid } = process;
  Object.assign(process, { geteuid: undefined });
  await preparePrivateFolder(folder);
  Object.assign(process, { geteuid });
});

describe("KeptFolder.read()", () => {
  const valid = { sha256: sha256("1"), bytes: 1, mode: 0o644 };
  const wrong: readonly (readonly [name: string, manifest: unknown])[] = [
    ["no JSON", undefined],
    ["a list", []],
    ["another version", { version: 2, files: {}, folders: {} }],
    ["no files", { version: 1, folders: {} }],
    ["an absolute path", { version: 1, files: { "/etc/passwd": valid }, folders: {} }],
    ["a path that leaves the root", { version: 1, files: { "../a": valid }, folders: {} }],
    ["the root as a folder", { version: 1, files: {}, folders: { ".": 0o755 } }],
    ["a folder that leaves the root", { version: 1, files: {}, folders: { "a/../..": 0o755 } }],
    [
      "a digest that is a path",
      { version: 1, files: { a: { ...valid, sha256: "../x" } }, folders: {} },
    ],
    ["a file that is no object", { version: 1, files: { a: 1 }, folders: {} }],
    ["a negative size", { version: 1, files: { a: { ...valid, bytes: -1 } }, folders: {} }],
    ["a setuid bit", { version: 1, files: { a: { ...valid, mode: 0o4755 } }, folders: {} }],
    ["a file below a file", { version: 1, files: { a: valid, "a/b": valid }, folders: {} }],
    ["a file that is a folder", { version: 1, files: { a: valid }, folders: { a: 0o755 } }],
    ["a wrong mode of a folder", { version: 1, files: {}, folders: { a: "755" } }],
  ];

  test.each(wrong)("rejects a manifest with %s", async (_name, manifest) => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    writeFileSync(join(persistDir, "manifest.json"), JSON.stringify(manifest) ?? "{");
    expect(() => kept.read("manifest")).toThrow(
      "is not a valid manifest. Delete its folder to start",
    );
  });

  test("rejects a manifest that is a symlink, and returns null if there is none", async () => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    expect(kept.read("manifest")).toBeNull();
    symlinkSync("/etc/hostname", join(persistDir, "manifest.json"));
    expect(() => kept.read("manifest")).toThrow("Delete its folder");
  });

  test("rejects a manifest that is a folder", async () => {
    const persistDir = newPersistDir();
    const kept = await openFolder(persistDir);
    mkdirSync(join(persistDir, "mounted.json"));
    expect(() => kept.read("mounted")).toThrow("is not a valid manifest");
  });

  test("accepts names that are special in JavaScript", async () => {
    const kept = await openFolder(newPersistDir());
    const folder = temporaryTree({ constructor: "1" });
    writeFileSync(join(folder, "__proto__"), "2");
    await kept.keep(folder);
    expect([...(kept.read("manifest")?.files.keys() ?? [])].sort()).toEqual([
      "__proto__",
      "constructor",
    ]);
  });
});
