import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { readOriginalText } from "../digests/baseline.ts";
import { digestFolder } from "../digests/folder-digest.ts";
import { MountedFolder } from "./mounted-folder.ts";
import { planMounts } from "./plan-mounts.ts";

function createMountedFolder(tree: Tree) {
  const host = temporaryTree(tree);
  const plan = planMounts([{ hostPath: host, mountPath: "p" }], { allowedHostRoots: "any" });
  const folder = new MountedFolder({ plan });
  onTestFinished(() => folder.remove());
  return { host, folder };
}

describe("MountedFolder", () => {
  test("copies the files once, on first use", async () => {
    const { host, folder } = createMountedFolder({ a: "1", "b/c": "2" });
    expect(existsSync(dirname(folder.root))).toBe(false);
    const [one, other] = await Promise.all([folder.ready(), folder.ready()]);
    expect(other).toBe(one);
    expect(await one.readText("p/b/c")).toBe("2");
    writeFileSync(join(host, "a"), "later");
    await folder.ready();
    expect(filesIn(folder.root)).toEqual({ "p/a": "1", "p/b/c": "2" });
  });

  test("lists files with private keys as withheld once the files are copied", async () => {
    const key = `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC".repeat(2)}\n`;
    const { folder } = createMountedFolder({ a: "1", "notes.txt": key });
    expect(folder.previews).toMatchObject([{ files: 2, withheld: [] }]);
    await folder.ready();
    expect(folder.previews).toMatchObject([
      { files: 1, bytes: 1, entries: ["a"], withheld: ["notes.txt"] },
    ]);
    expect(filesIn(folder.root)).toEqual({ "p/a": "1" });
  });

  test("returns the source and the original state of its files", async () => {
    const { host, folder } = createMountedFolder({ a: "1", "e/f": null });
    expect(folder.baseline.files.size).toBe(0);
    const files = await folder.ready();
    const { files: before, folders } = digestFolder(folder.root);
    await files.writeText("p/a", "2");
    await files.writeText("p/b", "3");
    expect(folder.baseline).toMatchObject({ files: before, folders });
    expect(readOriginalText(folder.baseline, "p/a")).toBe("1");
    expect(folder.findSource("p/a")).toMatchObject({ hostPath: join(host, "a"), bytes: 1 });
    expect(folder.findSource("p/b")).toBeNull();
    expect(folder.mountRoots).toEqual([{ hostPath: host, mountPath: "p" }]);
  });

  test("records the files of an existing folder without keeping their text", async () => {
    const root = temporaryTree({ a: "1" });
    const folder = new MountedFolder({ root });
    onTestFinished(() => folder.remove());
    await folder.ready();
    expect(folder.baseline).toMatchObject({ files: digestFolder(root).files, originals: null });
    expect(readFileSync(join(root, "a"), "utf8")).toBe("1");
  });

  test("leaves nothing behind if copying fails, and can be retried", async () => {
    const { host, folder } = createMountedFolder({ a: "1" });
    renameSync(join(host, "a"), join(host, "b"));
    await expect(folder.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(dirname(folder.root))).toBe(false);
    renameSync(join(host, "b"), join(host, "a"));
    await folder.ready();
    expect(filesIn(folder.root)).toEqual({ "p/a": "1" });
  });

  test("can be removed while copying fails", async () => {
    const { host, folder } = createMountedFolder({ a: "1" });
    renameSync(join(host, "a"), join(host, "b"));
    const filling = expect(folder.ready()).rejects.toMatchObject({ code: "ENOENT" });
    await folder.remove();
    await filling;
    expect(existsSync(dirname(folder.root))).toBe(false);
  });

  test("removes all files, even while they are copied", async () => {
    const { folder } = createMountedFolder({ a: "1" });
    const filling = folder.ready();
    await folder.remove();
    await filling;
    expect(existsSync(dirname(folder.root))).toBe(false);
    await folder.remove();
    await expect(folder.ready()).rejects.toThrow("The workspace was cleaned up. Create a new one.");
  });
});
