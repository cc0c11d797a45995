import {
  chmodSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import {
  type MountedFixture,
  mountFiles,
  readMode,
} from "../../../tests/support/workspace/mounted-fixture.ts";

const EDITED = "It was edited on the host after it was mounted.";
const DELETED = "It was deleted on the host after it was mounted.";
const DIFFERENT = "The host has a different file there.";
const IN_FOLDER = "The host's version stays, and the workspace's version is in conflictsDir.";
const STAYS = "The host's version stays.";

describe("a sync to the mounted folder", () => {
  test("keeps a file that the user edited, and stores the workspace's version in conflictsDir", async () => {
    const files = await mountFiles({ "a.txt": "one", "b.txt": "two", "d/c.txt": "three" });
    files.edit({ "a.txt": "by the agent", "b.txt": "also", "d/c.txt": "agent" });
    files.editHost({ "a.txt": "by the user", "d/c.txt": "user" });
    const report = await files.sync();
    expect(report).toMatchObject({
      ...{ changed: ["p/a.txt", "p/b.txt", "p/d/c.txt"], failed: [], keptIn: null },
      conflicts: [
        { path: "p/a.txt", reason: `${EDITED} ${IN_FOLDER}` },
        { path: "p/d/c.txt", reason: `${EDITED} ${IN_FOLDER}` },
      ],
    });
    expect(filesIn(files.home)).toEqual({
      ...{ "p/a.txt": "by the user", "p/b.txt": "also", "p/d/c.txt": "user" },
    });
    const conflictsDir = report.conflictsDir ?? "";
    expect(filesIn(conflictsDir)).toEqual({ "p/a.txt": "by the agent", "p/d/c.txt": "agent" });
    expect(readMode(conflictsDir)).toBe(0o700);
  });

  test("keeps a file that the user edited and the agent deleted", async () => {
    const files = await mountFiles({ "a.txt": "one", "b.txt": "two" });
    files.remove("a.txt");
    files.remove("b.txt");
    files.editHost({ "a.txt": "by the user" });
    expect(await files.sync()).toMatchObject({
      ...{ deleted: ["p/a.txt", "p/b.txt"], failed: [], conflictsDir: null },
      conflicts: [{ path: "p/a.txt", reason: `${EDITED} ${STAYS}` }],
    });
    expect(filesIn(files.home)).toEqual({ "p/a.txt": "by the user" });
  });

  test("does not create a file again that the user deleted and the agent changed", async () => {
    const files = await mountFiles({ "a.txt": "one", "d/b.txt": "two", keep: "" });
    files.edit({ "a.txt": "by the agent", "d/b.txt": "by the agent" });
    files.removeHost("a.txt");
    files.removeHost("d");
    const { conflicts, conflictsDir } = await files.sync();
    expect(conflicts).toEqual([
      { path: "p/a.txt", reason: `${DELETED} ${IN_FOLDER}` },
      { path: "p/d/b.txt", reason: `${DELETED} ${IN_FOLDER}` },
    ]);
    expect(readdirSync(join(files.home, "p"))).toEqual(["keep"]);
    expect(Object.keys(filesIn(conflictsDir ?? ""))).toEqual(["p/a.txt", "p/d/b.txt"]);
  });

  test("does not create anything again if the user deleted the whole folder", async () => {
    const files = await mountFiles({ "a.txt": "one", "b.txt": "two" });
    files.edit({ "a.txt": "by the agent", "new.txt": "new" });
    rmSync(join(files.home, "p"), { recursive: true });
    const { conflicts, conflictsDir } = await files.sync();
    expect(conflicts).toMatchObject([{ path: "p/a.txt" }]);
    expect(filesIn(conflictsDir ?? "")).toEqual({ "p/a.txt": "by the agent" });
    expect(filesIn(files.home)).toEqual({ "p/new.txt": "new" });
  });

  test("keeps a file that both created, unless the bytes are equal", async () => {
    const files = await mountFiles({ "a.txt": "one" });
    files.edit({ "new.txt": "by the agent", "same.txt": "equal", "d/x": "agent" });
    files.editHost({ "new.txt": "by the user", "same.txt": "equal", "d/x": "user" });
    const { conflicts } = await files.sync();
    expect(conflicts).toEqual([
      { path: "p/d/x", reason: `${DIFFERENT} ${IN_FOLDER}` },
      { path: "p/new.txt", reason: `${DIFFERENT} ${IN_FOLDER}` },
    ]);
    expect(filesIn(files.home)).toEqual({
      ...{ "p/a.txt": "one", "p/new.txt": "by the user", "p/same.txt": "equal", "p/d/x": "user" },
    });
  });

  test("is no conflict if both made the same change, or deleted the same file", async () => {
    const files = await mountFiles({ "a.txt": "one", "b.txt": "two" });
    files.edit({ "a.txt": "equal" });
    files.remove("b.txt");
    files.editHost({ "a.txt": "equal" });
    files.removeHost("b.txt");
    expect(await files.sync()).toMatchObject({ conflicts: [], failed: [], conflictsDir: null });
    expect(filesIn(files.home)).toEqual({ "p/a.txt": "equal" });
  });

  test("keeps a withheld file at a path that the agent created", async () => {
    const files = await mountFiles({ "a.txt": "one", ".env": "KEY=1" });
    files.edit({ ".env": "KEY=agent" });
    expect(await files.sync()).toMatchObject({ conflicts: [{ path: "p/.env" }] });
    expect(filesIn(files.home)).toMatchObject({ "p/.env": "KEY=1" });
  });

  test("detects an edit that preserved the size and the modification time", async () => {
    const files = await mountFiles({ "a.txt": "one" });
    const path = join(files.home, "p/a.txt");
    files.edit({ "a.txt": "two" });
    const { atime, mtime } = statSync(path);
    files.editHost({ "a.txt": "ONE" });
    utimesSync(path, atime, mtime);
    expect(await files.sync()).toMatchObject({ conflicts: [{ path: "p/a.txt" }] });
    expect(filesIn(files.home)).toEqual({ "p/a.txt": "ONE" });
  });
});

describe("a sync of files that became folders, links or other entries", () => {
  test.each<readonly [string, Tree, (files: MountedFixture) => void, readonly string[]]>([
    [
      "the user replaced a file by a folder, and the agent changed the file",
      { a: "1" },
      (files) => {
        files.edit({ a: "agent" });
        files.removeHost("a");
        files.editHost({ "a/mine": "user" });
      },
      ["p/a"],
    ],
    [
      "the user replaced a file by a folder, and the agent deleted the file",
      { a: "1" },
      (files) => {
        files.remove("a");
        files.removeHost("a");
        files.editHost({ "a/mine": "user" });
      },
      ["p/a"],
    ],
    [
      "the user replaced a folder by a file, and the agent changed a file in it",
      { "d/a": "1" },
      (files) => {
        files.edit({ "d/a": "agent", "d/new": "agent" });
        files.removeHost("d");
        files.editHost({ d: "user" });
      },
      ["p/d/a", "p/d/new"],
    ],
    [
      "the agent replaced a file by a folder, and the user edited the file",
      { a: "1" },
      (files) => {
        files.remove("a");
        files.edit({ "a/x": "agent" });
        files.editHost({ a: "user" });
      },
      ["p/a", "p/a/x"],
    ],
    [
      "the user replaced a file by a symlink, and the agent changed the file",
      { a: "1", b: "1" },
      (files) => {
        files.edit({ a: "agent" });
        files.removeHost("a");
        symlinkSync("b", join(files.home, "p/a"));
      },
      ["p/a"],
    ],
    [
      "the user replaced a file by a symlink, and the agent deleted the file",
      { a: "1", b: "1" },
      (files) => {
        files.remove("a");
        files.removeHost("a");
        symlinkSync("b", join(files.home, "p/a"));
      },
      ["p/a"],
    ],
  ])("changes nothing if %s", async (_, tree, act, paths) => {
    const files = await mountFiles(tree);
    act(files);
    const before = filesIn(files.home);
    const { conflicts, failed } = await files.sync();
    expect(failed).toEqual([]);
    expect(conflicts.map(({ path }) => path)).toEqual(paths);
    expect(filesIn(files.home)).toEqual(before);
  });

  test("keeps the user's files in a folder that the agent replaced by a file", async () => {
    const files = await mountFiles({ "d/a": "1" });
    files.remove("d");
    files.edit({ d: "agent" });
    files.editHost({ "d/mine": "user" });
    const { conflicts, conflictsDir, failed } = await files.sync();
    expect({ conflicts, failed }).toMatchObject({ conflicts: [{ path: "p/d" }], failed: [] });
    expect(filesIn(conflictsDir ?? "")).toEqual({ "p/d": "agent" });
    expect(filesIn(files.home)).toEqual({ "p/d/mine": "user" });
  });

  test("replaces a folder by a file, and a file by a folder, that the user left alone", async () => {
    const files = await mountFiles({ a: "1", "d/b": "2", "d/e/f": "3" });
    files.remove("a");
    files.remove("d");
    files.edit({ "a/x": "agent", d: "agent" });
    expect(await files.sync()).toMatchObject({ conflicts: [], failed: [] });
    expect(filesIn(files.home)).toEqual({ "p/a/x": "agent", "p/d": "agent" });
  });
});

describe('a sync with onConflict: "overwrite"', () => {
  test("replaces and removes files that the user edited, and creates deleted ones again", async () => {
    const files = await mountFiles({ a: "1", b: "2", c: "3" }, { onConflict: "overwrite" });
    files.edit({ a: "agent", c: "agent", d: "agent" });
    files.remove("b");
    files.editHost({ a: "user", b: "user", d: "user" });
    files.removeHost("c");
    expect(await files.sync()).toMatchObject({ conflicts: [], failed: [], conflictsDir: null });
    expect(filesIn(files.home)).toEqual({ "p/a": "agent", "p/c": "agent", "p/d": "agent" });
  });

  test("keeps the user's bytes of a file whose permissions alone the agent changed", async () => {
    const files = await mountFiles({ "run.sh": "1" }, { onConflict: "overwrite" });
    chmodSync(join(files.root, "run.sh"), 0o755);
    files.editHost({ "run.sh": "user" });
    await files.sync();
    expect(filesIn(files.home)).toEqual({ "p/run.sh": "user" });
    expect(readMode(files.home, "p/run.sh")).toBe(0o755);
  });
});

describe('a sync with onConflict: "both"', () => {
  test("writes the workspace's version beside the host's", async () => {
    const names = ["a.txt", "b.tar.gz", "Makefile", ".env.json", ".profile"];
    const tree = Object.fromEntries(names.map((name) => [name, "1"]));
    const files = await mountFiles({ ...tree, gone: "1" }, { onConflict: "both" });
    const fill = (text: string) => Object.fromEntries(names.map((name) => [name, text]));
    files.edit(fill("agent"));
    files.remove("gone");
    files.editHost({ ...fill("user"), gone: "user" });
    const { conflicts, conflictsDir } = await files.sync();
    expect(conflicts).toHaveLength(6);
    expect(conflicts.find(({ path }) => path === "p/a.txt")?.reason).toBe(
      `${EDITED} The host's version stays, and the workspace's version is "p/a.container.txt".`,
    );
    expect(conflictsDir).toBeNull();
    const beside = [
      ...["a.container.txt", "b.tar.container.gz", "Makefile.container"],
      ...[".env.container.json", ".profile.container"],
    ];
    expect(filesIn(join(files.home, "p"))).toEqual({
      ...fill("user"),
      ...Object.fromEntries(beside.map((name) => [name, "agent"])),
      gone: "user",
    });
  });

  test("does not replace an existing file of that name, and does not write equal bytes twice", async () => {
    const files = await mountFiles({ a: "1", b: "1" }, { onConflict: "both" });
    files.edit({ a: "agent", b: "agent" });
    files.editHost({ a: "user", "a.container": "mine", b: "user", "b.container": "agent" });
    await files.sync();
    await files.sync();
    expect(filesIn(join(files.home, "p"))).toEqual({
      ...{ a: "user", "a.container": "mine", "a.container-2": "agent" },
      ...{ b: "user", "b.container": "agent" },
    });
  });

  test("does not use a name that the agent used", async () => {
    const files = await mountFiles({ a: "1" }, { onConflict: "both" });
    files.edit({ a: "agent", "a.container": "its own" });
    files.editHost({ a: "user" });
    await files.sync();
    expect(filesIn(join(files.home, "p"))).toEqual({
      ...{ a: "user", "a.container": "its own", "a.container-2": "agent" },
    });
  });

  test("stores the workspace's version in conflictsDir if its folder is a file now", async () => {
    const files = await mountFiles({ "d/a": "1" }, { onConflict: "both" });
    files.edit({ "d/a": "agent" });
    files.removeHost("d");
    files.editHost({ d: "user" });
    const { conflictsDir } = await files.sync();
    expect(filesIn(conflictsDir ?? "")).toEqual({ "p/d/a": "agent" });
    expect(filesIn(files.home)).toEqual({ "p/d": "user" });
  });
});

describe("a sync to a folder that was not mounted", () => {
  test("keeps existing files that differ from the mounted version", async () => {
    const files = await mountFiles({ a: "1", b: "2", c: "3", gone: "4", kept: "5" });
    files.edit({ a: "agent", b: "agent" });
    files.remove("gone");
    files.remove("kept");
    const to = temporaryTree({
      "p/a": "older",
      "p/b": "2",
      "p/gone": "4",
      "p/kept": "mine",
      x: "x",
    });
    const { conflicts, conflictsDir } = await files.sync(to);
    expect(conflicts).toEqual([
      { path: "p/a", reason: `${DIFFERENT} ${IN_FOLDER}` },
      { path: "p/kept", reason: `${DIFFERENT} ${STAYS}` },
    ]);
    expect(filesIn(conflictsDir ?? "")).toEqual({ "p/a": "agent" });
    expect(filesIn(to)).toEqual({
      ...{ "p/a": "older", "p/b": "agent", "p/c": "3", "p/kept": "mine", x: "x" },
    });
  });

  test("compares with what the last sync wrote", async () => {
    const files = await mountFiles({ a: "1", b: "2" });
    const to = join(temporaryTree(), "to");
    await files.sync(to);
    files.edit({ a: "agent", new: "agent" });
    expect(await files.sync(to)).toMatchObject({ conflicts: [] });
    files.edit({ a: "again", b: "again" });
    files.remove("new");
    writeFileSync(join(to, "p/b"), "user");
    const { conflicts } = await files.sync(to);
    expect(conflicts).toEqual([{ path: "p/b", reason: `${EDITED} ${IN_FOLDER}` }]);
    expect(filesIn(to)).toEqual({ "p/a": "again", "p/b": "user" });
  });

  test("moves the baseline of the mounted folder too", async () => {
    const files = await mountFiles({ a: "1", b: "2" });
    files.edit({ a: "agent" });
    await files.sync();
    files.edit({ a: "again" });
    expect(await files.sync()).toMatchObject({ conflicts: [], changed: ["p/a"] });
    files.editHost({ a: "user" });
    expect(await files.sync()).toMatchObject({ conflicts: [], changed: ["p/a"] });
    files.edit({ a: "1" });
    expect(await files.sync()).toMatchObject({ conflicts: [{ path: "p/a" }], changed: [] });
    expect(filesIn(files.home)).toEqual({ "p/a": "user", "p/b": "2" });
  });
});

describe("a sync of files that were mounted through symlinks", () => {
  const options = { links: { link: "real", other: "b" }, followSymlinks: true };

  test("writes through the symlink if the user left its target alone", async () => {
    const files = await mountFiles({ real: "1", b: "2" }, options);
    files.edit({ link: "agent" });
    expect(await files.sync()).toMatchObject({ conflicts: [], failed: [], changed: ["p/link"] });
    expect(filesIn(join(files.home, "p"))).toEqual({
      ...{ real: "agent", link: "-> real", b: "2", other: "-> b" },
    });
  });

  test("keeps a target that the user edited, also if the agent changed nothing", async () => {
    const files = await mountFiles({ real: "1", b: "2" }, options);
    files.edit({ link: "agent" });
    files.editHost({ real: "user", b: "user" });
    const { conflicts, failed } = await files.sync();
    expect(conflicts).toMatchObject([{ path: "p/link" }]);
    expect(failed).toEqual([]);
    expect(filesIn(join(files.home, "p"))).toMatchObject({ real: "user", b: "user" });
  });

  test("does nothing for an unchanged file behind a symlink that leads out of the folder", async () => {
    const outside = temporaryTree({ a: "theirs" });
    const files = await mountFiles(
      { b: "2" },
      { links: { out: join(outside, "a") }, followSymlinks: true },
    );
    files.edit({ b: "agent" });
    expect(await files.sync()).toMatchObject({ conflicts: [], failed: [] });
    expect(filesIn(outside)).toEqual({ a: "theirs" });
  });
});

test("a sync keeps an edit that the user makes while a file is copied", async () => {
  const files = await mountFiles({ large: "1" });
  const bytes = Buffer.alloc(60_000_000, "x");
  files.edit({ large: bytes });
  const folder = join(files.home, "p");
  const syncing = files.sync();
  await expect
    .poll(() => readdirSync(folder).some((name) => name.endsWith(".tmp")), { interval: 1 })
    .toBe(true);
  writeFileSync(join(folder, "large"), "by the user");
  const { conflicts } = await syncing;
  expect(conflicts).toMatchObject([{ path: "p/large" }]);
  expect(filesIn(folder)).toEqual({ large: "by the user" });
});

test("a sync does not replace a folder that became a symlink out of the destination", async () => {
  const outside = temporaryTree({ a: "theirs" });
  const files = await mountFiles({ "d/a": "1" });
  files.edit({ "d/a": "agent" });
  files.removeHost("d");
  symlinkSync(outside, join(files.home, "p/d"));
  const { failed, conflictsDir } = await files.sync();
  expect(failed).toMatchObject([{ path: "p/d/a" }]);
  expect(failed[0]?.reason).toContain("A symlink leads out of the folder");
  expect(filesIn(outside)).toEqual({ a: "theirs" });
  expect(filesIn(conflictsDir ?? "")).toEqual({ "p/d/a": "agent" });
});
