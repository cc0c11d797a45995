import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { digestFiles } from "../digests/digest-files.ts";
import { createSyncFolder, notSynced, syncTo } from "./sync-report.ts";

/** Creates a workspace that was mounted with some files, optionally from a folder, and now has other files. */
function createWorkspace(mounted: Readonly<Record<string, string>>, now: Tree, from?: string) {
  const root = temporaryTree(now);
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  return {
    root,
    original: new Map(Object.entries(mounted).map(([path, text]) => [path, digest(text)])),
    sourceOf: (path: string) => (from && path in mounted ? join(from, path) : null),
    digests: () => digestFiles(root),
  };
}

describe("syncTo()", () => {
  test("reports files added, changed and deleted since they were mounted", async () => {
    const source = createWorkspace(
      { "p/same": "1", "p/other": "2", "p/gone": "3" },
      { "p/same": "1", "p/other": "2!", "q/new": "4" },
    );
    const to = temporaryTree({ "p/gone": "3", theirs: "t" });
    expect(await syncTo(to, source, [{ path: "x", reason: "no" }])).toEqual({
      directory: to,
      ...{ added: ["q/new"], changed: ["p/other"], deleted: ["p/gone"] },
      failed: [{ path: "x", reason: "no" }],
      keptIn: null,
    });
    expect(filesIn(to)).toEqual({ "p/same": "1", "p/other": "2!", "q/new": "4", theirs: "t" });
  });

  test("does not overwrite the source of an unchanged file", async () => {
    const to = temporaryTree({ "p/a": "newer", "p/b": "newer" });
    const source = createWorkspace({ "p/a": "1", "p/b": "2" }, { "p/a": "1", "p/b": "2!" }, to);
    expect(await syncTo(to, source, [])).toMatchObject({ changed: ["p/b"], failed: [] });
    expect(filesIn(to)).toEqual({ "p/a": "newer", "p/b": "2!" });
  });

  test("copies all files to another folder if some cannot be written", async () => {
    const to = temporaryTree({ "p/a/in-the-way": "x" });
    const source = createWorkspace({}, { "p/a": "1", "p/b": "2" });
    const { failed, keptIn } = await syncTo(to, source, []);
    onTestFinished(() => rmSync(keptIn ?? "", { recursive: true }));
    expect(failed).toMatchObject([{ path: "p/a" }]);
    expect(filesIn(keptIn ?? "")).toEqual({ "p/a": "1", "p/b": "2" });
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
    expect(notSynced).toMatchObject({ directory: null, added: [], failed: [], keptIn: null });
    expect(notSynced.added).toSatisfy(Object.isFrozen);
  });
});
