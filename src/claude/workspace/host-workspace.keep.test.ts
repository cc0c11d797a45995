import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { Session } from "../../session/session.ts";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";

const MOUNTED = { "a.txt": "one", "b.txt": "two" };

/** A mounted folder and a folder to keep its workspace in, for several processes. */
function createPlace() {
  const [mount, kept] = [temporaryTree(MOUNTED), join(temporaryTree(), "kept")];
  return {
    ...{ mount, kept },
    /** Creates the workspace of one process. */
    start(options: Partial<ClaudeAgentWorkspaceSectionOptions> = {}) {
      const section = new ClaudeAgentWorkspaceSection({
        session: new Session(),
        mounts: [{ hostPath: mount, mountPath: "." }],
        persistDir: kept,
        ...options,
      });
      onTestFinished(async () => void (await section.cleanup()));
      return section;
    },
  };
}

const change = ({ tempDir }: ClaudeAgentWorkspaceSection) => {
  appendFileSync(join(tempDir, "a.txt"), "!");
  writeFileSync(join(tempDir, "new.txt"), "new");
  rmSync(join(tempDir, "b.txt"));
};
const CHANGED = { "a.txt": "one!", "new.txt": "new" };

describe("HostWorkspace.keep()", () => {
  test("keeps the files for the next process without a store, which sees the same changes", async () => {
    const place = createPlace();
    const first = place.start();
    await first.ready();
    change(first);
    expect(await first.workspace.keep()).toBeNull();
    await first.cleanup();
    expect(existsSync(first.tempDir)).toBe(false);

    const second = place.start();
    await second.ready();
    expect(filesIn(second.tempDir)).toEqual(CHANGED);
    expect((await second.diff()).files.map(({ path, status }) => `${status} ${path}`)).toEqual([
      "changed a.txt",
      "deleted b.txt",
      "added new.txt",
    ]);
    expect(second.workspace.takeLost()).toEqual([]);
  });

  test("restores the files that were last kept, not later changes", async () => {
    const place = createPlace();
    const first = place.start();
    await first.ready();
    change(first);
    await first.workspace.keep();
    writeFileSync(join(first.tempDir, "new.txt"), "later");
    await first.cleanup();
    const second = place.start();
    await second.ready();
    expect(filesIn(second.tempDir)).toEqual(CHANGED);
  });

  test("does nothing before the first use, and without a store or persistDir", async () => {
    const place = createPlace();
    const unused = place.start();
    expect(await unused.workspace.keep()).toBeNull();
    expect(existsSync(place.kept)).toBe(false);
    const other = place.start({ persistDir: undefined });
    await other.ready();
    expect(await other.workspace.keep()).toBeNull();
    expect(existsSync(place.kept)).toBe(false);
  });

  test.each([
    ["keep", "theirs", ["a.txt"]],
    ["overwrite", "one!", []],
  ] as const)(
    "finds conflicts with the files as the first process mounted them: %s",
    async (onConflict, text, conflicting) => {
      const place = createPlace();
      const options = { onConflict, syncOnCleanup: true, syncDestination: place.mount } as const;
      const first = place.start();
      await first.ready();
      change(first);
      await first.workspace.keep();
      await first.cleanup();
      writeFileSync(join(place.mount, "a.txt"), "theirs");
      const second = place.start(options);
      await second.ready();
      const { conflicts, conflictsDir } = await second.cleanup();
      if (conflictsDir !== null) onTestFinished(() => rmSync(conflictsDir, { recursive: true }));
      expect(conflicts.map(({ path }) => path)).toEqual(conflicting);
      expect(filesIn(place.mount)).toMatchObject({ "a.txt": text, "new.txt": "new" });
      expect(filesIn(place.mount)).not.toHaveProperty(["b.txt"]);
    },
  );

  test("needs no host folder to restore its files, to compare them and to sync all of them", async () => {
    const place = createPlace();
    const first = place.start();
    const { template } = first;
    await first.ready();
    change(first);
    await first.workspace.keep();
    await first.cleanup();
    rmSync(place.mount, { recursive: true });
    const second = place.start({ syncOnCleanup: true, syncDestination: place.mount });
    expect(second.template).toBe(template);
    await second.ready();
    expect(filesIn(second.tempDir)).toEqual(CHANGED);
    expect((await second.diff()).files.map(({ path }) => path)).toEqual([
      "a.txt",
      "b.txt",
      "new.txt",
    ]);
    const { conflicts, failed } = await second.cleanup();
    expect({ conflicts, failed }).toEqual({ conflicts: [], failed: [] });
    expect(filesIn(place.mount)).toEqual(CHANGED);
  });

  test("needs no mount that is as small as when its files were mounted", async () => {
    const place = createPlace();
    const mounts = [{ hostPath: place.mount, mountPath: ".", maxBytes: 10 }];
    const first = place.start({ mounts });
    await first.ready();
    change(first);
    await first.workspace.keep();
    await first.cleanup();
    writeFileSync(join(place.mount, "b.txt"), "far too large");
    const second = place.start({ mounts });
    await second.ready();
    expect(filesIn(second.tempDir)).toEqual(CHANGED);
    expect(() => place.start({ mounts, persistDir: undefined })).toThrow(/is over its maxBytes/);
  });

  test("needs the host folder if nothing is kept", () => {
    const place = createPlace();
    rmSync(place.mount, { recursive: true });
    expect(() => place.start()).toThrow(/does not exist\. Set mounts\[0\]\.hostPath/);
  });

  test("returns a manifest for a stored session when the files have changed", async () => {
    const place = createPlace();
    const session = new Session({ store: new MemorySessionStore() });
    const section = place.start({ session });
    await section.ready();
    const manifest = await section.workspace.keep();
    expect(manifest).toMatchObject({ section: "workspace", isComplete: true, containerId: null });
    expect(Object.keys(manifest?.files ?? {})).toEqual(["a.txt", "b.txt"]);
  });
});

describe("HostWorkspace.takeLost()", () => {
  test("returns files whose kept content is damaged, once", async () => {
    const place = createPlace();
    const first = place.start();
    await first.ready();
    change(first);
    await first.workspace.keep();
    await first.cleanup();
    const blobs = join(place.kept, "blobs");
    for (const name of readdirSync(blobs))
      if (readFileSync(join(blobs, name), "utf8") === "new") rmSync(join(blobs, name));
    const second = place.start();
    await second.ready();
    expect(second.workspace.takeLost()).toMatchObject([{ path: "new.txt" }]);
    expect(second.workspace.takeLost()).toEqual([]);
    expect(filesIn(second.tempDir)).toEqual({ "a.txt": "one!" });
  });
});

test("a suspended workspace syncs nothing, and the next one continues with its files", async () => {
  const place = createPlace();
  const result = join(temporaryTree(), "result");
  const first = place.start({ syncOnCleanup: true, syncDestination: result });
  await first.ready();
  change(first);
  await first.workspace.keep();
  await first.suspend();
  expect([existsSync(result), existsSync(first.tempDir)]).toEqual([false, false]);
  const second = place.start({ syncOnCleanup: true, syncDestination: result });
  await second.ready();
  expect(filesIn(second.tempDir)).toEqual(CHANGED);
  await second.cleanup();
  expect(filesIn(result)).toEqual(CHANGED);
});

test("two processes cannot keep their files in the same folder at the same time", async () => {
  const place = createPlace();
  await place.start().ready();
  await expect(place.start().ready()).rejects.toThrow(place.kept);
});
