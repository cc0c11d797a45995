import { existsSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  createContainerFaultFixture,
  type TaskScript,
} from "../support/workspace/container-fault-fixture.ts";
import { PATH_LOOKUP } from "../support/workspace/reference-folder.ts";
import {
  createRepository,
  createWorkspaceFixture,
  readFiles,
} from "../support/workspace/workspace-fixture.ts";

describe("syncing a workspace on cleanup", () => {
  it("does not overwrite files in the mounted folder that only the user changed", async () => {
    const folder = createRepository({ "p/a.txt": "a\n", "p/b.txt": "b\n", "p/.env": "KEY=1\n" });
    const code = 'open("/mnt/data/p/a.txt", "w").write("by code\\n") and None';
    const fixture = await createWorkspaceFixture([[{ code }], [{ say: "Done." }]]);
    const section = fixture.createSection({
      mounts: [{ hostPath: join(folder, "p") }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: folder,
    });
    await fixture.run(section);
    writeFileSync(join(folder, "p/b.txt"), "by the user\n");
    expect(await section.cleanup()).toMatchObject({ changed: ["p/a.txt"], failed: [] });
    expect(readFiles(folder)).toEqual({
      "p/.env": "KEY=1\n",
      "p/a.txt": "by code\n",
      "p/b.txt": "by the user\n",
    });
  });

  it.each(["bootstrap", "files"] as const)(
    "syncs all files that code wrote with unpack %j if the container expires after the answer",
    async (unpack) => {
      const folder = createRepository({ "a.txt": "one\n", "gone.txt": "gone\n" });
      const code = `${PATH_LOOKUP}
open(at("p/a.txt"), "a").write("two\\n")
open("new.bin", "wb").write(bytes(range(256)))
os.remove(at("p/gone.txt"))`;
      const script: TaskScript = (_, items) =>
        items.some(({ type }) => type === "code_interpreter_call")
          ? [{ say: "Done." }]
          : [{ code }];
      const mounts = [{ hostPath: folder, mountPath: "p" }];
      const { section, evaluate, kill, relay } = await createContainerFaultFixture(script, {
        section: { mounts, unpack, syncOnCleanup: true },
      });
      expect(await evaluate("Look.")).toBe("Done.");
      await kill("expired")(section.containerId ?? "");
      const sent = relay.requests.length;
      expect(await section.cleanup()).toMatchObject({ failed: [] });
      expect(relay.requests).toHaveLength(sent);
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString("latin1");
      expect(readFiles(section.syncedDir ?? "")).toEqual({
        "new.bin": bytes,
        "p/a.txt": "one\ntwo\n",
      });
    },
  );

  it.each([
    ["keeps existing files that differ", undefined, "old\n"],
    ['overwrites existing files with onConflict: "overwrite"', "overwrite", "new\n"],
  ] as const)("writes all files to another folder and %s", async (_, onConflict, text) => {
    const folder = createRepository({ "a.txt": "new\n" });
    const results = createRepository({ "p/a.txt": "old\n", "p/other.txt": "stays\n" });
    const fixture = await createWorkspaceFixture([[{ code: "1" }], [{ say: "Done." }]]);
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: results,
      onConflict,
    });
    await fixture.run(section);
    const { changed, failed, conflicts, conflictsDir } = await section.cleanup();
    expect({ changed, failed }).toEqual({ changed: [], failed: [] });
    expect(conflicts).toHaveLength(onConflict === undefined ? 1 : 0);
    expect(readFiles(results)).toEqual({ "p/a.txt": text, "p/other.txt": "stays\n" });
    if (conflictsDir !== null) {
      expect(readFiles(conflictsDir)).toEqual({ "p/a.txt": "new\n" });
      rmSync(conflictsDir, { recursive: true });
    }
  });

  it("syncs nothing and does not fail if the mounts were never copied", async () => {
    const folder = createRepository({ "a.txt": "a\n" });
    const fixture = await createWorkspaceFixture([]);
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
    });
    rmSync(join(folder, "a.txt"));
    await expect(fixture.run(section)).rejects.toThrow(
      "does not exist. Create the workspace section or the plan again",
    );
    expect(await section.cleanup()).toMatchObject({ directory: null, failed: [] });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });
});

describe("syncing a workspace to a destination that cannot be written", () => {
  it("copies all files to another folder, which the report names", async () => {
    const folder = createRepository({ "a.txt": "a\n" });
    const closed = createRepository({ file: "no folder" });
    const code = 'open("/mnt/data/p/b.txt", "w").write("by code\\n") and None';
    const fixture = await createWorkspaceFixture([[{ code }], [{ say: "Done." }]]);
    const section = fixture.createSection({
      mounts: [{ hostPath: folder, mountPath: "p" }],
      allowedHostRoots: [folder],
      syncOnCleanup: true,
      syncDestination: join(closed, "file", "below"),
    });
    await fixture.run(section);
    const { failed, keptIn } = await section.cleanup();
    expect(failed.map(({ path }) => path)).toEqual(["p/a.txt", "p/b.txt"]);
    expect(readFiles(keptIn ?? "")).toEqual({ "p/a.txt": "a\n", "p/b.txt": "by code\n" });
    rmSync(keptIn ?? "", { recursive: true });
  });
});
