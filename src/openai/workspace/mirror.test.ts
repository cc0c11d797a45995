import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import { planMounts } from "../../files/mounts/plan-mounts.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { type FoundChanges, Mirror } from "./mirror.ts";

async function createMirror(tree: Readonly<Record<string, string>>): Promise<Mirror> {
  const plan = planMounts([{ hostPath: temporaryTree(tree), mountPath: "." }], {
    allowedHostRoots: "any",
  });
  const mirror = new Mirror(reserveFolder(), { plan });
  onTestFinished(() => mirror.remove());
  await mirror.ready();
  return mirror;
}

/** Creates changes with their bytes in a staging folder. */
async function createChanges(
  mirror: Mirror,
  files: Readonly<Record<string, string>>,
  more: Partial<FoundChanges> = {},
): Promise<FoundChanges> {
  const stage = await mirror.createStage();
  const entries = Object.entries(files).map(([path, text], index) => {
    const at = join(stage, String(index));
    writeFileSync(at, text);
    return [path, at] as const;
  });
  return { files: new Map(entries), deleted: [], folders: null, ...more };
}

describe("Mirror", () => {
  test("applies created, changed and deleted files", async () => {
    const mirror = await createMirror({ "a.txt": "a", "b.txt": "b", "d/c.txt": "c" });
    const files = { "a.txt": "changed", "new/deep/x.txt": "x" };
    const changes = await createChanges(mirror, files, {
      deleted: ["b.txt", "d/c.txt", "not-there"],
    });
    expect(await mirror.applyChanges(changes)).toEqual([]);
    expect(readFiles(mirror.root)).toEqual({ "a.txt": "changed", "new/deep/x.txt": "x" });
    expect(existsSync(join(mirror.root, "d"))).toBe(false);
  });

  test("keeps the root and folders that still have files", async () => {
    const mirror = await createMirror({ "d/c.txt": "c", "d/e.txt": "e", "f.txt": "f" });
    const changes = await createChanges(mirror, {}, { deleted: ["d/c.txt", "f.txt"] });
    expect(await mirror.applyChanges(changes)).toEqual([]);
    expect(readFiles(mirror.root)).toEqual({ "d/e.txt": "e" });
  });

  test("creates and removes folders if the container's folders are known", async () => {
    const mirror = await createMirror({ "gone/a.txt": "a", "left/b.txt": "b" });
    const folders = ["left", "made", "made/in"];
    const deleted = ["gone/a.txt", "left/b.txt"];
    expect(
      await mirror.applyChanges(await createChanges(mirror, {}, { deleted, folders })),
    ).toEqual([]);
    const existing = ["gone", "left", "made/in"].filter((path) =>
      existsSync(join(mirror.root, path)),
    );
    expect(existing).toEqual(["left", "made/in"]);
  });

  test("ignores folders that were touched locally", async () => {
    const mirror = await createMirror({ "a.txt": "a" });
    mkdirSync(join(mirror.root, "ours"));
    const isTouched = (folder: string) => folder === "ours" || folder === "theirs";
    await mirror.applyChanges(await createChanges(mirror, {}, { folders: ["theirs"], isTouched }));
    const existing = ["ours", "theirs"].filter((path) => existsSync(join(mirror.root, path)));
    expect(existing).toEqual(["ours"]);
  });

  test("replaces a folder with a file, and a file with a folder", async () => {
    const mirror = await createMirror({ "d/a.txt": "a", "f.txt": "f" });
    const changes = await createChanges(
      mirror,
      { d: "a file", "f.txt/in/it": "a folder" },
      { deleted: ["d/a.txt", "f.txt"], folders: ["f.txt", "f.txt/in"] },
    );
    expect(await mirror.applyChanges(changes)).toEqual([]);
    expect(readFiles(mirror.root)).toEqual({ d: "a file", "f.txt/in/it": "a folder" });
  });

  test("reports changes that failed and applies the rest", async () => {
    const mirror = await createMirror({ "d/a.txt": "a", "f.txt": "f" });
    const files = { d: "in the way", "f.txt/below": "a file above", "ok.txt": "ok" };
    const failed = await mirror.applyChanges(await createChanges(mirror, files));
    expect(failed.map(({ path }) => path)).toEqual(["d", "f.txt/below"]);
    expect(readFiles(mirror.root)).toEqual({ "d/a.txt": "a", "f.txt": "f", "ok.txt": "ok" });
    expect(await mirror.applyChanges(await createChanges(mirror, {}, { deleted: ["d"] }))).toEqual(
      [],
    );
    expect(existsSync(join(mirror.root, "d/a.txt"))).toBe(true);
  });

  test("keeps local files in a folder that was removed remotely, and reports missing downloads", async () => {
    const mirror = await createMirror({ "d/ours.txt": "ours" });
    const files = new Map([["x.txt", join(mirror.root, "not-there")]]);
    const failed = await mirror.applyChanges({ files, deleted: [], folders: [] });
    expect(failed).toMatchObject([{ path: "x.txt", reason: expect.stringContaining("ENOENT") }]);
    expect(readFiles(mirror.root)).toEqual({ "d/ours.txt": "ours" });
  });

  test("never writes, deletes or creates folders through a symlink that leads out of the root", async () => {
    const outside = temporaryTree({ "a.txt": "theirs" });
    const mirror = await createMirror({ "a.txt": "a" });
    symlinkSync(outside, join(mirror.root, "out"));
    const files = { "out/a.txt": "evil", "out/new/deep/b.txt": "evil" };
    const more = { deleted: ["out/a.txt"], folders: ["out/folder/in"] };
    const failed = await mirror.applyChanges(await createChanges(mirror, files, more));
    expect(failed.map(({ path }) => path)).toEqual([
      ...["out/a.txt", "out/a.txt", "out/new/deep/b.txt", "out/folder/in"],
    ]);
    for (const { reason } of failed) {
      expect(reason).toBe(
        "A symlink above it leads out of the workspace. Replace it with a folder.",
      );
    }
    expect(readFiles(outside)).toEqual({ "a.txt": "theirs" });
    expect(existsSync(join(outside, "new"))).toBe(false);
    expect(existsSync(join(outside, "folder"))).toBe(false);
  });

  test("keeps the mode of a replaced file", async () => {
    const mirror = await createMirror({ "run.sh": "a" });
    const { chmodSync } = await import("node:fs");
    chmodSync(join(mirror.root, "run.sh"), 0o755);
    await mirror.applyChanges(await createChanges(mirror, { "run.sh": "b" }));
    expect(statSync(join(mirror.root, "run.sh")).mode & 0o777).toBe(0o755);
  });

  test("sets the permission bits that code changed, and keeps files readable for their owner", async () => {
    const mirror = await createMirror({ "a.txt": "a", "b.txt": "b", "c.txt": "c" });
    const modes = new Map([
      ["a.txt", 0o750],
      ["b.txt", 0o4077],
      ["new.txt", 0o600],
    ]);
    const files = { "a.txt": "changed", "new.txt": "new" };
    expect(await mirror.applyChanges(await createChanges(mirror, files, { modes }))).toEqual([]);
    const read = (path: string) => mirror.readMode(path);
    expect(await Promise.all(["a.txt", "b.txt", "c.txt", "new.txt"].map(read))).toEqual([
      ...[0o750, 0o477, 0o644, 0o600],
    ]);
    expect([await mirror.readMode("no"), await mirror.readMode(".")]).toEqual([null, null]);
  });

  test("never sets modes through a symlink, and reports them", async () => {
    const outside = temporaryTree({ "a.txt": "theirs" });
    const mirror = await createMirror({ "a.txt": "a" });
    symlinkSync(outside, join(mirror.root, "out"));
    symlinkSync(join(outside, "a.txt"), join(mirror.root, "link"));
    const modes = new Map(["out/a.txt", "link", "gone"].map((path) => [path, 0o777]));
    const failed = await mirror.applyChanges(await createChanges(mirror, {}, { modes }));
    expect(failed.map(({ path }) => path)).toEqual(["out/a.txt", "link", "gone"]);
    expect(statSync(join(outside, "a.txt")).mode & 0o777).toBe(0o644);
  });

  test("reports a file that could not be written once, without its mode", async () => {
    const mirror = await createMirror({ "d/a.txt": "a" });
    const modes = new Map([["d", 0o755]]);
    const failed = await mirror.applyChanges(await createChanges(mirror, { d: "file" }, { modes }));
    expect(failed.map(({ path }) => path)).toEqual(["d"]);
  });

  test("reports new folders with odd names, and keeps mounted ones", async () => {
    const mirror = await createMirror({ "odd\tfolder/a.txt": "a" });
    const folders = ["odd\tfolder", "new\nfolder", "back\\slash", "plain"];
    const failed = await mirror.applyChanges(await createChanges(mirror, {}, { folders }));
    const reason = "has a name that cannot be used as a path";
    expect(failed).toEqual(["new\nfolder", "back\\slash"].map((path) => ({ path, reason })));
    const existing = folders.filter((path) => existsSync(join(mirror.root, path)));
    expect(existing).toEqual(["odd\tfolder", "plain"]);
  });

  test("computes digests of files and recognizes folders and other entries", async () => {
    const mirror = await createMirror({ "d/a.txt": "a" });
    symlinkSync("d/a.txt", join(mirror.root, "link"));
    expect([
      await mirror.computeDigest("d"),
      await mirror.computeDigest("no"),
      await mirror.computeDigest("link"),
    ]).toEqual(["folder", null, null]);
    expect(await mirror.computeDigest("d/a.txt")).toBe(
      "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
    );
  });

  test("stores the original digests of mounted files only", async () => {
    const mirror = await createMirror({ "a.txt": "a" });
    expect(mirror.original.size).toBe(0);
    await mirror.digests();
    await mirror.applyChanges(await createChanges(mirror, { "b.txt": "b" }));
    await mirror.digests();
    expect([...mirror.original.keys()]).toEqual(["a.txt"]);
    const empty = new Mirror(reserveFolder(), { plan: planMounts([], { allowedHostRoots: [] }) });
    onTestFinished(() => empty.remove());
    await empty.ready();
    await empty.applyChanges(await createChanges(empty, { "b.txt": "b" }));
    await empty.digests();
    expect([...empty.original.keys()]).toEqual([]);
  });

  test("removes its staging folders too and cannot be used again", async () => {
    const mirror = await createMirror({ "a.txt": "a" });
    const stage = await mirror.createStage();
    await mirror.remove();
    expect([existsSync(stage), existsSync(dirname(mirror.root))]).toEqual([false, false]);
    await expect(mirror.ready()).rejects.toThrow("The workspace was cleaned up. Create a new one.");
    await mirror.remove();
  });
});
