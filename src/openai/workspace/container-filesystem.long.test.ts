import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import {
  createInterceptionFixture,
  isWorkspaceRequest,
} from "../../../tests/support/workspace/interception-fixture.ts";
import {
  createRepository,
  hasBubblewrap,
  readFiles,
} from "../../../tests/support/workspace/workspace-fixture.ts";
import { VfsToolsSection } from "../../prompt/sections/vfs-tools-section.ts";
import { applyPatchTool } from "../../tools/hosted/apply-patch.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";

const createMounts = (folder: string) => [{ hostPath: folder, mountPath: "p" }];
const call = (name: string, args: object) => ({ call: { name, args } });

/** Prints every file in order, using the paths file for files that were uploaded one by one. */
const SHOW = `import glob, json, os
lists = glob.glob("/mnt/data/*-paths.json")
at = json.load(open(lists[0])) if lists else {}
for folder, _, names in os.walk("/mnt/data/p"):
    for name in names:
        path = os.path.join(folder, name)
        at[os.path.relpath(path, "/mnt/data")] = path
print({path: open(at[path]).read() for path in sorted(at)})`;

const UNPACKS = ["bootstrap", "files"] as const;

describe.skipIf(!hasBubblewrap).each(UNPACKS)(
  'a ContainerFilesystem with unpack: "%s"',
  (unpack) => {
    test("shares changes between patches, tools and code in one evaluation", async () => {
      const folder = createRepository({ "a.txt": "one\n", "b.txt": "two\n", "c.txt": "three\n" });
      const stage = await createInterceptionFixture([
        [{ patch: [{ type: "update_file", path: "p/a.txt", diff: "@@\n-one\n+ONE\n" }] }],
        [{ patch: [{ type: "create_file", path: "p/new/d.txt", diff: "+four\n" }] }],
        [call("edit", { path: "p/b.txt", old_text: "two", new_text: "TWO" })],
        [call("rm", { path: "p/c.txt" }), call("write", { path: "p/e.txt", content: "five\n" })],
        [{ code: SHOW }],
        [{ code: "print(1)" }, call("read", { path: "p/new/d.txt" })],
        [{ say: "Done." }],
      ]);
      const section = stage.createSection({
        mounts: createMounts(folder),
        unpack,
        syncOnCleanup: true,
      });
      const { filesystem } = section;
      const tools = new VfsToolsSection({ filesystem });
      const { text } = await stage.evaluate([section, tools], {
        hostedTools: [applyPatchTool({}, { filesystem })],
      });
      expect(text).toBe("Done.");
      const [shown] = stage.readOutputs().filter((printed) => printed.startsWith("{"));
      expect(shown).toBe(
        "{'p/a.txt': 'ONE\\n', 'p/b.txt': 'TWO\\n', 'p/e.txt': 'five\\n', 'p/new/d.txt': 'four\\n'}\n",
      );
      const report = await section.cleanup();
      expect(report).toMatchObject({
        added: ["p/e.txt", "p/new/d.txt"],
        changed: ["p/a.txt", "p/b.txt"],
        deleted: ["p/c.txt"],
        failed: [],
      });
    });

    test("restores the files after a failed tool call", async () => {
      const folder = createRepository({ "a.txt": "one", "sub/b.txt": "two" });
      const stage = await createInterceptionFixture([
        [call("write", { path: "p/kept.txt", content: "kept" })],
        [call("spoil", {})],
        [{ code: SHOW }],
        [{ say: "Done." }],
      ]);
      const section = stage.createSection({
        mounts: createMounts(folder),
        unpack,
        syncOnCleanup: true,
      });
      const { filesystem } = section;
      const spoil = new Tool({
        name: "spoil",
        description: "Spoils the files.",
        params: null,
        async handler() {
          await filesystem.writeText("p/a.txt", "spoilt");
          await filesystem.delete("p/sub/b.txt");
          await filesystem.delete("p/sub");
          await filesystem.mkdir("p/empty/deep");
          await filesystem.writeText("p/more.txt", "more");
          return ToolResult.error("It did not work.");
        },
      });
      await stage.evaluate([section, new VfsToolsSection({ filesystem })], { tools: [spoil] });
      expect(stage.readOutputs().at(-1)).toBe(
        "{'p/a.txt': 'one', 'p/kept.txt': 'kept', 'p/sub/b.txt': 'two'}\n",
      );
      await section.cleanup();
      expect(readFiles(section.syncedDir ?? "")).toEqual({
        ...{ "p/a.txt": "one", "p/sub/b.txt": "two", "p/kept.txt": "kept" },
      });
    });

    test("downloads all files to a folder at any time", async () => {
      const folder = createRepository({ "a.txt": "one" });
      const stage = await createInterceptionFixture([
        [{ code: "open('/mnt/data/out.txt', 'w').write('out') and None" }],
        [{ say: "Done." }],
      ]);
      const section = stage.createSection({
        mounts: createMounts(folder),
        unpack,
        client: stage.client,
      });
      const to = join(temporaryTree(), "all");
      await section.filesystem.ensureContainer();
      await stage.evaluate(section);
      const report = await section.filesystem.downloadAll(to);
      expect(report).toMatchObject({ directory: to, added: ["out.txt"], failed: [] });
      expect(readFiles(to)).toEqual({ "out.txt": "out", "p/a.txt": "one" });
      await section.filesystem.cleanup();
      expect(existsSync(dirname(section.tempDir))).toBe(false);
    });
  },
);

describe("local writes to a ContainerFilesystem", () => {
  test("are uploaded in one archive before the next request", async () => {
    const folder = createRepository({ "a.txt": "one", "d/x": "x" });
    const stage = await createInterceptionFixture([
      [{ say: "First." }],
      [{ code: SHOW }],
      [{ say: "Done." }],
    ]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await stage.evaluate(section);
    const before = stage.requests.length;
    const { filesystem } = section;
    for (const name of ["b", "c", "d/e"]) await filesystem.writeText(`p/${name}.txt`, name);
    await filesystem.delete("p/a.txt");
    await filesystem.writeText("p/a.txt/now/a-folder.txt", "yes");
    await filesystem.delete("p/d/x");
    await filesystem.mkdir("p/d/x");
    expect(stage.requests.slice(before)).toEqual([]);
    await stage.evaluate(section);
    expect(stage.requests.slice(before)).toEqual([
      "POST /containers/·/files",
      "POST /responses",
      "POST /responses",
    ]);
    expect(stage.readOutputs()).toEqual([
      "{'p/a.txt/now/a-folder.txt': 'yes', 'p/b.txt': 'b', 'p/c.txt': 'c', 'p/d/e.txt': 'd/e'}\n",
    ]);
  });

  test("cost no request when they are undone", async () => {
    const folder = createRepository({ "a.txt": "one" });
    const stage = await createInterceptionFixture([[{ say: "First." }], [{ say: "Second." }]]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await stage.evaluate(section);
    const { filesystem } = section;
    const [first, second] = [await filesystem.snapshot(), await filesystem.snapshot()];
    await filesystem.writeText("p/a.txt", "two");
    await filesystem.writeText("p/b.txt", "b");
    await filesystem.restore(first);
    await filesystem.release(first);
    await filesystem.release(second).catch(() => {}); // restoring the first snapshot removed it
    expect(await filesystem.exists("p/b.txt")).toBe(false);
    await stage.evaluate(section);
    expect(stage.seenRequests.filter(isWorkspaceRequest)).toHaveLength(1);
  });

  test("are restored locally even if the upload fails, and uploaded with the next write", async () => {
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ unpack: "files", client: stage.client });
    const { filesystem } = section;
    await filesystem.writeText("a.txt", "one");
    const snapshot = await filesystem.snapshot();
    await filesystem.writeText("a.txt", "two");
    const isBlocked = { yes: true };
    stage.intercept(({ method, path }) =>
      isBlocked.yes && method === "POST" && path.endsWith("/files")
        ? { status: 400, body: '{"error":{"message":"Not now."}}' }
        : null,
    );
    await filesystem.restore(snapshot);
    expect(await filesystem.readText("a.txt")).toBe("one");
    isBlocked.yes = false;
    await filesystem.writeText("b.txt", "b");
    const last = stage.seenRequests
      .filter(({ method }) => method === "POST")
      .map(({ text }) => text);
    expect(last.some((text) => text.includes('filename="a.txt"') && text.includes("one"))).toBe(
      true,
    );
    await filesystem.release(snapshot);
    await expect(filesystem.restore(snapshot)).rejects.toThrow();
  });

  test("are not uploaded if nothing changed", async () => {
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ unpack: "files", client: stage.client });
    await section.filesystem.writeText("a.txt", "one");
    const before = stage.requests.length;
    await section.filesystem.writeText("a.txt", "one");
    expect(stage.requests.slice(before)).toEqual([]);
  });

  test("win over changes that code made to the same files", async () => {
    const folder = createRepository({ "a.txt": "one", "b.txt": "one" });
    const script = `for name in "ab":
    open(f"/mnt/data/p/{name}.txt", "w").write("code's")`;
    const stage = await createInterceptionFixture([
      [{ code: script }],
      [{ say: "Done." }],
      [{ code: SHOW }],
      [{ say: "Done." }],
    ]);
    const section = stage.createSection({ mounts: createMounts(folder) });
    await stage.evaluate(section);
    await section.filesystem.writeText("p/a.txt", "ours");
    expect(await section.filesystem.readText("p/b.txt")).toBe("code's");
    await stage.evaluate(section);
    expect(stage.readOutputs().at(-1)).toBe(`{'p/a.txt': 'ours', 'p/b.txt': "code's"}\n`);
  });

  test("can be listed, searched and read", async () => {
    const folder = createRepository({ "a.txt": "one\ntwo\n", "sub/b.txt": "two\n" });
    const stage = await createInterceptionFixture([]);
    const section = stage.createSection({ mounts: createMounts(folder), client: stage.client });
    const { filesystem } = section;
    await filesystem.write("p/c.bin", Uint8Array.of(1, 2));
    expect(await filesystem.listDir("p")).toEqual(["a.txt", "c.bin", "sub"]);
    expect(await filesystem.glob("**/*.txt")).toEqual(["p/a.txt", "p/sub/b.txt"]);
    expect(await filesystem.grep("two")).toMatchObject([
      { path: "p/a.txt", line: 2 },
      { path: "p/sub/b.txt", line: 1 },
    ]);
    expect(await filesystem.readBytes("p/c.bin")).toEqual(Uint8Array.of(1, 2));
    expect(await filesystem.read("p/a.txt", { limit: 1 })).toMatchObject({ totalLines: 2 });
    expect(await filesystem.stat("p/c.bin")).toMatchObject({ sizeBytes: 2 });
    expect([await filesystem.isFile("p"), await filesystem.isDir("p")]).toEqual([false, true]);
    expect(filesystem.readOnly).toBe(false);
    await expect(filesystem.writeText("../out.txt", "x")).rejects.toThrow("leaves the root");
  });
});
