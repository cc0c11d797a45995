import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { type Tree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { digestFiles } from "../digests/file-digests.ts";
import { newSyncFolder, notSynced, syncTo } from "./sync-report.ts";

/** A workspace that was mounted with some files, of this folder if one is named, and has others. */
function workspace(mounted: Readonly<Record<string, string>>, now: Tree, from?: string) {
  const root = temporaryTree(now);
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  return {
    root,
    original: new Map(Object.entries(mounted).map(([path, text]) => [path, digest(text)])),
    sourceOf: (path: string) => (from && path in mounted ? join(from, path) : null),
    digests: () => digestFiles(root),
  };
}

describe("bringing files to a folder", () => {
  test("says what is new, other and gone since they were mounted", async () => {
    const source = workspace(
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

  test("leaves what nobody changed as it is where it was copied from", async () => {
    const to = temporaryTree({ "p/a": "newer", "p/b": "newer" });
    const source = workspace({ "p/a": "1", "p/b": "2" }, { "p/a": "1", "p/b": "2!" }, to);
    expect(await syncTo(to, source, [])).toMatchObject({ changed: ["p/b"], failed: [] });
    expect(filesIn(to)).toEqual({ "p/a": "newer", "p/b": "2!" });
  });

  test("keeps all of them elsewhere where some cannot be written", async () => {
    const to = temporaryTree({ "p/a/in-the-way": "x" });
    const source = workspace({}, { "p/a": "1", "p/b": "2" });
    const { failed, keptIn } = await syncTo(to, source, []);
    onTestFinished(() => rmSync(keptIn ?? "", { recursive: true }));
    expect(failed).toMatchObject([{ path: "p/a" }]);
    expect(filesIn(keptIn ?? "")).toEqual({ "p/a": "1", "p/b": "2" });
  });

  test("into a folder of its own is into a new one each time", async () => {
    const folders = [await newSyncFolder(), await newSyncFolder()];
    onTestFinished(() => {
      for (const folder of folders) rmSync(folder, { recursive: true });
    });
    expect(new Set(folders).size).toBe(2);
    expect(folders.map(filesIn)).toEqual([{}, {}]);
  });

  test("not at all is a report of nothing, which nobody can change", () => {
    expect(notSynced).toMatchObject({ directory: null, added: [], failed: [], keptIn: null });
    expect(notSynced.added).toSatisfy(Object.isFrozen);
  });
});
