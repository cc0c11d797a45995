import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bentStage } from "../../../tests/support/workspace/bent-stage.ts";
import { filesIn, hasBubblewrap, repository } from "../../../tests/support/workspace/stage.ts";
import { Session } from "../../session/session.ts";
import { OpenAIContainerWorkspaceSection } from "./container-workspace-section.ts";

const mountsOf = (folder: string) => [{ hostPath: folder, mountPath: "p" }];

const writing = [
  [{ code: "open('/mnt/data/p/new.txt', 'w').write('new') and None" }],
  [{ say: "Done." }],
];

describe("an OpenAIContainerWorkspaceSection", () => {
  test("does nothing but look when it is made", async () => {
    const folder = repository({ "a.txt": "one", ".env": "KEY=1", "sub/b.txt": "two!" });
    const stage = await bentStage([]);
    const section = stage.section({ mounts: mountsOf(folder), client: stage.client });
    expect(section.mountPreviews).toEqual([
      {
        hostPath: folder,
        mountPath: "p",
        ...{ files: 2, bytes: 7, entries: ["a.txt", "sub/b.txt"] },
        ...{ truncated: false, withheld: [".env"] },
      },
    ]);
    expect(section).toMatchObject({ containerId: null, syncedDir: null, session: stage.session });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    const report = await section.cleanup();
    const nothing = { added: [], changed: [], deleted: [], failed: [] };
    expect(report).toEqual({ directory: null, ...nothing, keptIn: null });
    expect(stage.requests).toEqual([]);
  });

  test("copies its mounts when it is to be ready, once, and sends nothing for that", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([]);
    const section = stage.section({ mounts: mountsOf(folder) });
    await Promise.all([section.ready(), section.ready()]);
    expect(filesIn(section.tempDir)).toEqual({ "p/a.txt": "one" });
    appendFileSync(join(folder, "a.txt"), "more");
    await section.ready();
    expect(filesIn(section.tempDir)).toEqual({ "p/a.txt": "one" });
    expect([section.containerId, stage.requests]).toEqual([null, []]);
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    await expect(section.ready()).rejects.toThrow("The workspace was cleaned up. Create a new one.");
  });

  test("can be made ready again when the mounts could not be copied", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([]);
    const section = stage.section({ mounts: mountsOf(folder) });
    renameSync(join(folder, "a.txt"), join(folder, "b.txt"));
    await expect(section.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    renameSync(join(folder, "b.txt"), join(folder, "a.txt"));
    await section.ready();
    expect(filesIn(section.tempDir)).toEqual({ "p/a.txt": "one" });
  });

  test("has a container after its first evaluation, which the next uses again", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([...writing, ...writing]);
    const section = stage.section({ mounts: mountsOf(folder) });
    await stage.evaluate(section);
    const { containerId } = section;
    expect(await stage.calls.status(containerId ?? "")).toBe("running");
    await stage.evaluate(section);
    expect(section.containerId).toBe(containerId);
    expect(stage.requests.filter((request) => request === "POST /containers")).toHaveLength(1);
    expect(await section.filesystem.readText("p/new.txt")).toBe("new");
    expect(section.filesystem.containerId).toBe(containerId);
  });

  test("is cleaned up once, however often it is asked, and leaves the container", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const section = stage.section({ mounts: mountsOf(folder), syncOnCleanup: true });
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
    expect(await stage.calls.status(id)).toBe("running");
    expect(dirname(section.syncedDir ?? "")).toBe(tmpdir());
  });

  test("deletes its container where that is asked for", async () => {
    const stage = await bentStage(writing);
    const folder = repository({ "a.txt": "one" });
    const section = stage.section({ mounts: mountsOf(folder), deleteOnCleanup: true });
    await stage.evaluate(section);
    const id = section.containerId ?? "";
    await section.cleanup();
    await expect(stage.calls.status(id)).rejects.toMatchObject({ status: 404 });
    expect(section.syncedDir).toBeNull();
  });

  test("is cleaned up at the end of a block", async () => {
    const folder = repository({ "a.txt": "one" });
    const to = join(repository({}), "synced");
    const places: string[] = [];
    {
      await using section = new OpenAIContainerWorkspaceSection({
        session: new Session(),
        mounts: mountsOf(folder),
        allowedHostRoots: [folder],
        syncOnCleanup: true,
        syncDestination: to,
      });
      await section.ready();
      places.push(section.tempDir);
      expect(existsSync(section.tempDir)).toBe(true);
    }
    expect(places.map((place) => existsSync(dirname(place)))).toEqual([false]);
    expect(filesIn(to)).toEqual({ "p/a.txt": "one" });
  });

  test("is shared by its clones, and cleaned up with the last of them", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([...writing, ...writing]);
    const to = join(repository({}), "synced");
    const section = stage.section({
      mounts: mountsOf(folder),
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
    expect(() => section.clone()).toThrow("The workspace was cleaned up: make a new one");
  });

  test("is cleaned up although a clone of it could not be made", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([]);
    const section = stage.section({ mounts: mountsOf(folder) });
    await section.ready();
    expect(() => section.clone({ key: "Not A Key" })).toThrow("key must be");
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("without a client says how to give one", async () => {
    const section = new OpenAIContainerWorkspaceSection({ session: new Session() });
    onTestFinished(async () => void (await section.cleanup()));
    await expect(section.filesystem.readText("a.txt")).rejects.toThrow(
      "The workspace has no client yet: evaluate its prompt first, or give the section a client",
    );
    expect(section.containerId).toBeNull();
  });

  test("can be used before any evaluation with a client of its own", async () => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage([
      [{ code: "print(open('/mnt/data/p/a.txt').read(), open('/mnt/data/p/b.txt').read())" }],
      [{ say: "Done." }],
    ]);
    const section = stage.section({ mounts: mountsOf(folder), client: stage.client });
    await section.filesystem.writeText("p/b.txt", "two");
    expect(await section.filesystem.readText("p/a.txt")).toBe("one");
    expect(section.containerId).not.toBeNull();
    await stage.evaluate(section);
    expect(stage.printed()).toEqual(["one two\n"]);
  });
});

describe.skipIf(!hasBubblewrap)("what a workspace brings back", () => {
  test.each([
    ["nothing", { syncPolicy: "never" }, null, 2],
    ["nothing, if nobody says", {}, null, 2],
    ["nothing, although cleaning up would", { syncPolicy: "never", syncOnCleanup: true }, null, 2],
    ["all at the end", { syncOnCleanup: true }, ["p/new.txt"], 3],
    ["all at the end, by its other name", { syncPolicy: "cleanup" }, ["p/new.txt"], 3],
    ["all after each turn", { syncPolicy: "eachTurn" }, ["p/new.txt"], 3],
  ] as const)("is %s: %o", async (_, options, added, own) => {
    const folder = repository({ "a.txt": "one" });
    const stage = await bentStage(writing);
    const section = stage.section({ mounts: mountsOf(folder), ...options });
    await stage.evaluate(section);
    const isHere = existsSync(join(section.tempDir, "p/new.txt"));
    expect(isHere).toBe("syncPolicy" in options && options.syncPolicy === "eachTurn");
    const report = await section.cleanup();
    expect(report.directory).toBe(section.syncedDir);
    expect(added === null ? report.directory : report.added).toEqual(added);
    const responses = stage.requests.filter((request) => request === "POST /responses");
    expect(responses).toHaveLength(own);
  });

  test("goes into a folder that is there, whose other files stay as they are", async () => {
    const folder = repository({ "a.txt": "one" });
    const to = repository({ "theirs.txt": "theirs", "p/theirs.txt": "theirs", "p/a.txt": "old" });
    const stage = await bentStage(writing);
    const section = stage.section({
      mounts: mountsOf(folder),
      syncOnCleanup: true,
      syncDestination: to,
    });
    await stage.evaluate(section);
    await section.cleanup();
    expect(section.syncedDir).toBe(to);
    expect(filesIn(to)).toEqual({
      ...{ "theirs.txt": "theirs", "p/theirs.txt": "theirs" },
      ...{ "p/a.txt": "one", "p/new.txt": "new" },
    });
  });

  test("goes into a new folder, whose parents are made as well", async () => {
    const to = join(repository({}), "not/yet/there");
    const stage = await bentStage(writing);
    const folder = repository({ "a.txt": "one" });
    const section = stage.section({
      mounts: mountsOf(folder),
      syncPolicy: "cleanup",
      syncDestination: to,
    });
    await stage.evaluate(section);
    await section.cleanup();
    expect(filesIn(to)).toEqual({ "p/a.txt": "one", "p/new.txt": "new" });
    expect(readdirSync(join(to, ".."))).toEqual(["there"]);
  });

  test("is told as failed where the folder cannot be written, and kept elsewhere", async () => {
    const folder = repository({ "a.txt": "one" });
    const at = join(repository({ file: "x" }), "file");
    const stage = await bentStage(writing);
    const section = stage.section({
      mounts: mountsOf(folder),
      syncOnCleanup: true,
      syncDestination: join(at, "below"),
    });
    await stage.evaluate(section);
    const { failed, keptIn } = await section.cleanup();
    expect(failed.map(({ path }) => path).sort()).toEqual(["p/a.txt", "p/new.txt"]);
    expect(filesIn(keptIn ?? "")).toEqual({ "p/a.txt": "one", "p/new.txt": "new" });
    expect(readFileSync(at, "utf8")).toBe("x");
    expect(existsSync(section.tempDir)).toBe(false);
  });
});
