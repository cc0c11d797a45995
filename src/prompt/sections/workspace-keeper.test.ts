import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { Session } from "weakincentives";
import { MemorySessionStore } from "../../../tests/support/memory-session-store.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import { digestFolder } from "../../files/digests/folder-digest.ts";
import { WorkspaceKeeper } from "./workspace-keeper.ts";
import { findWorkspace, type WorkspaceManifest, workspaceSlice } from "./workspace-slice.ts";

const createdAt = "2026-01-01T00:00:00.000Z";
const common = { promptName: "p", adapter: "openai", sessionId: "s", createdAt } as const;

/** Opens a session and a keeper, as another process would. */
async function open(store: MemorySessionStore | null, persistDir: string | null = null) {
  const session = store ? await Session.openOrCreate(store, "s") : new Session();
  const keeper = new WorkspaceKeeper({ session, section: "workspace", persistDir });
  const home = temporaryTree({ files: null });
  const restored = await keeper.restore(join(home, "files"), join(home, "originals"));
  onTestFinished(() => keeper.close());
  const record = async (manifest: WorkspaceManifest | null) => {
    if (manifest) session.dispatch({ type: "WorkspaceKept", manifest, ...common });
    await session.flush();
  };
  const close = async () => {
    await keeper.close();
    await session.close();
  };
  return { session, keeper, restored, files: join(home, "files"), record, close };
}

describe("WorkspaceKeeper", () => {
  test("is inactive without a store and a folder", async () => {
    const { keeper } = await open(null);
    expect([keeper.isActive, keeper.keepsFiles, keeper.mounted]).toEqual([false, false, null]);
  });

  test("describes all files first, then only changes, and nothing if nothing has changed", async () => {
    const { keeper, record, session } = await open(new MemorySessionStore());
    const folder = temporaryTree({ "a.txt": "one", "b.txt": "two" });
    const mounted = digestFolder(folder);
    const first = await keeper.keep(folder, { mounted, containerId: "c" });
    expect(first).toMatchObject({ isComplete: true, section: "workspace", containerId: "c" });
    expect(Object.keys(first?.files ?? {}).sort()).toEqual(["a.txt", "b.txt"]);
    expect(keeper.isRecorded).toBe(false);
    await record(first);
    expect(keeper.isRecorded).toBe(true);
    expect(await keeper.keep(folder, { mounted, containerId: "c" })).toBeNull();
    writeFileSync(join(folder, "a.txt"), "three");
    rmSync(join(folder, "b.txt"));
    const second = await keeper.keep(folder, { mounted, containerId: "c" });
    expect(second).toMatchObject({ isComplete: false, deleted: ["b.txt"] });
    expect(Object.keys(second?.files ?? {})).toEqual(["a.txt"]);
    await record(second);
    const known = findWorkspace(session.get(workspaceSlice), "workspace");
    expect(Object.keys(known?.files ?? {})).toEqual(["a.txt"]);
    expect(Object.keys(known?.mounted.files ?? {}).sort()).toEqual(["a.txt", "b.txt"]);
  });

  test("reads no file if none has changed, but reports another container", async () => {
    const { keeper, record } = await open(new MemorySessionStore());
    const folder = temporaryTree({ "a.txt": "one" });
    const mounted = digestFolder(folder);
    const first = await keeper.keep(folder, { mounted, isUnchanged: true }); // nothing is known yet
    expect(Object.keys(first?.files ?? {})).toEqual(["a.txt"]);
    await record(first);
    rmSync(folder, { recursive: true });
    const again = await keeper.keep(folder, { mounted, containerId: "c", isUnchanged: true });
    expect(again).toMatchObject({
      containerId: "c",
      digest: first?.digest,
      files: {},
      deleted: [],
    });
  });

  test("describes changes again if the session has not recorded them", async () => {
    const { keeper, record } = await open(new MemorySessionStore());
    const folder = temporaryTree({ "a.txt": "one" });
    const mounted = digestFolder(folder);
    await record(await keeper.keep(folder, { mounted }));
    writeFileSync(join(folder, "new.txt"), "new");
    await keeper.keep(folder, { mounted }); // for example, the evaluation was aborted
    const again = await keeper.keep(folder, { mounted });
    expect(Object.keys(again?.files ?? {})).toEqual(["new.txt"]);
  });

  test("reports another container, and changes in it that were not downloaded", async () => {
    const { keeper, record } = await open(new MemorySessionStore());
    const folder = temporaryTree({ "a.txt": "one" });
    const mounted = digestFolder(folder);
    await record(await keeper.keep(folder, { mounted, containerId: "c" }));
    const other = await keeper.keep(folder, { mounted, containerId: "d" });
    expect(other).toMatchObject({ containerId: "d", files: {}, isComplete: false });
    await record(other);
    const stale = { mounted, containerId: "d", hasUnfetchedChanges: true };
    const changed = await keeper.keep(folder, stale);
    expect(changed).toMatchObject({ hasUnfetchedChanges: true });
    await record(changed);
    expect(keeper.isRecorded).toBe(true);
  });

  test("restores the files that the session recorded last, not later ones", async () => {
    const store = new MemorySessionStore();
    const persistDir = join(temporaryTree(), "kept");
    const first = await open(store, persistDir);
    const folder = temporaryTree({ "a.txt": "one" });
    const mounted = digestFolder(folder);
    writeFileSync(join(folder, "b.txt"), "recorded");
    await first.record(await first.keeper.keep(folder, { mounted, containerId: "c" }));
    writeFileSync(join(folder, "b.txt"), "never recorded");
    await first.keeper.keep(folder, { mounted, containerId: "c" });
    await first.close();
    const second = await open(store, persistDir);
    expect(readFiles(second.files)).toEqual({ "a.txt": "one", "b.txt": "recorded" });
    expect([...(second.restored?.files.keys() ?? [])]).toEqual(["a.txt"]);
    expect(second.keeper.earlierContainer).toMatchObject({
      containerId: "c",
      hasUnfetchedChanges: false,
    });
    second.keeper.giveUpEarlier();
    expect(second.keeper.earlierContainer).toBeNull();
    expect(second.keeper.takeLost()).toEqual([]);
  });

  test("lists lost files once if it starts with the mounts again", async () => {
    const store = new MemorySessionStore();
    const first = await open(store);
    const folder = temporaryTree({ "a.txt": "one" });
    const mounted = digestFolder(folder);
    writeFileSync(join(folder, "b.txt"), "new");
    await first.record(await first.keeper.keep(folder, { mounted }));
    await first.close();
    const second = await open(store);
    expect([second.restored, second.keeper.earlierContainer]).toEqual([null, null]);
    const again = temporaryTree({ "a.txt": "one" });
    const manifest = await second.keeper.keep(again, { mounted: digestFolder(again) });
    expect(manifest).toMatchObject({ isComplete: true });
    expect(second.keeper.takeLost()).toEqual([
      { path: "b.txt", reason: "it was changed in the workspace and not kept" },
    ]);
    expect(second.keeper.takeLost()).toEqual([]);
  });

  test("loses nothing if the earlier container is used again", async () => {
    const store = new MemorySessionStore();
    const first = await open(store);
    const folder = temporaryTree({ "a.txt": "one" });
    const mounted = digestFolder(folder);
    writeFileSync(join(folder, "b.txt"), "new");
    await first.record(await first.keeper.keep(folder, { mounted, containerId: "c" }));
    await first.close();
    const second = await open(store);
    expect([...(second.keeper.mounted?.files.keys() ?? [])]).toEqual(["a.txt"]);
    second.keeper.continueEarlier();
    expect(second.keeper.earlierContainer).toBeNull();
    expect(await second.keeper.keep(folder, { mounted, containerId: "c" })).toBeNull();
    expect(second.keeper.takeLost()).toEqual([]);
  });

  test("keeps files in a folder without a store", async () => {
    const persistDir = join(temporaryTree(), "kept");
    const first = await open(null, persistDir);
    const folder = temporaryTree({ "a.txt": "one" });
    expect(await first.keeper.keep(folder, { mounted: digestFolder(folder) })).toBeNull();
    expect(first.keeper.isRecorded).toBe(true);
    await first.close();
    const second = await open(null, persistDir);
    expect(readFiles(second.files)).toEqual({ "a.txt": "one" });
  });
});

describe("workspaceSlice", () => {
  test("knows the containers that still retain data, except the caller's", () => {
    const session = new Session().register(workspaceSlice);
    const hold = (containerId: string, isCallers?: true) =>
      session.dispatch({
        ...{ type: "DataHeld", containerId, until: "it is removed", ...common },
        ...(isCallers && { isCallers }),
      });
    hold("a");
    hold("a");
    hold("b", true);
    expect(session.get(workspaceSlice).heldContainers).toEqual(["a"]);
    session.dispatch({ type: "DataReleased", containerId: "a", ...common });
    expect(session.get(workspaceSlice).heldContainers).toEqual([]);
  });

  test("finds no workspace under the name of an inherited property", () => {
    expect(findWorkspace(workspaceSlice.initial, "constructor")).toBeNull();
  });
});
