import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { asPlainUser, type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { syncFolder } from "./sync-folder.ts";

/** Brings all of a tree, or some of it, to a folder. */
async function sync(
  tree: Tree,
  to: string,
  { changed = Object.keys(tree), deleted = [] as readonly string[] } = {},
) {
  return await syncFolder({ from: temporaryTree(tree), to, changed, deleted });
}

const DONE = { failed: [] };

const failed = (path: string, reason: string) => ({
  path,
  reason: expect.stringContaining(reason),
});

describe("a folder that is not there yet", () => {
  test("is made with all files, and nothing else is left beside it", async () => {
    const above = temporaryTree();
    const tree = { "a/b/c": "1", d: Buffer.alloc(100_000, "x"), empty: "", é: "2" };
    expect(
      await sync({ ...tree, "not/asked": "3" }, join(above, "to"), { changed: Object.keys(tree) }),
    ).toEqual(DONE);
    expect(filesIn(join(above, "to"))).toEqual({ ...tree, d: "x".repeat(100_000) });
    expect(readdirSync(above)).toEqual(["to"]);
  });

  test("is made with the folders above it", async () => {
    const above = temporaryTree();
    expect(await sync({ a: "1" }, join(above, "x/y/to"))).toEqual(DONE);
    expect(filesIn(above)).toEqual({ "x/y/to/a": "1" });
  });

  test("is made empty if there is nothing to write, and nothing to remove there", async () => {
    const to = join(temporaryTree(), "to");
    expect(await sync({}, to, { deleted: ["a"] })).toEqual(DONE);
    expect(readdirSync(to)).toEqual([]);
  });

  test("may have a name that leaves no room for another", async () => {
    const above = temporaryTree();
    const name = "n".repeat(255);
    expect(await sync({ a: "1" }, join(above, name))).toEqual(DONE);
    expect(readdirSync(above)).toEqual([name]);
  });

  test("is not made at all if a file cannot be brought, and each says so", async () => {
    const above = temporaryTree();
    const result = await sync({ a: "1", b: "2" }, join(above, "x/to"), {
      changed: ["a", "gone", "b"],
    });
    expect(result.failed).toHaveLength(3);
    expect(result.failed).toEqual(
      expect.arrayContaining([
        failed("gone", "is not a file in the tree that is brought back"),
        failed("a", '"gone" could not be written, and'),
        failed("b", "gets all files or none: see to that one"),
      ]),
    );
    expect(result.failed[0]?.path).toBe("gone");
    expect(readdirSync(above)).toEqual([]);
  });

  test("is not made where that is not allowed, or a file or a dead link is", async () => {
    const above = temporaryTree({ closed: null, file: "1" });
    chmodSync(above, 0o755);
    chmodSync(join(above, "closed"), 0o555);
    symlinkSync("nowhere", join(above, "link"));
    const from = temporaryTree({ a: "1" });
    chmodSync(from, 0o755);
    const change = { from, changed: ["a"], deleted: [] };
    const closed = join(above, "closed/to");
    expect(await asPlainUser(() => syncFolder({ ...change, to: closed }))).toEqual({
      failed: [failed("a", "it is not open to this user: change its permissions")],
    });
    for (const name of ["file", "file/to", "link"]) {
      const {
        failed: [failure],
      } = await syncFolder({ ...change, to: join(above, name) });
      expect(failure).toEqual(failed("a", "a file stands where a folder must be: move it away"));
    }
    expect(filesIn(above)).toEqual({ file: "1", link: "-> nowhere" });
    expect(readdirSync(join(above, "closed"))).toEqual([]);
  });
});

describe("an empty folder", () => {
  test("is replaced, and keeps its mode", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    chmodSync(to, 0o2750);
    expect(await sync({ "a/b": "1" }, to)).toEqual(DONE);
    expect(filesIn(above)).toEqual({ "to/a/b": "1" });
    expect(statSync(to).mode & 0o7777).toBe(0o2750);
  });

  test("is found behind a link, which stays", async () => {
    const above = temporaryTree({ real: null });
    symlinkSync("real", join(above, "to"));
    expect(await sync({ a: "1" }, join(above, "to"))).toEqual(DONE);
    expect(readlinkSync(join(above, "to"))).toBe("real");
    expect(filesIn(join(above, "real"))).toEqual({ a: "1" });
  });

  test("is not touched if there is nothing to write, or not everything can be", async () => {
    const to = temporaryTree();
    const { ino } = statSync(to);
    expect(await sync({}, to, { deleted: ["a"] })).toEqual(DONE);
    const { failed: failures } = await sync({ a: "1" }, to, { changed: ["a", "gone"] });
    expect(failures.map(({ path }) => path)).toEqual(["gone", "a"]);
    expect(statSync(to).ino).toBe(ino);
    expect(readdirSync(to)).toEqual([]);
  });

  test("is filled where it cannot be replaced", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    const from = temporaryTree({ "a/b": "1", c: "2" });
    for (const folder of [from, join(from, "a")]) chmodSync(folder, 0o755);
    chmodSync(to, 0o777);
    chmodSync(above, 0o555);
    const { ino } = statSync(to);
    const changed = ["a/b", "c"];
    expect(await asPlainUser(() => syncFolder({ from, to, changed, deleted: [] }))).toEqual(DONE);
    chmodSync(above, 0o755);
    expect(filesIn(to)).toEqual({ "a/b": "1", c: "2" });
    expect(statSync(to).ino).toBe(ino);
  });
});

describe("a folder with files", () => {
  test("gets what has changed, loses what was deleted, and keeps the rest", async () => {
    const to = temporaryTree({ same: "1", old: "2", "deep/old": "3", gone: "4", "deep/gone": "5" });
    const tree = {
      same: "not this",
      old: "new",
      "deep/old": "new",
      "new/x/y": "new",
      "deep/z": "",
    };
    const changed = ["old", "deep/old", "new/x/y", "deep/z"];
    const deleted = ["gone", "deep/gone", "never/was", "same/never/was"];
    expect(await sync(tree, to, { changed, deleted })).toEqual(DONE);
    expect(filesIn(to)).toEqual({
      same: "1",
      old: "new",
      "deep/old": "new",
      "deep/z": "",
      "new/x/y": "new",
    });
  });

  test("keeps modes but for whether a file may be executed", async () => {
    const to = temporaryTree({ plain: "", run: "", private: "" });
    const from = temporaryTree({ plain: "1", run: "1", private: "1", added: "1", tool: "1" });
    const modes = (folder: string, set?: Record<string, number>) => {
      for (const [name, mode] of Object.entries(set ?? {})) chmodSync(join(folder, name), mode);
      const names = readdirSync(folder);
      return Object.fromEntries(
        names.map((name) => [name, lstatSync(join(folder, name)).mode & 0o7777]),
      );
    };
    modes(to, { plain: 0o664, run: 0o755, private: 0o600 });
    modes(from, { plain: 0o644, run: 0o644, private: 0o755, added: 0o644, tool: 0o4755 });
    const changed = ["plain", "run", "private", "added", "tool"];
    expect(await syncFolder({ from, to, changed, deleted: [] })).toEqual(DONE);
    expect(modes(to)).toEqual({
      plain: 0o664,
      run: 0o644,
      private: 0o700,
      added: 0o644,
      tool: 0o755,
    });
  });

  test.runIf(process.geteuid?.() === 0)("keeps the owner of what is replaced", async () => {
    const to = temporaryTree();
    chmodSync(to, 0o777);
    await asPlainUser(() => writeFileSync(join(to, "theirs"), "1"));
    const { uid } = statSync(join(to, "theirs"));
    expect(await sync({ theirs: "2", mine: "3" }, to)).toEqual(DONE);
    expect(statSync(join(to, "theirs")).uid).toBe(uid);
    expect(statSync(join(to, "mine")).uid).toBe(0);
  });

  test("lets a file become a folder, and a folder a file", async () => {
    const to = temporaryTree({ a: "1", "b/c/d": "2", "b/e": "3", keep: "4" });
    mkdirSync(join(to, "b/f"));
    const deleted = ["a", "b/c/d", "b/e"];
    expect(await sync({ "a/x": "5", b: "6" }, to, { deleted })).toEqual(DONE);
    expect(filesIn(to)).toEqual({ "a/x": "5", b: "6", keep: "4" });
  });

  test("writes what is both changed and deleted", async () => {
    const to = temporaryTree({ a: "1" });
    expect(await sync({ a: "2" }, to, { changed: ["a", "./a"], deleted: ["a"] })).toEqual(DONE);
    expect(filesIn(to)).toEqual({ a: "2" });
  });
});

describe("what fails in a folder with files", () => {
  test("does not stop the others, but nothing is removed then", async () => {
    const to = temporaryTree({ a: "1", "b/c": "2", d: "3" });
    const deleted = ["d"];
    const changed = ["a", "b", "gone", "a2"];
    const result = await sync({ a: "new", b: "new", a2: "new" }, to, { changed, deleted });
    expect(result.failed).toEqual([
      failed("b", "a folder stands where a file must be: move it away"),
      failed("gone", "is not a file in the tree that is brought back"),
      failed("d", "it was left because other files could not be written: see to those"),
    ]);
    expect(filesIn(to)).toEqual({ a: "new", "b/c": "2", d: "3", a2: "new" });
  });

  test("may have something in its way that nobody deletes", async () => {
    const to = temporaryTree({ a: "1", "b/c": "2" });
    expect(await sync({ "a/x/y": "3", b: "4", d: "5" }, to)).toEqual({
      failed: [
        failed("a/x/y", "a file stands where a folder must be: move it away"),
        failed("b", "a folder stands where a file must be: move it away"),
      ],
    });
    expect(filesIn(to)).toEqual({ a: "1", "b/c": "2", d: "5" });
  });

  test("is refused by name if its path cannot be", async () => {
    const to = temporaryTree({ a: "1" });
    const changed = ["../x", "/etc/x", "a\0b", ".", "a"];
    const result = await sync({ a: "2" }, to, { changed, deleted: ["../y", "x/.."] });
    expect(result.failed).toEqual([
      failed("../x", "leaves the root"),
      failed("/etc/x", "is absolute"),
      failed("a\0b", "holds a NUL"),
      failed(".", "it is the folder itself: name a file"),
      failed("../y", "leaves the root"),
      failed("x/..", "it is the folder itself: name a file"),
    ]);
    expect(filesIn(to)).toEqual({ a: "2" });
  });

  test("is what this user may not write", async () => {
    const to = temporaryTree({ "closed/a": "1", fixed: "2", open: "3" });
    const from = temporaryTree({ "closed/a": "4", "closed/x/b": "4", fixed: "5", open: "6" });
    for (const folder of [from, join(from, "closed"), join(from, "closed/x")]) {
      chmodSync(folder, 0o755);
    }
    chmodSync(to, 0o777);
    chmodSync(join(to, "closed"), 0o555);
    chmodSync(join(to, "closed/a"), 0o666);
    chmodSync(join(to, "fixed"), 0o444);
    chmodSync(join(to, "open"), 0o666);
    const changed = ["closed/a", "closed/x/b", "fixed", "open"];
    const remedy =
      "it is not open to this user: change its permissions, or its folder's, and sync again";
    const result = await asPlainUser(() => syncFolder({ from, to, changed, deleted: [] }));
    expect(result.failed).toEqual(changed.slice(0, 3).map((path) => failed(path, remedy)));
    expect(filesIn(to)).toEqual({ "closed/a": "1", fixed: "2", open: "6" });
  });

  test("is everything if there is no tree", async () => {
    const to = temporaryTree({ a: "1", b: "2" });
    const change = { from: join(to, "gone"), to, changed: ["a"], deleted: ["b"] };
    expect((await syncFolder(change)).failed).toEqual([
      failed("a", "ENOENT: no such file or directory"),
      failed("b", "see to it and sync again, or sync to another folder than"),
    ]);
    expect(filesIn(to)).toEqual({ a: "1", b: "2" });
  });

  test("is a folder or something odd that is to be removed or replaced", async () => {
    const to = temporaryTree({ "folder/a": "1" });
    execFileSync("mkfifo", [join(to, "pipe")]);
    expect((await sync({}, to, { deleted: ["folder", "pipe"] })).failed).toEqual([
      failed("folder", "it is a folder there: remove it by hand"),
      failed("pipe", "it is neither file nor folder there: move it away"),
    ]);
    expect((await sync({ pipe: "" }, to)).failed).toEqual([
      failed("pipe", "it is neither file nor folder there: move it away"),
    ]);
    expect(lstatSync(join(to, "pipe")).isFIFO()).toBe(true);
  });

  test("leaves no folder that was made for it", async () => {
    const to = temporaryTree({ a: "1" });
    const from = temporaryTree({ "x/y/z": "2", "x/v": "3" });
    for (const path of [from, join(from, "x"), join(from, "x/y")]) chmodSync(path, 0o755);
    chmodSync(to, 0o777);
    chmodSync(join(from, "x/y/z"), 0o000);
    const change = { from, to, changed: ["x/y/z", "x/v"], deleted: [] };
    const result = await asPlainUser(() => syncFolder(change));
    expect(result.failed).toEqual([failed("x/y/z", "it is not open to this user")]);
    expect(filesIn(to)).toEqual({ a: "1", "x/v": "3" });
    expect(readdirSync(join(to, "x"))).toEqual(["v"]);
  });
});

describe("a symlink", () => {
  test("that leads out is neither followed nor removed", async () => {
    const outside = temporaryTree({ a: "theirs", "b/c": "theirs" });
    const to = temporaryTree({ x: "1" });
    symlinkSync(join(outside, "a"), join(to, "file"));
    symlinkSync(outside, join(to, "folder"));
    symlinkSync(join(outside, "new"), join(to, "dead"));
    const paths = ["file", "folder/a", "folder/new", "folder/b/c", "dead"];
    const tree = { ...Object.fromEntries(paths.map((path) => [path, "ours"])), x: "2" };
    const refusals = paths.map((path) => failed(path, "a symlink leads out of the folder"));
    expect(await sync(tree, to)).toEqual({ failed: refusals });
    expect(await sync({}, to, { deleted: paths })).toEqual({ failed: refusals });
    expect(filesIn(outside)).toEqual({ a: "theirs", "b/c": "theirs" });
    expect(readFileSync(join(to, "x"), "utf8")).toBe("2");
    expect(readdirSync(to).sort()).toEqual(["dead", "file", "folder", "x"]);
  });

  test("that stays inside is followed, or removed itself", async () => {
    const to = temporaryTree({ "real/a": "1", "real/b": "2" });
    symlinkSync("real", join(to, "folder"));
    symlinkSync("real/b", join(to, "file"));
    symlinkSync("real/b", join(to, "gone"));
    const changed = ["folder/a", "folder/new", "file"];
    const tree = Object.fromEntries(changed.map((path) => [path, "new"]));
    expect(await sync(tree, to, { deleted: ["gone"] })).toEqual(DONE);
    expect(filesIn(to)).toEqual({
      "real/a": "new",
      "real/b": "new",
      "real/new": "new",
      folder: "-> real",
      file: "-> real/b",
    });
  });

  test("in the tree itself is no file of it", async () => {
    const from = temporaryTree({ "d/a": "1" });
    symlinkSync("d", join(from, "link"));
    symlinkSync("/etc/passwd", join(from, "secret"));
    const to = temporaryTree({ x: "1" });
    const changed = ["link/a", "secret", "d", "no/such"];
    const { failed: failures } = await syncFolder({ from, to, changed, deleted: [] });
    expect(failures).toEqual(changed.map((path) => failed(path, "is not a file in the tree")));
    expect(filesIn(to)).toEqual({ x: "1" });
  });
});
