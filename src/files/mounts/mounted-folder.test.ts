import { existsSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { digestFiles } from "../digests/file-digests.ts";
import { planMounts } from "./mount-plan.ts";
import { MountedFolder } from "./mounted-folder.ts";

function mounted(tree: Tree, { keepsDigests = true } = {}) {
  const host = temporaryTree(tree);
  const plan = planMounts([{ hostPath: host, mountPath: "p" }], { allowedHostRoots: "any" });
  const folder = new MountedFolder({ plan }, { keepsDigests });
  onTestFinished(() => folder.remove());
  return { host, folder };
}

describe("a mounted folder", () => {
  test("is a name until it is used, and then holds copies, made once", async () => {
    const { host, folder } = mounted({ a: "1", "b/c": "2" });
    expect(existsSync(dirname(folder.root))).toBe(false);
    const [one, other] = await Promise.all([folder.ready(), folder.ready()]);
    expect(other).toBe(one);
    expect(await one.readText("p/b/c")).toBe("2");
    writeFileSync(join(host, "a"), "later");
    await folder.ready();
    expect(filesIn(folder.root)).toEqual({ "p/a": "1", "p/b/c": "2" });
  });

  test("knows where its files are from, and what they were at first", async () => {
    const { host, folder } = mounted({ a: "1" });
    const files = await folder.ready();
    const before = await digestFiles(folder.root);
    await files.writeText("p/a", "2");
    await files.writeText("p/b", "3");
    expect(folder.original).toEqual(before);
    expect([folder.sourceOf("p/a"), folder.sourceOf("p/b")]).toEqual([join(host, "a"), null]);
  });

  test("reads nothing twice where nobody will ask", async () => {
    const { folder } = mounted({ a: "1" }, { keepsDigests: false });
    await folder.ready();
    expect(folder.original.size).toBe(0);
    expect(filesIn(folder.root)).toEqual({ "p/a": "1" });
  });

  test("that could not be filled leaves nothing, and may be tried again", async () => {
    const { host, folder } = mounted({ a: "1" });
    renameSync(join(host, "a"), join(host, "b"));
    await expect(folder.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(dirname(folder.root))).toBe(false);
    renameSync(join(host, "b"), join(host, "a"));
    await folder.ready();
    expect(filesIn(folder.root)).toEqual({ "p/a": "1" });
  });

  test("can be removed while it fails to be filled", async () => {
    const { host, folder } = mounted({ a: "1" });
    renameSync(join(host, "a"), join(host, "b"));
    const filling = expect(folder.ready()).rejects.toMatchObject({ code: "ENOENT" });
    await folder.remove();
    await filling;
    expect(existsSync(dirname(folder.root))).toBe(false);
  });

  test("is gone with all it holds when it is removed, even while it is filled", async () => {
    const { folder } = mounted({ a: "1" });
    const filling = folder.ready();
    await folder.remove();
    await filling;
    expect(existsSync(dirname(folder.root))).toBe(false);
    await folder.remove();
    await expect(folder.ready()).rejects.toThrow("The workspace was cleaned up: make a new one");
  });
});
