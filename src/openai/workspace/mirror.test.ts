import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { filesIn } from "../../../tests/support/workspace/stage.ts";
import { planMounts } from "../../files/mounts/mount-plan.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { type FoundChanges, Mirror } from "./mirror.ts";

async function mirrored(tree: Readonly<Record<string, string>>): Promise<Mirror> {
  const plan = planMounts([{ hostPath: temporaryTree(tree), mountPath: "." }], {
    allowedHostRoots: "any",
  });
  const mirror = new Mirror(reserveFolder(), { plan });
  onTestFinished(() => mirror.remove());
  await mirror.ready();
  return mirror;
}

/** Found files, as they wait in a folder beside the mirror. */
async function found(
  mirror: Mirror,
  files: Readonly<Record<string, string>>,
  more: Partial<FoundChanges> = {},
): Promise<FoundChanges> {
  const stage = await mirror.stage();
  const places = Object.entries(files).map(([path, text], index) => {
    const at = join(stage, String(index));
    writeFileSync(at, text);
    return [path, at] as const;
  });
  return { files: new Map(places), deleted: [], folders: null, ...more };
}

describe("a mirror", () => {
  test("takes over what was made, changed and deleted", async () => {
    const mirror = await mirrored({ "a.txt": "a", "b.txt": "b", "d/c.txt": "c" });
    const files = { "a.txt": "changed", "new/deep/x.txt": "x" };
    const changes = await found(mirror, files, { deleted: ["b.txt", "d/c.txt", "not-there"] });
    expect(await mirror.apply(changes)).toEqual([]);
    expect(filesIn(mirror.root)).toEqual({ "a.txt": "changed", "new/deep/x.txt": "x" });
    expect(existsSync(join(mirror.root, "d"))).toBe(false);
  });

  test("keeps a folder that holds something else, and the root", async () => {
    const mirror = await mirrored({ "d/c.txt": "c", "d/e.txt": "e", "f.txt": "f" });
    const changes = await found(mirror, {}, { deleted: ["d/c.txt", "f.txt"] });
    expect(await mirror.apply(changes)).toEqual([]);
    expect(filesIn(mirror.root)).toEqual({ "d/e.txt": "e" });
  });

  test("has the folders that there are, if that is known", async () => {
    const mirror = await mirrored({ "gone/a.txt": "a", "left/b.txt": "b" });
    const folders = ["left", "made", "made/in"];
    const deleted = ["gone/a.txt", "left/b.txt"];
    expect(await mirror.apply(await found(mirror, {}, { deleted, folders }))).toEqual([]);
    const there = ["gone", "left", "made/in"].filter((path) => existsSync(join(mirror.root, path)));
    expect(there).toEqual(["left", "made/in"]);
  });

  test("leaves a folder alone that was touched here", async () => {
    const mirror = await mirrored({ "a.txt": "a" });
    mkdirSync(join(mirror.root, "ours"));
    const isTouched = (folder: string) => folder === "ours" || folder === "theirs";
    await mirror.apply(await found(mirror, {}, { folders: ["theirs"], isTouched }));
    const there = ["ours", "theirs"].filter((path) => existsSync(join(mirror.root, path)));
    expect(there).toEqual(["ours"]);
  });

  test("puts a file where a folder was, and a folder where a file was", async () => {
    const mirror = await mirrored({ "d/a.txt": "a", "f.txt": "f" });
    const changes = await found(
      mirror,
      { d: "a file", "f.txt/in/it": "a folder" },
      { deleted: ["d/a.txt", "f.txt"], folders: ["f.txt", "f.txt/in"] },
    );
    expect(await mirror.apply(changes)).toEqual([]);
    expect(filesIn(mirror.root)).toEqual({ d: "a file", "f.txt/in/it": "a folder" });
  });

  test("says what it could not take over, and takes the rest", async () => {
    const mirror = await mirrored({ "d/a.txt": "a", "f.txt": "f" });
    const files = { d: "in the way", "f.txt/below": "a file above", "ok.txt": "ok" };
    const failed = await mirror.apply(await found(mirror, files));
    expect(failed.map(({ path }) => path)).toEqual(["d", "f.txt/below"]);
    expect(filesIn(mirror.root)).toEqual({ "d/a.txt": "a", "f.txt": "f", "ok.txt": "ok" });
    expect(await mirror.apply(await found(mirror, {}, { deleted: ["d"] }))).toEqual([]);
    expect(existsSync(join(mirror.root, "d/a.txt"))).toBe(true);
  });

  test("keeps what is only here of a folder that is gone there, and says what has vanished", async () => {
    const mirror = await mirrored({ "d/ours.txt": "ours" });
    const files = new Map([["x.txt", join(mirror.root, "not-there")]]);
    const failed = await mirror.apply({ files, deleted: [], folders: [] });
    expect(failed).toMatchObject([{ path: "x.txt", reason: expect.stringContaining("ENOENT") }]);
    expect(filesIn(mirror.root)).toEqual({ "d/ours.txt": "ours" });
  });

  test("does nothing through a link that leads out, and makes no folder there", async () => {
    const outside = temporaryTree({ "a.txt": "theirs" });
    const mirror = await mirrored({ "a.txt": "a" });
    symlinkSync(outside, join(mirror.root, "out"));
    const files = { "out/a.txt": "evil", "out/new/deep/b.txt": "evil" };
    const more = { deleted: ["out/a.txt"], folders: ["out/folder/in"] };
    const failed = await mirror.apply(await found(mirror, files, more));
    expect(failed.map(({ path }) => path)).toEqual([
      ...["out/a.txt", "out/a.txt", "out/new/deep/b.txt", "out/folder/in"],
    ]);
    for (const { reason } of failed) {
      expect(reason).toBe("A symlink above it leads out of the workspace. Replace it with a folder.");
    }
    expect(filesIn(outside)).toEqual({ "a.txt": "theirs" });
    expect(existsSync(join(outside, "new"))).toBe(false);
    expect(existsSync(join(outside, "folder"))).toBe(false);
  });

  test("keeps the mode of what is replaced", async () => {
    const mirror = await mirrored({ "run.sh": "a" });
    const { chmodSync } = await import("node:fs");
    chmodSync(join(mirror.root, "run.sh"), 0o755);
    await mirror.apply(await found(mirror, { "run.sh": "b" }));
    expect(statSync(join(mirror.root, "run.sh")).mode & 0o777).toBe(0o755);
  });

  test("knows files, folders and what is neither", async () => {
    const mirror = await mirrored({ "d/a.txt": "a" });
    symlinkSync("d/a.txt", join(mirror.root, "link"));
    expect([
      await mirror.digestOf("d"),
      await mirror.digestOf("no"),
      await mirror.digestOf("link"),
    ]).toEqual(["folder", null, null]);
    expect(await mirror.digestOf("d/a.txt")).toBe(
      "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
    );
  });

  test("knows what was mounted, and what is all new", async () => {
    const mirror = await mirrored({ "a.txt": "a" });
    expect(mirror.original.size).toBe(0);
    await mirror.digests();
    await mirror.apply(await found(mirror, { "b.txt": "b" }));
    await mirror.digests();
    expect([...mirror.original.keys()]).toEqual(["a.txt"]);
    const empty = new Mirror(reserveFolder(), { plan: planMounts([], { allowedHostRoots: [] }) });
    onTestFinished(() => empty.remove());
    await empty.ready();
    await empty.apply(await found(empty, { "b.txt": "b" }));
    await empty.digests();
    expect([...empty.original.keys()]).toEqual([]);
  });

  test("is gone with all that is beside it, and cannot be used again", async () => {
    const mirror = await mirrored({ "a.txt": "a" });
    const stage = await mirror.stage();
    await mirror.remove();
    expect([existsSync(stage), existsSync(dirname(mirror.root))]).toEqual([false, false]);
    await expect(mirror.ready()).rejects.toThrow("The workspace was cleaned up. Create a new one.");
    await mirror.remove();
  });
});
