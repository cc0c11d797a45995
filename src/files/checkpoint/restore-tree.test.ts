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
import { CheckpointHere } from "../../../tests/support/checkpoint-here.ts";
import { asPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { treePicture } from "../../../tests/support/tree-picture.ts";

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
const NOTHING_DONE = { restored: [], removed: [], failed: [] };

/** A folder with a checkpoint of it. */
function taken(tree: Parameters<typeof temporaryTree>[0]) {
  const folder = temporaryTree(tree);
  const copies = temporaryTree();
  const checkpoint = new CheckpointHere(folder, { copies });
  checkpoint.take();
  return { folder, copies, checkpoint, at: (path: string) => join(folder, path) };
}

/** Lets anybody read the copies: in the tests, who restores need not be who took. */
function shareCopies(copies: string): void {
  chmodSync(copies, 0o777);
  for (const name of readdirSync(copies)) chmodSync(join(copies, name), 0o644);
}

const makePipe = (path: string) => execFileSync("mkfifo", [path]);

describe("a restore says what it did", () => {
  test("to files, folders and links, and does nothing when all is as it was", () => {
    const { folder, checkpoint, at } = taken({ "a/b": "1", "a/c": "2", d: "3", e: null });
    symlinkSync("d", at("link"));
    checkpoint.take();
    const before = treePicture(folder);
    expect(checkpoint.restore()).toEqual(NOTHING_DONE);
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
    expect(treePicture(folder)).toEqual(before);
    expect(checkpoint.restore()).toEqual(NOTHING_DONE);
  });

  test("where a file became a folder, and a folder a file or a link", () => {
    const { folder, checkpoint, at } = taken({ file: "1", "one/a": "2", "two/b": "3" });
    const before = treePicture(folder);
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
    expect(treePicture(folder)).toEqual(before);
  });

  test("to the folder itself, whatever became of it", () => {
    const { folder, checkpoint } = taken({ a: "1" });
    chmodSync(folder, 0o750);
    checkpoint.take();
    const before = treePicture(folder);
    rmSync(folder, { recursive: true });
    expect(checkpoint.restore().restored).toEqual(["a", "."]);
    expect(treePicture(folder)).toEqual(before);
    const outside = temporaryTree({ kept: "1" });
    rmSync(folder, { recursive: true });
    symlinkSync(outside, folder);
    expect(checkpoint.restore().failed).toEqual([]);
    expect(treePicture(folder)).toEqual(before);
    expect(readdirSync(outside)).toEqual(["kept"]);
  });

  test("about names that are not UTF-8", () => {
    const { folder, checkpoint } = taken({});
    const odd = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0x61])]);
    const other = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xfe])]);
    writeFileSync(odd, "1");
    symlinkSync(Buffer.from([0xfd]), other);
    checkpoint.take();
    const before = treePicture(folder);
    rmSync(odd);
    rmSync(other);
    expect(checkpoint.restore().restored).toHaveLength(2);
    expect(treePicture(folder)).toEqual(before);
  });
});

describe("a restore never", () => {
  test("follows a symlink out of the folder", () => {
    const outside = temporaryTree({ "kept/file": "1" });
    const { checkpoint, at } = taken({ "a/file": "mine" });
    renameSync(at("a"), at("moved"));
    symlinkSync(join(outside, "kept"), at("a"));
    symlinkSync(outside, at("also"));
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(join(outside, "kept/file"), "utf8")).toBe("1");
    expect(readFileSync(at("a/file"), "utf8")).toBe("mine");
    expect(existsSync(at("also"))).toBe(false);
  });

  test("opens a pipe that has appeared: it goes", () => {
    const { folder, checkpoint, at } = taken({ a: "1", b: "2" });
    const before = treePicture(folder);
    makePipe(at("pipe"));
    rmSync(at("a"));
    makePipe(at("a"));
    expect(checkpoint.restore()).toEqual({ restored: ["a"], removed: ["pipe"], failed: [] });
    expect(treePicture(folder)).toEqual(before);
  });

  test("makes a pipe that has gone, nor touches one that is there", () => {
    const { checkpoint, at } = taken({});
    for (const name of ["pipe", "other"]) makePipe(at(name));
    checkpoint.take();
    expect(checkpoint.restore()).toEqual(NOTHING_DONE);
    rmSync(at("pipe"));
    writeFileSync(at("pipe"), "");
    expect(checkpoint.restore().failed).toEqual([
      { path: "pipe", reason: expect.stringContaining("let what made it make it again") },
    ]);
    expect(readdirSync(dirname(at("other")))).toEqual(["other"]);
  });

  test("needs to read what somebody has closed", async () => {
    const folder = temporaryTree();
    chmodSync(folder, 0o777);
    const copies = temporaryTree();
    chmodSync(copies, 0o777);
    const checkpoint = new CheckpointHere(folder, { copies });
    await asPlainUser(() => {
      writeFileSync(join(folder, "a"), "1", { mode: 0o644 });
      checkpoint.take();
      chmodSync(join(folder, "a"), 0o000);
      expect(checkpoint.restore()).toEqual({ ...NOTHING_DONE, restored: ["a"] });
    });
    expect(lstatSync(join(folder, "a")).mode & 0o777).toBe(0o644);
  });

  test("writes into a file that has another name elsewhere", () => {
    const { checkpoint, at } = taken({ a: "1" });
    const elsewhere = join(temporaryTree(), "hard-link");
    linkSync(at("a"), elsewhere);
    expect(checkpoint.restore()).toEqual(NOTHING_DONE);
    writeFileSync(at("a"), "2");
    expect(checkpoint.restore().restored).toEqual(["a"]);
    expect(readFileSync(elsewhere, "utf8")).toBe("2");
    expect(readFileSync(at("a"), "utf8")).toBe("1");
  });
});

describe("what cannot be restored is reported, and stops nothing else", () => {
  test.runIf(isRoot)("in a folder of somebody else", async () => {
    const { folder, checkpoint, copies, at } = taken({ "theirs/a": "1", b: "2" });
    chownSync(folder, NOBODY, NOBODY);
    for (const path of [folder, at("theirs")]) chmodSync(path, 0o755);
    checkpoint.take();
    shareCopies(copies);
    writeFileSync(at("theirs/a"), "other");
    writeFileSync(at("theirs/new"), "");
    rmSync(at("b"));
    const { restored, removed, failed } = await asPlainUser(() => checkpoint.restore());
    const reason =
      "it is not open to this user: change its permissions, or its folder's, then restore again";
    expect(failed).toEqual([
      { path: "theirs/new", reason },
      { path: "theirs/a", reason },
    ]);
    expect({ restored, removed }).toEqual({ restored: ["b"], removed: [] });
    expect(readdirSync(at("theirs")).sort()).toEqual(["a", "new"]);
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(at("theirs/a"), "utf8")).toBe("1");
  });

  test.runIf(isRoot)("where what is in the way may not be removed", async () => {
    const { folder, checkpoint, copies, at } = taken({ file: "1", "a/b": "2" });
    checkpoint.take();
    shareCopies(copies);
    chmodSync(folder, 0o1777); // only the owner removes from it
    rmSync(at("file"));
    mkdirSync(at("file"));
    writeFileSync(at("file/theirs"), "");
    const { failed } = await asPlainUser(() => checkpoint.restore());
    expect(failed.map(({ path }) => path)).toEqual(["file/theirs", "file", "."]);
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(at("file"), "utf8")).toBe("1");
  });

  test("because its copy is gone", () => {
    const { checkpoint, copies, at } = taken({ a: "1", b: "2" });
    for (const name of readdirSync(copies)) rmSync(join(copies, name));
    writeFileSync(at("a"), "other");
    expect(checkpoint.restore().failed).toContainEqual({
      path: "a",
      reason: expect.stringContaining("its copy is gone from the temporary folder"),
    });
    checkpoint.take(); // makes new ones, also of what has not changed
    rmSync(at("b"));
    expect(checkpoint.restore().failed).toEqual([]);
    expect(readFileSync(at("b"), "utf8")).toBe("2");
  });

  test("because the folder above is gone, or is reached by a link", () => {
    const above = temporaryTree({ "here/folder/a": "1", "there/folder": null });
    const [here, there] = [join(above, "here"), join(above, "there")];
    const checkpoint = new CheckpointHere(join(here, "folder"), { copies: temporaryTree() });
    checkpoint.take();
    rmSync(here, { recursive: true });
    expect(() => checkpoint.restore()).toThrow(
      `ENOENT: ${JSON.stringify(here)} does not exist: make it as it was, then restore again`,
    );
    symlinkSync("there", here);
    expect(() => checkpoint.restore()).toThrow(
      `EINVAL: ${JSON.stringify(here)} is reached by a symlink now: put back the folder`,
    );
    expect(readdirSync(join(there, "folder"))).toEqual([]);
  });
});

describe("a file is known", () => {
  /** What a checkpoint of an hour later believes. */
  const later = () => Date.now() + 3_600_000;

  test("by its times, unless it was changed shortly before: then by its bytes", () => {
    const folder = temporaryTree({ a: "1" });
    const checkpoint = new CheckpointHere(folder, { copies: temporaryTree() });
    checkpoint.take();
    const copies = temporaryTree();
    const believing = new CheckpointHere(folder, { copies, now: later });
    believing.take();
    const [copy] = readdirSync(copies);
    writeFileSync(join(copies, copy ?? ""), "2"); // as if the file had changed and its times had not
    expect(believing.restore()).toEqual(NOTHING_DONE);
    believing.take();
    expect(readFileSync(join(copies, copy ?? ""), "utf8")).toBe("2");
    const doubting = new CheckpointHere(folder, { copies });
    doubting.records = checkpoint.records;
    expect(doubting.restore().restored).toEqual(["a"]);
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("2");
  });

  test.runIf(isRoot)("also by its owner, which comes back with it", () => {
    const { checkpoint, at } = taken({ a: "1", b: "2" });
    for (const name of ["a", "b"]) chownSync(at(name), NOBODY, NOBODY);
    chmodSync(at("a"), 0o4755);
    checkpoint.take();
    chownSync(at("a"), 0, 0);
    rmSync(at("b"));
    expect([...checkpoint.restore().restored].sort()).toEqual(["a", "b"]);
    expect(statSync(at("a"))).toMatchObject({ uid: NOBODY, gid: NOBODY, mode: 0o104755 });
    expect(statSync(at("b"))).toMatchObject({ uid: NOBODY, gid: NOBODY });
  });

  test.runIf(isRoot)("to become this user's where it cannot be given away", async () => {
    const { folder, copies, checkpoint, at } = taken({ a: "1" });
    chmodSync(folder, 0o777);
    checkpoint.take();
    shareCopies(copies);
    rmSync(at("a"));
    expect((await asPlainUser(() => checkpoint.restore())).failed).toEqual([]);
    expect(lstatSync(at("a")).uid).toBe(NOBODY);
    expect(await asPlainUser(() => checkpoint.restore())).toEqual(NOTHING_DONE);
  });
});
