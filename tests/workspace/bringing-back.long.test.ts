import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesIn, repository, workspaceStage } from "../support/workspace/stage.ts";

describe("a workspace that is brought back", () => {
  it("into the folder it was mounted from leaves alone what only the user changed there", async () => {
    const folder = repository({ "p/a.txt": "a\n", "p/b.txt": "b\n", "p/.env": "KEY=1\n" });
    const code = 'open("/mnt/data/p/a.txt", "w").write("by code\\n") and None';
    const stage = await workspaceStage([[{ code }], [{ say: "Done." }]]);
    const section = stage.section({
      mounts: [{ hostPath: join(folder, "p") }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: folder,
    });
    await stage.run(section);
    writeFileSync(join(folder, "p/b.txt"), "by the user\n");
    expect(await section.cleanup()).toMatchObject({ changed: ["p/a.txt"], failed: [] });
    expect(filesIn(folder)).toEqual({
      "p/.env": "KEY=1\n",
      "p/a.txt": "by code\n",
      "p/b.txt": "by the user\n",
    });
  });

  it("into another folder is brought back whole, over what was there", async () => {
    const folder = repository({ "a.txt": "new\n" });
    const results = repository({ "p/a.txt": "old\n", "p/other.txt": "stays\n" });
    const stage = await workspaceStage([[{ code: "1" }], [{ say: "Done." }]]);
    const section = stage.section({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: results,
    });
    await stage.run(section);
    expect(await section.cleanup()).toMatchObject({ changed: [], failed: [] });
    expect(filesIn(results)).toEqual({ "p/a.txt": "new\n", "p/other.txt": "stays\n" });
  });

  it("is nothing where its mounts could never be copied, and cleaning up does not fail for it", async () => {
    const folder = repository({ "a.txt": "a\n" });
    const stage = await workspaceStage([]);
    const section = stage.section({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
    });
    rmSync(join(folder, "a.txt"));
    await expect(stage.run(section)).rejects.toThrow("does not exist: plan the mounts again");
    expect(await section.cleanup()).toMatchObject({ directory: null, failed: [] });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });
});

describe("a workspace whose destination cannot be written", () => {
  it("is kept whole in another folder, which the report names", async () => {
    const folder = repository({ "a.txt": "a\n" });
    const closed = repository({ file: "no folder" });
    const code = 'open("/mnt/data/p/b.txt", "w").write("by code\\n") and None';
    const stage = await workspaceStage([[{ code }], [{ say: "Done." }]]);
    const section = stage.section({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: join(closed, "file", "below"),
    });
    await stage.run(section);
    const { failed, keptIn } = await section.cleanup();
    expect(failed.map(({ path }) => path)).toEqual(["p/a.txt", "p/b.txt"]);
    expect(filesIn(keptIn ?? "")).toEqual({ "p/a.txt": "a\n", "p/b.txt": "by code\n" });
    rmSync(keptIn ?? "", { recursive: true });
  });
});
