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
import { runAsPlainUser, type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { syncFolder } from "./sync-folder.ts";

/** Syncs a tree, or only its `changed` files, to a folder. */
async function sync(
  tree: Tree,
  to: string,
  { changed = Object.keys(tree), deleted = [] as readonly string[] } = {},
) {
  return await syncFolder({ from: temporaryTree(tree), to, changed, deleted });
}

const DONE = { failed: [] };

const expectFailure = (path: string, reason: string) => ({
  path,
  reason: expect.stringContaining(reason),
});

describe("syncFolder() with a missing folder", () => {
  test("creates it with all files and leaves nothing next to it", async () => {
    const above = temporaryTree();
    const tree = { "a/b/c": "1", d: Buffer.alloc(100_000, "x"), empty: "", é: "2" };
    expect(
      await sync({ ...tree, "not/asked": "3" }, join(above, "to"), { changed: Object.keys(tree) }),
    ).toEqual(DONE);
    expect(filesIn(join(above, "to"))).toEqual({ ...tree, d: "x".repeat(100_000) });
    expect(readdirSync(above)).toEqual(["to"]);
  });

  test("creates its parent folders", async () => {
    const above = temporaryTree();
    expect(await sync({ a: "1" }, join(above, "x/y/to"))).toEqual(DONE);
    expect(filesIn(above)).toEqual({ "x/y/to/a": "1" });
  });

  test("creates it empty without files to write", async () => {
    const to = join(temporaryTree(), "to");
    expect(await sync({}, to, { deleted: ["a"] })).toEqual(DONE);
    expect(readdirSync(to)).toEqual([]);
  });

  test("supports a name of maximum length", async () => {
    const above = temporaryTree();
    const name = "n".repeat(255);
    expect(await sync({ a: "1" }, join(above, name))).toEqual(DONE);
    expect(readdirSync(above)).toEqual([name]);
  });

  test("does not create it if one file fails, and reports every file", async () => {
    const above = temporaryTree();
    const result = await sync({ a: "1", b: "2" }, join(above, "x/to"), {
      changed: ["a", "gone", "b"],
    });
    expect(result.failed).toHaveLength(3);
    expect(result.failed).toEqual(
      expect.arrayContaining([
        expectFailure("gone", "It is not a file in the source folder. Write it there first."),
        expectFailure("a", '"gone" could not be written, and'),
        expectFailure("b", "receives all files or none. Fix that file first."),
      ]),
    );
    expect(result.failed[0]?.path).toBe("gone");
    expect(readdirSync(above)).toEqual([]);
  });

  test("does not create it without permission, or over a file or a broken symlink", async () => {
    const above = temporaryTree({ closed: null, file: "1" });
    chmodSync(above, 0o755);
    chmodSync(join(above, "closed"), 0o555);
    symlinkSync("nowhere", join(above, "link"));
    const from = temporaryTree({ a: "1" });
    chmodSync(from, 0o755);
    const change = { from, changed: ["a"], deleted: [] };
    const closed = join(above, "closed/to");
    expect(await runAsPlainUser(() => syncFolder({ ...change, to: closed }))).toEqual({
      failed: [expectFailure("a", "This user has no access to it. Change its permissions")],
    });
    for (const name of ["file", "file/to", "link"]) {
      const {
        failed: [failure],
      } = await syncFolder({ ...change, to: join(above, name) });
      expect(failure).toEqual(
        expectFailure("a", "A file exists where a folder is needed. Move it"),
      );
    }
    expect(filesIn(above)).toEqual({ file: "1", link: "-> nowhere" });
    expect(readdirSync(join(above, "closed"))).toEqual([]);
  });
});

describe("syncFolder() with an empty folder", () => {
  test("replaces it and preserves its mode", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    chmodSync(to, 0o2750);
    expect(await sync({ "a/b": "1" }, to)).toEqual(DONE);
    expect(filesIn(above)).toEqual({ "to/a/b": "1" });
    expect(statSync(to).mode & 0o7777).toBe(0o2750);
  });

  test("follows a symlink to it and preserves the symlink", async () => {
    const above = temporaryTree({ real: null });
    symlinkSync("real", join(above, "to"));
    expect(await sync({ a: "1" }, join(above, "to"))).toEqual(DONE);
    expect(readlinkSync(join(above, "to"))).toBe("real");
    expect(filesIn(join(above, "real"))).toEqual({ a: "1" });
  });

  test("does not touch it without files to write or if one file fails", async () => {
    const to = temporaryTree();
    const { ino } = statSync(to);
    expect(await sync({}, to, { deleted: ["a"] })).toEqual(DONE);
    const { failed: failures } = await sync({ a: "1" }, to, { changed: ["a", "gone"] });
    expect(failures.map(({ path }) => path)).toEqual(["gone", "a"]);
    expect(statSync(to).ino).toBe(ino);
    expect(readdirSync(to)).toEqual([]);
  });

  test("fills it if it cannot be replaced", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    const from = temporaryTree({ "a/b": "1", c: "2" });
    for (const folder of [from, join(from, "a")]) chmodSync(folder, 0o755);
    chmodSync(to, 0o777);
    chmodSync(above, 0o555);
    const { ino } = statSync(to);
    const changed = ["a/b", "c"];
    expect(await runAsPlainUser(() => syncFolder({ from, to, changed, deleted: [] }))).toEqual(
      DONE,
    );
    chmodSync(above, 0o755);
    expect(filesIn(to)).toEqual({ "a/b": "1", c: "2" });
    expect(statSync(to).ino).toBe(ino);
  });
});

describe("syncFolder() with an existing folder", () => {
  test("writes changed files, removes deleted files and retains the rest", async () => {
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

  test("preserves modes, except for the executable bits", async () => {
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

  test.runIf(process.geteuid?.() === 0)("preserves the owner of a replaced file", async () => {
    const to = temporaryTree();
    chmodSync(to, 0o777);
    await runAsPlainUser(() => writeFileSync(join(to, "theirs"), "1"));
    const { uid } = statSync(join(to, "theirs"));
    expect(await sync({ theirs: "2", mine: "3" }, to)).toEqual(DONE);
    expect(statSync(join(to, "theirs")).uid).toBe(uid);
    expect(statSync(join(to, "mine")).uid).toBe(0);
  });

  test("replaces a file with a folder, and a folder with a file", async () => {
    const to = temporaryTree({ a: "1", "b/c/d": "2", "b/e": "3", keep: "4" });
    mkdirSync(join(to, "b/f"));
    const deleted = ["a", "b/c/d", "b/e"];
    expect(await sync({ "a/x": "5", b: "6" }, to, { deleted })).toEqual(DONE);
    expect(filesIn(to)).toEqual({ "a/x": "5", b: "6", keep: "4" });
  });

  test("writes a file that is both changed and deleted", async () => {
    const to = temporaryTree({ a: "1" });
    expect(await sync({ a: "2" }, to, { changed: ["a", "./a"], deleted: ["a"] })).toEqual(DONE);
    expect(filesIn(to)).toEqual({ a: "2" });
  });
});

describe("a failure of syncFolder() in an existing folder", () => {
  test("does not stop other writes, but prevents removals", async () => {
    const to = temporaryTree({ a: "1", "b/c": "2", d: "3" });
    const deleted = ["d"];
    const changed = ["a", "b", "gone", "a2"];
    const result = await sync({ a: "new", b: "new", a2: "new" }, to, { changed, deleted });
    expect(result.failed).toEqual([
      expectFailure("b", "A folder exists where a file is needed. Move it"),
      expectFailure("gone", "It is not a file in the source folder"),
      expectFailure("d", "It was not removed because other files could not be written. Fix those"),
    ]);
    expect(filesIn(to)).toEqual({ a: "new", "b/c": "2", d: "3", a2: "new" });
  });

  test("is reported if a file or folder that is not deleted blocks the path", async () => {
    const to = temporaryTree({ a: "1", "b/c": "2" });
    expect(await sync({ "a/x/y": "3", b: "4", d: "5" }, to)).toEqual({
      failed: [
        expectFailure("a/x/y", "A file exists where a folder is needed. Move it"),
        expectFailure("b", "A folder exists where a file is needed. Move it"),
      ],
    });
    expect(filesIn(to)).toEqual({ a: "1", "b/c": "2", d: "5" });
  });

  test("is reported for each invalid path", async () => {
    const to = temporaryTree({ a: "1" });
    const changed = ["../x", "/etc/x", "a\0b", ".", "a"];
    const result = await sync({ a: "2" }, to, { changed, deleted: ["../y", "x/.."] });
    expect(result.failed).toEqual([
      expectFailure("../x", "leaves the root"),
      expectFailure("/etc/x", "is absolute"),
      expectFailure("a\0b", "contains a NUL character"),
      expectFailure(".", "The path is the folder itself. Use the path of a file."),
      expectFailure("../y", "leaves the root"),
      expectFailure("x/..", "The path is the folder itself. Use the path of a file."),
    ]);
    expect(filesIn(to)).toEqual({ a: "2" });
  });

  test("is reported for each file without write permission", async () => {
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
      "This user has no access to it. Change its permissions or its folder's and sync again";
    const result = await runAsPlainUser(() => syncFolder({ from, to, changed, deleted: [] }));
    expect(result.failed).toEqual(changed.slice(0, 3).map((path) => expectFailure(path, remedy)));
    expect(filesIn(to)).toEqual({ "closed/a": "1", fixed: "2", open: "6" });
  });

  test("is reported for every file if the source folder is missing", async () => {
    const to = temporaryTree({ a: "1", b: "2" });
    const change = { from: join(to, "gone"), to, changed: ["a"], deleted: ["b"] };
    expect((await syncFolder(change)).failed).toEqual([
      expectFailure("a", "ENOENT: no such file or directory"),
      expectFailure("b", "Fix the cause and sync again, or sync to a folder other than"),
    ]);
    expect(filesIn(to)).toEqual({ a: "1", b: "2" });
  });

  test("is reported for a folder or a pipe at the path", async () => {
    const to = temporaryTree({ "folder/a": "1" });
    execFileSync("mkfifo", [join(to, "pipe")]);
    expect((await sync({}, to, { deleted: ["folder", "pipe"] })).failed).toEqual([
      expectFailure("folder", "The destination is a folder. Remove it by hand."),
      expectFailure("pipe", "The destination is neither a file nor a folder. Move it"),
    ]);
    expect((await sync({ pipe: "" }, to)).failed).toEqual([
      expectFailure("pipe", "The destination is neither a file nor a folder. Move it"),
    ]);
    expect(lstatSync(join(to, "pipe")).isFIFO()).toBe(true);
  });

  test("leaves no folder that was created for the file", async () => {
    const to = temporaryTree({ a: "1" });
    const from = temporaryTree({ "x/y/z": "2", "x/v": "3" });
    for (const path of [from, join(from, "x"), join(from, "x/y")]) chmodSync(path, 0o755);
    chmodSync(to, 0o777);
    chmodSync(join(from, "x/y/z"), 0o000);
    const change = { from, to, changed: ["x/y/z", "x/v"], deleted: [] };
    const result = await runAsPlainUser(() => syncFolder(change));
    expect(result.failed).toEqual([expectFailure("x/y/z", "This user has no access to it")]);
    expect(filesIn(to)).toEqual({ a: "1", "x/v": "3" });
    expect(readdirSync(join(to, "x"))).toEqual(["v"]);
  });
});

describe("syncFolder() and symlinks", () => {
  test("neither follows nor removes a symlink that leads out of the folder", async () => {
    const outside = temporaryTree({ a: "theirs", "b/c": "theirs" });
    const to = temporaryTree({ x: "1" });
    symlinkSync(join(outside, "a"), join(to, "file"));
    symlinkSync(outside, join(to, "folder"));
    symlinkSync(join(outside, "new"), join(to, "dead"));
    const paths = ["file", "folder/a", "folder/new", "folder/b/c", "dead"];
    const tree = { ...Object.fromEntries(paths.map((path) => [path, "ours"])), x: "2" };
    const refusals = paths.map((path) => expectFailure(path, "A symlink leads out of the folder"));
    expect(await sync(tree, to)).toEqual({ failed: refusals });
    expect(await sync({}, to, { deleted: paths })).toEqual({ failed: refusals });
    expect(filesIn(outside)).toEqual({ a: "theirs", "b/c": "theirs" });
    expect(readFileSync(join(to, "x"), "utf8")).toBe("2");
    expect(readdirSync(to).sort()).toEqual(["dead", "file", "folder", "x"]);
  });

  test("follows a symlink that stays inside, and removes only the symlink", async () => {
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

  test("does not treat a symlink in the source folder as a file", async () => {
    const from = temporaryTree({ "d/a": "1" });
    symlinkSync("d", join(from, "link"));
    symlinkSync("/etc/passwd", join(from, "secret"));
    const to = temporaryTree({ x: "1" });
    const changed = ["link/a", "secret", "d", "no/such"];
    const { failed: failures } = await syncFolder({ from, to, changed, deleted: [] });
    expect(failures).toEqual(
      changed.map((path) => expectFailure(path, "It is not a file in the source folder")),
    );
    expect(filesIn(to)).toEqual({ x: "1" });
  });

  test.skipIf(process.platform !== "linux")(
    "reports a destination where the system creates no folders",
    async () => {
      for (const to of ["/proc/wink-none", "/proc/wink-none/a/b"]) {
        const { failed } = await sync({ a: "1" }, to);
        expect(failed).toEqual([{ path: "a", reason: expect.any(String) }]);
      }
    },
  );
});
