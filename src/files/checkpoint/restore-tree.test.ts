import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { describeTree } from "../../../tests/support/describe-tree.ts";
import { InlineCheckpoint } from "../../../tests/support/inline-checkpoint.ts";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
const NO_CHANGES = { restored: [], removed: [], failed: [] };

/** Creates a folder and takes its checkpoint. */
function createCheckpoint(tree: Parameters<typeof temporaryTree>[0]) {
  const folder = temporaryTree(tree);
  const copies = temporaryTree();
  const checkpoint = new InlineCheckpoint(folder, { copies });
  checkpoint.take();
  return { folder, copies, checkpoint, at: (path: string) => join(folder, path) };
}

/** Lets every user read the copies, because tests restore as another user. */
function shareCopies(copies: string): void {
  chmodSync(copies, 0o777);
  for (const name of readdirSync(copies)) chmodSync(join(copies, name), 0o644);
}

const createPipe = (path: string) => execFileSync("mkfifo", [path]);

describe("restoreTree() reports", () => {
  test("changed files, folders and symlinks, and nothing if all are unchanged", () => {
    const { folder, checkpoint, at } = createCheckpoint({
      "a/b": "1",
      "a/c": "2",
      d: "3",
      e: null,
    });
    symlinkSync("d", at("link"));
    checkpoint.take();
    const before = describeTree(folder);
    expect(checkpoint.restore()).toEqual(NO_CHANGES);
    writeFileSync(at("a/b"), "other");
    chmodSync(at("a/c"), 0o600);
    rmSync(at("d"));
    rmSync(at("e"), { recursive: true });
    rmSync(at("link"));
    symlinkSync("a", at("link"));
    mkdirSync(at("new/deep"), { recursive: true });
    writeFileSync(at("new/deep/file"), "");
    const { restored, removed, failed } = checkpoint.restore();
    expect([...restored].sort()).toEqual(["a/b", "a/c", "d", "e", "link"]);
    expect(removed).toEqual(["new/deep/file", "new/deep", "new"]);
    expect(failed).toEqual([]);
    expect(describeTree(folder)).toEqual(before);
    expect(checkpoint.restore()).toEqual(NO_CHANGES);
  });

  test("a file that became a folder, and folders that became a file or a symlink", () => {
    const { folder, checkpoint, at } = createCheckpoint({ file: "1", "one/a": "2", "two/b": "3" });
    const before = describeTree(folder);
    rmSync(at("file"));
    mkdirSync(at("file"));
    writeFileSync(at("file/inner"), "");
    for (const name of ["one", "two"]) rmSync(at(name), { recursive: true });
    writeFileSync(at("one"), "");
    symlinkSync("/", at("two"));
    const { restored, removed, failed } = checkpoint.restore();
    expect([...restored].sort()).toEqual(["file", "one", "one/a", "two", "two/b"]);
    expect(removed).toEqual(["file/inner"]);
    expect(failed).toEqual([]);
    expect(describeTree(folder)).toEqual(before);
  });

  test("the folder itself if it was removed or replaced by a symlink", () => {
    const { folder, checkpoint } = createCheckpoint({ a: "1" });
    chmodSync(folder, 0o750);
    checkpoint.take();
    const before = describeTree(folder);
    rmSync(folder, { recursive: true });
    expect(checkpoint.restore().restored).toEqual(["a", "."]);
    expect(describeTree(folder)).toEqual(before);
    const outside = temporaryTree({ kept: "1" });
    rmSync(folder, { recursive: true });
    symlinkSync(outside, folder);
    expect(checkpoint.restore().failed).toEqual([]);
    expect(describeTree(folder)).toEqual(before);
    expect(readdirSync(outside)).toEqual(["kept"]);
  });

  test("entries whose names are not UTF-8", () => {
    const { folder, checkpoint } = createCheckpoint({});
    const odd = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x61])]);
    const other = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xfe])]);
    writeFileSync(odd, "1");
    symlinkSync(Buffer.from([0xfd]), other);
    checkpoint.take();
    const before = describeTree(folder);
    rmSync(odd);
    rmSync(other);
    expect(checkpoint.restore().restored).toHaveLength(2);
    expect(describeTree(folder)).toEqual(before);
  });
});

describe("restoreTree() never", () => {
  test("follows a symlink out of the folder", () => {
    const outside = temporaryTree({ "kept/file": "1" });
    const { checkpoint, at } = createCheckpoint({ "a/file": "mine" });
    renameSync(at("a"), at("moved"));
    symlinkSync(join(outside, "kept"), at("a"));
    symlinkSync(outside, at("also"));
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(join(outside, "kept/file"), "utf8")).toBe("1");
    expect(readFileSync(at("a/file"), "utf8")).toBe("mine");
    expect(existsSync(at("also"))).toBe(false);
  });

  test("opens a new pipe, but removes it", () => {
    const { folder, checkpoint, at } = createCheckpoint({ a: "1", b: "2" });
    const before = describeTree(folder);
    createPipe(at("pipe"));
    rmSync(at("a"));
    createPipe(at("a"));
    expect(checkpoint.restore()).toEqual({ restored: ["a"], removed: ["pipe"], failed: [] });
    expect(describeTree(folder)).toEqual(before);
  });

  test("recreates a removed pipe or touches an existing one", () => {
    const { checkpoint, at } = createCheckpoint({});
    for (const name of ["pipe", "other"]) createPipe(at(name));
    checkpoint.take();
    expect(checkpoint.restore()).toEqual(NO_CHANGES);
    rmSync(at("pipe"));
    writeFileSync(at("pipe"), "");
    expect(checkpoint.restore().failed).toEqual([
      { path: "pipe", reason: expect.stringContaining("Start the program that created it again.") },
    ]);
    expect(readdirSync(dirname(at("other")))).toEqual(["other"]);
  });

  test("needs read access to a file it restores", async () => {
    const folder = temporaryTree();
    chmodSync(folder, 0o777);
    const copies = temporaryTree();
    chmodSync(copies, 0o777);
    const checkpoint = new InlineCheckpoint(folder, { copies });
    await runAsPlainUser(() => {
      writeFileSync(join(folder, "a"), "1", { mode: 0o644 });
      checkpoint.take();
      chmodSync(join(folder, "a"), 0o000);
      expect(checkpoint.restore()).toEqual({ ...NO_CHANGES, restored: ["a"] });
    });
    expect(lstatSync(join(folder, "a")).mode & 0o777).toBe(0o644);
  });

  test("writes to another hard link of a file", () => {
    const { checkpoint, at } = createCheckpoint({ a: "1" });
    const elsewhere = join(temporaryTree(), "hard-link");
    linkSync(at("a"), elsewhere);
    expect(checkpoint.restore()).toEqual(NO_CHANGES);
    writeFileSync(at("a"), "2");
    expect(checkpoint.restore().restored).toEqual(["a"]);
    expect(readFileSync(elsewhere, "utf8")).toBe("2");
    expect(readFileSync(at("a"), "utf8")).toBe("1");
  });
});

describe("restoreTree() reports a failure and continues", () => {
  test.runIf(isRoot)("in another user's folder", async () => {
    const { folder, checkpoint, copies, at } = createCheckpoint({ "theirs/a": "1", b: "2" });
    chownSync(folder, NOBODY, NOBODY);
    for (const path of [folder, at("theirs")]) chmodSync(path, 0o755);
    checkpoint.take();
    shareCopies(copies);
    writeFileSync(at("theirs/a"), "other");
    writeFileSync(at("theirs/new"), "");
    rmSync(at("b"));
    const { restored, removed, failed } = await runAsPlainUser(() => checkpoint.restore());
    const reason =
      "It is not accessible to this user. Change its permissions or its folder's, then restore again.";
    expect(failed).toEqual([
      { path: "theirs/new", reason },
      { path: "theirs/a", reason },
    ]);
    expect({ restored, removed }).toEqual({ restored: ["b"], removed: [] });
    expect(readdirSync(at("theirs")).sort()).toEqual(["a", "new"]);
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(at("theirs/a"), "utf8")).toBe("1");
  });

  test.runIf(isRoot)("if a blocking entry may not be removed", async () => {
    const { folder, checkpoint, copies, at } = createCheckpoint({ file: "1", "a/b": "2" });
    checkpoint.take();
    shareCopies(copies);
    chmodSync(folder, 0o1777); // only owners may remove entries
    rmSync(at("file"));
    mkdirSync(at("file"));
    writeFileSync(at("file/theirs"), "");
    const { failed } = await runAsPlainUser(() => checkpoint.restore());
    expect(failed.map(({ path }) => path)).toEqual(["file/theirs", "file", "."]);
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(at("file"), "utf8")).toBe("1");
  });

  test("if a copy is missing", () => {
    const { checkpoint, copies, at } = createCheckpoint({ a: "1", b: "2" });
    for (const name of readdirSync(copies)) rmSync(join(copies, name));
    writeFileSync(at("a"), "other");
    expect(checkpoint.restore().failed).toContainEqual({
      path: "a",
      reason: expect.stringContaining("Its copy is missing from the temporary folder"),
    });
    checkpoint.take(); // creates new copies, also of unchanged files
    rmSync(at("b"));
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(at("b"), "utf8")).toBe("2");
  });

  test("unless the parent folder is missing or a symlink, which throws", () => {
    const above = temporaryTree({ "here/folder/a": "1", "there/folder": null });
    const [here, there] = [join(above, "here"), join(above, "there")];
    const checkpoint = new InlineCheckpoint(join(here, "folder"), { copies: temporaryTree() });
    checkpoint.take();
    rmSync(here, { recursive: true });
    expect(() => checkpoint.restore()).toThrow(
      `ENOENT: ${JSON.stringify(here)} does not exist. Create the folder, then restore again`,
    );
    symlinkSync("there", here);
    expect(() => checkpoint.restore()).toThrow(
      `EINVAL: ${JSON.stringify(here)} is now reached through a symlink. Replace it with the original folder`,
    );
    expect(readdirSync(join(there, "folder"))).toEqual([]);
  });
});

describe("a checkpoint identifies a file", () => {
  /** Returns the time one hour from now. */
  const getLaterTime = () => Date.now() + 3_600_000;

  test("by its times, or by its bytes if it was changed recently", () => {
    const folder = temporaryTree({ a: "1" });
    const checkpoint = new InlineCheckpoint(folder, { copies: temporaryTree() });
    checkpoint.take();
    const copies = temporaryTree();
    const trusting = new InlineCheckpoint(folder, { copies, now: getLaterTime });
    trusting.take();
    const [copy] = readdirSync(copies);
    writeFileSync(join(copies, copy ?? ""), "2"); // simulates a change that does not alter the times
    expect(trusting.restore()).toEqual(NO_CHANGES);
    trusting.take();
    expect(readFileSync(join(copies, copy ?? ""), "utf8")).toBe("2");
    const comparing = new InlineCheckpoint(folder, { copies });
    comparing.records = checkpoint.records;
    expect(comparing.restore().restored).toEqual(["a"]);
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("2");
  });

  test.runIf(isRoot)("by its owner, which is restored too", () => {
    const { checkpoint, at } = createCheckpoint({ a: "1", b: "2" });
    for (const name of ["a", "b"]) chownSync(at(name), NOBODY, NOBODY);
    chmodSync(at("a"), 0o4755);
    checkpoint.take();
    chownSync(at("a"), 0, 0);
    rmSync(at("b"));
    expect([...checkpoint.restore().restored].sort()).toEqual(["a", "b"]);
    expect(statSync(at("a"))).toMatchObject({ uid: NOBODY, gid: NOBODY, mode: 0o104755 });
    expect(statSync(at("b"))).toMatchObject({ uid: NOBODY, gid: NOBODY });
  });

  test.runIf(isRoot)("whose owner cannot be restored, and makes this user the owner", async () => {
    const { folder, copies, checkpoint, at } = createCheckpoint({ a: "1" });
    chmodSync(folder, 0o777);
    checkpoint.take();
    shareCopies(copies);
    rmSync(at("a"));
    expect((await runAsPlainUser(() => checkpoint.restore())).failed).toEqual([]);
    expect(lstatSync(at("a")).uid).toBe(NOBODY);
    expect(await runAsPlainUser(() => checkpoint.restore())).toEqual(NO_CHANGES);
  });
});
