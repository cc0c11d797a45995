import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { digestFolder } from "../digests/folder-digest.ts";
import { isKeptPlan } from "./kept-mount-plan.ts";
import { MountedFolder, materialize } from "./mounted-folder.ts";
import { planKeptMounts } from "./plan-kept-mounts.ts";
import { planMounts } from "./plan-mounts.ts";

/** Plans mounts from the host, and from a copy of their files. */
async function planTwice(mounts: Parameters<typeof planMounts>[0]) {
  const plan = planMounts(mounts, { allowedHostRoots: "any" });
  await using copy = await materialize(plan);
  return { plan, kept: planKeptMounts(mounts, digestFolder(copy.directory)) };
}

describe("planKeptMounts()", () => {
  test("describes the mounts like the plan that their files were copied by", async () => {
    const host = temporaryTree({ "a.txt": "1", "b/c.txt": "22", "b-c": "3", "e/f": null });
    const one = temporaryTree({ "one.txt": "one" });
    const mounts = [
      { hostPath: host, mountPath: "x/p" },
      { hostPath: join(one, "one.txt"), mountPath: "x/renamed.txt" },
      { hostPath: join(host, "b") },
    ];
    const { plan, kept } = await planTwice(mounts);
    expect(kept.previews).toEqual(plan.previews);
    const list = ({ files }: typeof plan) =>
      files.map(({ hostPath, mountPath, bytes }) => ({ hostPath, mountPath, bytes }));
    expect(list(kept)).toEqual(list(plan));
    expect([isKeptPlan(kept), isKeptPlan(plan)]).toEqual([true, false]);
  });

  test("describes a mount at the root, and names at most 20 files", async () => {
    const names = Array.from({ length: 25 }, (_, index) => [`${index}`, ""]);
    const hostPath = temporaryTree(Object.fromEntries(names));
    const { plan, kept } = await planTwice([{ hostPath, mountPath: "." }]);
    expect(kept.previews).toEqual(plan.previews);
    expect(kept.previews).toMatchObject([{ files: 25, truncated: true }]);
  });

  test("refuses invalid mounts", () => {
    const nothing = { files: new Map(), folders: new Map() };
    expect(() => planKeptMounts([{ hostPath: "" }], nothing)).toThrow(/mounts\[0\]\.hostPath/);
  });
});

describe("a MountedFolder with a kept plan", () => {
  test("finds the sources and mounted folders that this host has", async () => {
    const [host, gone] = [temporaryTree({ a: "1", b: "2" }), temporaryTree({ c: "3" })];
    const mounts = [
      { hostPath: host, mountPath: "p" },
      { hostPath: gone, mountPath: "q" },
    ];
    const { kept } = await planTwice(mounts);
    rmSync(join(host, "b"));
    rmSync(gone, { recursive: true });
    const folder = new MountedFolder({ plan: kept });
    expect(folder.mountRoots).toEqual([{ hostPath: host, mountPath: "p" }]);
    expect(folder.findSource("p/a")).toMatchObject({ hostPath: join(host, "a"), mode: 0o100644 });
    expect([folder.findSource("p/b"), folder.findSource("q/c")]).toEqual([null, null]);
    expect(folder.findSource("elsewhere")).toBeNull();
    mkdirSync(gone);
    onTestFinished(() => rmSync(gone, { recursive: true }));
    writeFileSync(join(gone, "c"), "3");
    expect(folder.findSource("q/c")).toMatchObject({ hostPath: join(gone, "c") });
  });
});
