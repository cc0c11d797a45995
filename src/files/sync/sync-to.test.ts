import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { quickClock } from "../../../tests/support/quick-clock.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { ByteProgress } from "../../base/track-bytes.ts";
import { digestFolder } from "../digests/folder-digest.ts";
import type { SyncFailure } from "./sync-failure.ts";
import { notSynced } from "./sync-report.ts";
import { createSyncFolder, type SyncToOptions, syncTo } from "./sync-to.ts";

/** Creates a workspace that was mounted with some files, optionally from a folder, and now has other files. */
function createWorkspace(mounted: Readonly<Record<string, string>>, now: Tree, from?: string) {
  const root = temporaryTree(now);
  return {
    ...{ root, now: digestFolder(root), mounted: digestFolder(temporaryTree(mounted)) },
    mountRoots: from === undefined ? [] : [{ hostPath: join(from, "p"), mountPath: "p" }],
    findSource: (path: string) =>
      from && path in mounted ? { hostPath: join(from, path), mode: 0o644 } : null,
  };
}

function createOptions(failed: readonly SyncFailure[] = []): SyncToOptions {
  return { onConflict: "keep", record: { files: new Map(), folders: new Set() }, failed };
}

describe("syncTo()", () => {
  test("reports files added, changed and deleted since they were mounted", async () => {
    const source = createWorkspace(
      { "p/same": "1", "p/other": "2", "p/gone": "3" },
      { "p/same": "1", "p/other": "2!", "q/new": "4" },
    );
    const to = temporaryTree({ "p/gone": "3", theirs: "t" });
    expect(await syncTo(to, source, createOptions([{ path: "x", reason: "no" }]))).toEqual({
      directory: to,
      ...{ added: ["q/new"], changed: ["p/other"], deleted: ["p/gone"] },
      failed: [{ path: "x", reason: "no" }],
      ...{ conflicts: [], conflictsDir: null, keptIn: null },
    });
    expect(filesIn(to)).toEqual({ "p/same": "1", "p/other": "2!", "q/new": "4", theirs: "t" });
  });

  test("reports the bytes of the files that it writes", async () => {
    const reports: ByteProgress[] = [];
    const onProgress = (one: ByteProgress) => void reports.push(one);
    const source = createWorkspace({}, { "p/a": "12345", "p/b": "678", gone: "9" });
    rmSync(join(source.root, "gone")); // it counts as 0 bytes
    const progress = { clock: quickClock, onProgress };
    const { added } = await syncTo(temporaryTree(), source, { ...createOptions(), progress });
    expect(added).toEqual(expect.arrayContaining(["p/a", "p/b"]));
    expect(reports.at(-1)).toEqual({ step: "fetch", doneBytes: 8, totalBytes: 8 });
  });

  test("does not overwrite the source of an unchanged file", async () => {
    const to = temporaryTree({ "p/a": "newer", "p/b": "2" });
    const source = createWorkspace({ "p/a": "1", "p/b": "2" }, { "p/a": "1", "p/b": "2!" }, to);
    const report = await syncTo(to, source, createOptions());
    expect(report).toMatchObject({ changed: ["p/b"], failed: [], conflicts: [] });
    expect(filesIn(to)).toEqual({ "p/a": "newer", "p/b": "2!" });
  });

  test("copies all files to conflictsDir if some cannot be written", async () => {
    const outside = temporaryTree({ a: "theirs" });
    const to = temporaryTree({ "q/x": "x" });
    symlinkSync(outside, join(to, "p"));
    const source = createWorkspace({}, { "p/a": "1", "q/b": "2" });
    const { failed, conflicts, conflictsDir, keptIn } = await syncTo(to, source, createOptions());
    onTestFinished(() => rmSync(conflictsDir ?? "", { recursive: true }));
    expect(failed).toMatchObject([{ path: "p" }, { path: "p/a" }]);
    expect(conflicts).toEqual([]);
    expect(keptIn).toBe(conflictsDir);
    expect(filesIn(conflictsDir ?? "")).toEqual({ "p/a": "1", "q/b": "2" });
    expect(filesIn(outside)).toEqual({ a: "theirs" });
  });

  test("reports the failure if the copy of all files cannot be saved either", async () => {
    const to = join(temporaryTree({ file: "x" }), "file/below");
    vi.stubEnv("TMPDIR", "/proc/nowhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    const source = createWorkspace({}, { "p/a": "1" });
    const { failed, conflictsDir } = await syncTo(to, source, createOptions());
    expect(conflictsDir).toBeNull();
    expect(failed).toMatchObject([{ path: "p/a" }, { path: "." }]);
  });

  test("creates a new default folder for every sync", async () => {
    const folders = [await createSyncFolder(), await createSyncFolder()];
    onTestFinished(() => {
      for (const folder of folders) rmSync(folder, { recursive: true });
    });
    expect(new Set(folders).size).toBe(2);
    expect(folders.map(filesIn)).toEqual([{}, {}]);
  });

  test("has an empty, frozen report for no sync", () => {
    expect(notSynced).toMatchObject({ directory: null, added: [], failed: [], conflicts: [] });
    expect(notSynced).toMatchObject({ conflictsDir: null, keptIn: null });
    expect(notSynced.added).toSatisfy(Object.isFrozen);
  });
});
