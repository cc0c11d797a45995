import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { claimRunFolder, removeRunFolders } from "./claim-run-folder.ts";

const runId = "3b1e0c52-0f4e-4f7e-9a47-6a2f3c0f7f10";
const otherId = "3b1e0c52-0f4e-4f7e-9a47-6a2f3c0f7f11";

describe("claimRunFolder()", () => {
  test("returns the folder of the run's earlier attempts, once they have released it", async () => {
    const root = join(temporaryTree(), "files");
    const first = await claimRunFolder(root, { runId, attempt: 1 });
    expect(first.path).toBe(join(root, runId));
    await first.release();
    const second = await claimRunFolder(root, { runId, attempt: 2 });
    expect(second.path).toBe(first.path);
    await second.release();
  });

  test("returns another folder while an earlier attempt uses the first one", async () => {
    const root = temporaryTree();
    const first = await claimRunFolder(root, { runId, attempt: 1 });
    const second = await claimRunFolder(root, { runId, attempt: 2 });
    expect(second.path).toBe(join(root, `${runId}.2`));
    await second.release();
    await first.release();
  });
});

describe("removeRunFolders()", () => {
  const fill = (path: string) => {
    mkdirSync(path);
    writeFileSync(join(path, "file"), "content");
  };

  test("removes only the folders of runs that have ended", async () => {
    const root = temporaryTree({ "notes.txt": "mine" });
    const names = [runId, `${runId}.3`, otherId];
    for (const name of names) fill(join(root, name));
    const asked: string[] = [];
    await removeRunFolders(root, async (ids) => {
      asked.push(...ids);
      return new Set([runId]);
    });
    expect(asked.sort()).toEqual([runId, otherId]);
    expect(names.map((name) => existsSync(join(root, name)))).toEqual([false, false, true]);
    expect(existsSync(join(root, "notes.txt"))).toBe(true);
  });

  test("keeps a folder that an attempt still uses", async () => {
    const root = temporaryTree();
    const claim = await claimRunFolder(root, { runId, attempt: 1 });
    fill(claim.path);
    await removeRunFolders(root, async (ids) => new Set(ids));
    expect(existsSync(claim.path)).toBe(true);
    await claim.release();
    await removeRunFolders(root, async (ids) => new Set(ids));
    expect(existsSync(claim.path)).toBe(false);
  });

  test("does nothing without a folder, and reports one that cannot be read", async () => {
    const root = temporaryTree({ file: "" });
    const findOver = async () => {
      throw new Error("it was called");
    };
    await removeRunFolders(join(root, "missing"), findOver);
    await expect(removeRunFolders(join(root, "file"), findOver)).rejects.toThrow("ENOTDIR");
  });
});
