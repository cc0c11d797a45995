import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createInterceptionFixture } from "../../../tests/support/workspace/interception-fixture.ts";
import {
  createRepository,
  hasBubblewrap,
  readFiles,
} from "../../../tests/support/workspace/workspace-fixture.ts";
import { Session } from "../../session/session.ts";
import { OpenAIContainerWorkspaceSection } from "./container-workspace-section.ts";

const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];

const writeScript = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

describe("OpenAIContainerWorkspaceSection", () => {
  test("only checks its mounts when it is created", async () => {
    const folder = createRepository({ "a.txt": "one", ".env": "KEY=1", "sub/b.txt": "two!" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder), client: stage.client });
    expect(section.mountPreviews).toEqual([
      {
        hostPath: folder,
        mountPath: "p",
        ...{ files: 2, bytes: 7, entries: ["a.txt", "sub/b.txt"] },
        ...{ truncated: false, withheld: [".env"] },
        skipped: [{ path: ".env", reason: "has a name that is common for key files" }],
        ...{ skippedCount: 1, unmatched: [] },
      },
    ]);
    expect(section).toMatchObject({ containerId: null, syncedDir: null, session: stage.session });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    const report = await section.cleanup();
    const nothing = { added: [], changed: [], deleted: [], failed: [], conflicts: [] };
    expect(report).toEqual({ directory: null, ...nothing, conflictsDir: null, keptIn: null });
    expect(stage.requests).toEqual([]);
  });

  test("has an empty diff before it is used, and none after its cleanup", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    expect((await section.diff()).files).toEqual([]);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    await section.cleanup();
    await expect(section.diff()).rejects.toThrow(
      "The workspace was cleaned up. Call diff() before cleanup().",
    );
    expect(stage.requests).toEqual([]);
  });

  test("copies its mounts once in ready(), without requests", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await Promise.all([section.ready(), section.ready()]);
    expect(readFiles(section.tempDir)).toEqual({ "p/a.txt": "one" });
    appendFileSync(join(folder, "a.txt"), "more");
    await section.ready();
    expect(readFiles(section.tempDir)).toEqual({ "p/a.txt": "one" });
    expect([section.containerId, stage.requests]).toEqual([null, []]);
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    await expect(section.ready()).rejects.toThrow(
      "The workspace was cleaned up. Create a new one.",
    );
  });

  test("can retry ready() after copying the mounts failed", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    renameSync(join(folder, "a.txt"), join(folder, "b.txt"));
    await expect(section.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    renameSync(join(folder, "b.txt"), join(folder, "a.txt"));
    await section.ready();
    expect(readFiles(section.tempDir)).toEqual({ "p/a.txt": "one" });
  });

  test("reuses its container in the next evaluation", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([...writeScript, ...writeScript]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await stage.evaluate(section);
    const { containerId } = section;
    expect(await stage.calls.getStatus(containerId ?? "")).toBe("running");
    await stage.evaluate(section);
    expect(section.containerId).toBe(containerId);
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
    expect(await section.filesystem.readText("p/new.txt")).toBe("new");
    expect(section.filesystem.containerId).toBe(containerId);
  });

  test("cleans up once for repeated calls and keeps the container", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({ mounts: createMounts(folder), syncOnCleanup: true });
    await stage.evaluate(section);
    const id = section.containerId ?? "";
    const [one, other] = await Promise.all([section.cleanup(), section.cleanup()]);
    expect(other).toBe(one);
    expect(await section.cleanup()).toBe(one);
    expect(stage.bus.of("WorkspaceSynced")).toMatchObject([
      { directory: section.syncedDir, added: ["p/new.txt"], changed: [], deleted: [], failed: [] },
    ]);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    expect(section.containerId).toBeNull();
    expect(await stage.calls.getStatus(id)).toBe("running");
    expect(dirname(section.syncedDir ?? "")).toBe(tmpdir());
  });

  test("deletes its container on cleanup with deleteOnCleanup", async () => {
    const stage = await createInterceptionFixture(writeScript);
    const folder = createRepository({ "a.txt": "one" });
    const section = stage.createSection({ mounts: createMounts(folder), deleteOnCleanup: true });
    await stage.evaluate(section);
    const id = section.containerId ?? "";
    await section.cleanup();
    await expect(stage.calls.getStatus(id)).rejects.toMatchObject({ status: 404 });
    expect(section.syncedDir).toBeNull();
  });

  test("cleans up at the end of an await using block", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const to = join(createRepository({}), "synced");
    const folders: string[] = [];
    {
      await using section = new OpenAIContainerWorkspaceSection({
        session: new Session(),
        mounts: createMounts(folder),
        allowedHostRoots: [folder],
        syncOnCleanup: true,
        syncDestination: to,
      });
      await section.ready();
      folders.push(section.tempDir);
      expect(existsSync(section.tempDir)).toBe(true);
    }
    expect(folders.map((folder) => existsSync(dirname(folder)))).toEqual([false]);
    expect(readFiles(to)).toEqual({ "p/a.txt": "one" });
  });

  test("is shared by its clones and cleaned up with the last of them", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([...writeScript, ...writeScript]);
    const to = join(createRepository({}), "synced");
    const section = stage.createSection({
      mounts: createMounts(folder),
      syncOnCleanup: true,
      syncDestination: to,
    });
    const clone = section.clone({ key: "other", title: "Other" });
    expect(clone).toMatchObject({ key: "other", title: "Other", template: section.template });
    await stage.evaluate(section);
    await stage.evaluate(clone);
    expect([clone.containerId, clone.tempDir]).toEqual([section.containerId, section.tempDir]);
    expect(await section.cleanup()).toMatchObject({ directory: null });
    expect(await section.cleanup()).toMatchObject({ directory: null });
    expect(existsSync(clone.tempDir)).toBe(true);
    const report = await clone.cleanup();
    expect(report).toMatchObject({ directory: to, added: ["p/new.txt"] });
    expect(existsSync(clone.tempDir)).toBe(false);
    expect(() => section.clone()).toThrow("The workspace was cleaned up. Create a new one.");
  });

  test("is cleaned up after a clone failed to be created", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await section.ready();
    expect(() => section.clone({ key: "Not A Key" })).toThrow("key must be");
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("explains how to pass a client if there is none", async () => {
    const section = new OpenAIContainerWorkspaceSection({ session: new Session() });
    onTestFinished(async () => void (await section.cleanup()));
    await expect(section.filesystem.readText("a.txt")).rejects.toThrow(
      "The workspace has no client yet. Evaluate its prompt first, or pass a client to the section.",
    );
    expect(section.containerId).toBeNull();
  });

  test("can be used before any evaluation with its own client", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([
      [{ code: "print(open('/mnt/data/p/a.txt').read(), open('/mnt/data/p/b.txt').read())" }],
      [{ say: "Done." }],
    ]);
    const section = stage.createSection({ mounts: createMounts(folder), client: stage.client });
    await section.filesystem.writeText("p/b.txt", "two");
    expect(await section.filesystem.readText("p/a.txt")).toBe("one");
    expect(section.containerId).not.toBeNull();
    await stage.evaluate(section);
    expect(stage.readOutputs()).toEqual(["one two\n"]);
  });
});

describe.skipIf(!hasBubblewrap)("the sync of a workspace", () => {
  test.each([
    ['nothing with "never"', { syncPolicy: "never" }, null, 2],
    ["nothing by default", {}, null, 2],
    ['nothing with "never"', { syncPolicy: "never", syncOnCleanup: false }, null, 2],
    ["everything on cleanup", { syncOnCleanup: true }, ["p/new.txt"], 3],
    ['everything on cleanup with "cleanup"', { syncPolicy: "cleanup" }, ["p/new.txt"], 3],
    ["everything after each turn", { syncPolicy: "eachTurn" }, ["p/new.txt"], 3],
  ] as const)("downloads %s: %o", async (_, options, added, own) => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({ mounts: createMounts(folder), ...options });
    await stage.evaluate(section);
    const isLocal = existsSync(join(section.tempDir, "p/new.txt"));
    expect(isLocal).toBe(added !== null);
    const report = await section.cleanup();
    expect(report.directory).toBe(section.syncedDir);
    expect(added === null ? report.directory : report.added).toEqual(added);
    const responses = stage.requests.filter((request) => request === "POST /responses");
    expect(responses).toHaveLength(own);
  });

  test("writes into an existing folder and keeps its other and its different files", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const to = createRepository({
      "theirs.txt": "theirs",
      "p/theirs.txt": "theirs",
      "p/a.txt": "old",
    });
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({
      mounts: createMounts(folder),
      syncOnCleanup: true,
      syncDestination: to,
    });
    await stage.evaluate(section);
    const { conflicts, conflictsDir } = await section.cleanup();
    expect(section.syncedDir).toBe(to);
    expect(readFiles(to)).toEqual({
      ...{ "theirs.txt": "theirs", "p/theirs.txt": "theirs" },
      ...{ "p/a.txt": "old", "p/new.txt": "new" },
    });
    expect(conflicts).toMatchObject([{ path: "p/a.txt" }]);
    expect(readFiles(conflictsDir ?? "")).toEqual({ "p/a.txt": "one" });
  });

  test("creates a new folder with its parents", async () => {
    const to = join(createRepository({}), "not/yet/there");
    const stage = await createInterceptionFixture(writeScript);
    const folder = createRepository({ "a.txt": "one" });
    const section = stage.createSection({
      mounts: createMounts(folder),
      syncPolicy: "cleanup",
      syncDestination: to,
    });
    await stage.evaluate(section);
    await section.cleanup();
    expect(readFiles(to)).toEqual({ "p/a.txt": "one", "p/new.txt": "new" });
    expect(readdirSync(join(to, ".."))).toEqual(["there"]);
  });

  test("reports failed files and keeps them in another folder if the destination is not writable", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const at = join(createRepository({ file: "x" }), "file");
    const stage = await createInterceptionFixture(writeScript);
    const section = stage.createSection({
      mounts: createMounts(folder),
      syncOnCleanup: true,
      syncDestination: join(at, "below"),
    });
    await stage.evaluate(section);
    const { failed, keptIn } = await section.cleanup();
    expect(failed.map(({ path }) => path).sort()).toEqual(["p/a.txt", "p/new.txt"]);
    expect(readFiles(keptIn ?? "")).toEqual({ "p/a.txt": "one", "p/new.txt": "new" });
    expect(readFileSync(at, "utf8")).toBe("x");
    expect(existsSync(section.tempDir)).toBe(false);
  });
});
