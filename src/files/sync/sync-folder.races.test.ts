import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { runAsPlainUser, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { type FolderSync, syncFolder } from "./sync-folder.ts";

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
const WAIT = { interval: 1, timeout: 30_000 };

/** Creates a tree that takes long enough to write that a test can interfere. */
function createLargeTree(): Pick<FolderSync, "from" | "changed"> {
  const changed = Array.from({ length: 60 }, (_, index) => `large-${index}`);
  const from = temporaryTree(Object.fromEntries(changed.map((path) => [path, ""])));
  for (const path of changed) truncateSync(join(from, path), 5e6);
  chmodSync(from, 0o755);
  return { from, changed };
}

/** Waits until the sync has created a file in any of the folders. */
async function waitForStart(...folders: readonly string[]): Promise<void> {
  const isSyncFile = (name: string) => name.includes("wink-") || name.startsWith("large-");
  await vi.waitFor(() => {
    const names = folders.flatMap((folder) => readdirSync(folder));
    expect(names.filter(isSyncFile)).not.toEqual([]);
  }, WAIT);
}

describe("syncFolder() on abort", () => {
  test("throws the signal's reason before changing anything", async () => {
    const to = join(temporaryTree(), "to");
    const signal = AbortSignal.abort("no");
    const syncing = syncFolder({ from: "gone", to, changed: [], deleted: [] }, { signal });
    await expect(syncing).rejects.toBe("no");
    expect(existsSync(to)).toBe(false);
  });

  test.each(["new", "empty"])("leaves a folder that is %s unchanged", async (kind) => {
    const above = temporaryTree({ empty: null });
    const controller = new AbortController();
    const change = { ...createLargeTree(), to: join(above, kind), deleted: [] };
    const syncing = syncFolder(change, { signal: controller.signal });
    syncing.catch(() => {});
    await waitForStart(above);
    controller.abort("enough");
    await expect(syncing).rejects.toBe("enough");
    expect(readdirSync(above)).toEqual(["empty"]);
    expect(readdirSync(join(above, "empty"))).toEqual([]);
  });

  test("leaves no partial file in an existing folder, and removes none", async () => {
    const to = temporaryTree({ x: "1" });
    const controller = new AbortController();
    const syncing = syncFolder(
      { ...createLargeTree(), to, deleted: ["x"] },
      { signal: controller.signal },
    );
    syncing.catch(() => {});
    await waitForStart(to);
    controller.abort("enough");
    await expect(syncing).rejects.toBe("enough");
    const names = readdirSync(to);
    expect(names).toContain("x");
    expect(names.filter((name) => name.endsWith(".tmp"))).toEqual([]);
    const sizes = names.filter((name) => name !== "x").map((name) => statSync(join(to, name)).size);
    expect(sizes.every((size) => size === 5e6)).toBe(true);
  });
});

describe("syncFolder() with an empty folder that another process writes to", () => {
  const reason = expect.stringContaining("Another process has added files there");

  test("does not replace it", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    const tree = createLargeTree();
    const syncing = syncFolder({ ...tree, to, deleted: [] });
    await waitForStart(above);
    writeFileSync(join(to, "theirs"), "1");
    expect((await syncing).failed).toEqual(tree.changed.map((path) => ({ path, reason })));
    expect(filesIn(above)).toEqual({ "to/theirs": "1" });
  });

  test("does not fill it", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    chmodSync(to, 0o777);
    chmodSync(above, 0o555);
    onTestFinished(() => chmodSync(above, 0o755));
    const tree = createLargeTree();
    const { failed } = await runAsPlainUser(async () => {
      const syncing = syncFolder({ ...tree, to, deleted: [] });
      await waitForStart(to);
      writeFileSync(join(to, "theirs"), "1");
      return await syncing;
    });
    expect(failed).toEqual(tree.changed.map((path) => ({ path, reason })));
    expect(filesIn(above)).toEqual({ "to/theirs": "1" });
  });
});

test("syncFolder() leaves an empty read-only folder unchanged, although it could be replaced", () => {
  const above = temporaryTree({ to: null });
  const [to, from] = [join(above, "to"), temporaryTree({ a: "1" })];
  chmodSync(above, 0o777);
  chmodSync(from, 0o755);
  chmodSync(to, 0o555);
  if (isRoot) chownSync(to, NOBODY, NOBODY);
  const code = `
    const { syncFolder } = await import(${JSON.stringify(new URL("./sync-folder.ts", import.meta.url).href)});
    const change = ${JSON.stringify({ from, to, changed: ["a"], deleted: [] })};
    console.log(JSON.stringify(await syncFolder(change)));
  `;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    encoding: "utf8",
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  const reason = expect.stringContaining("This user has no access to it");
  expect(JSON.parse(output)).toEqual({ failed: [{ path: "a", reason }] });
  expect(readdirSync(to)).toEqual([]);
  expect(readdirSync(above)).toEqual(["to"]);
});

describe.runIf(isRoot)("syncFolder() with another user's empty folder", () => {
  test("preserves the owner when root replaces it", async () => {
    const to = temporaryTree();
    chownSync(to, NOBODY, NOBODY);
    const change = { from: temporaryTree({ a: "1" }), to, changed: ["a"], deleted: [] };
    expect(await syncFolder(change)).toEqual({ failed: [] });
    expect(statSync(to)).toMatchObject({ uid: NOBODY, gid: NOBODY });
    expect(filesIn(to)).toEqual({ a: "1" });
  });

  test("fills it if the owner cannot be preserved", async () => {
    const above = temporaryTree({ to: null });
    const to = join(above, "to");
    for (const folder of [above, to]) chmodSync(folder, 0o777);
    const from = temporaryTree({ a: "1" });
    chmodSync(from, 0o755);
    const { ino } = statSync(to);
    const change = { from, to, changed: ["a"], deleted: [] };
    expect(await runAsPlainUser(() => syncFolder(change))).toEqual({ failed: [] });
    expect(statSync(to).ino).toBe(ino);
    expect(filesIn(above)).toEqual({ "to/a": "1" });
  });
});
