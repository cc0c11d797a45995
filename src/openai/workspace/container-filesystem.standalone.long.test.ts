import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import {
  createInterceptionFixture,
  type InterceptionFixture,
} from "../../../tests/support/workspace/interception-fixture.ts";
import { readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { applyPatch } from "../../tools/patch/apply-patch.ts";
import { PatchError } from "../../tools/patch/patch-error.ts";
import { ContainerFilesystem, type ContainerFilesystemOptions } from "./container-filesystem.ts";

async function createFilesystem(
  options: Partial<ContainerFilesystemOptions> = {},
): Promise<{ readonly stage: InterceptionFixture; readonly files: ContainerFilesystem }> {
  const stage = await createInterceptionFixture([]);
  const files = new ContainerFilesystem({ client: stage.client, ...options });
  onTestFinished(() => files.cleanup());
  return { stage, files };
}

/** Waits until the listing is stale, which takes one second. */
const waitUntilStale = () => wait(1_100);

async function listPaths({ calls }: InterceptionFixture, id: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { path } of calls.list(id)) {
    found.push(path.replace(/^\/mnt\/data\/(?:[0-9a-f]{32}-)?/, ""));
  }
  return found.sort();
}

describe("a standalone ContainerFilesystem", () => {
  test.each<readonly [string, object]>([
    ["ContainerFilesystem.tarballPath", { tarballPath: "" }],
    ["ContainerFilesystem.localRoot", { localRoot: 7 }],
    ["ContainerFilesystem.containerConfig.memoryLimit", { containerConfig: { memoryLimit: "8g" } }],
  ])("rejects an invalid %s", async (field, options) => {
    const { client } = await createInterceptionFixture([]);
    const create = () => new ContainerFilesystem({ client, ...options });
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow(field);
  });

  test("creates its container once, on first use, and returns its id", async () => {
    const { stage, files } = await createFilesystem({ containerConfig: { memoryLimit: "1g" } });
    expect([files.containerId, stage.requests]).toEqual([null, []]);
    const [one, other] = await Promise.all([files.ensureContainer(), files.ensureContainer()]);
    expect([other, files.containerId]).toEqual([one, one]);
    expect(stage.seenRequests[0]?.body).toMatchObject({
      name: "weakincentives",
      memory_limit: "1g",
    });
  });

  test("uploads a new version before it deletes the old one", async () => {
    const { stage, files } = await createFilesystem();
    await files.writeText("sub/a.txt", "one");
    const id = files.containerId ?? "";
    expect(await listPaths(stage, id)).toEqual(["a.txt", "wink-7c1e-paths.json"]);
    const before = stage.requests.length;
    await files.writeText("sub/a.txt", "two");
    const [first, second] = stage.requests.slice(before);
    expect([first, second]).toEqual(["POST /containers/·/files", "DELETE /containers/·/files/·"]);
    expect(await listPaths(stage, id)).toEqual(["a.txt", "wink-7c1e-paths.json"]);
    await files.delete("sub/a.txt");
    expect(await listPaths(stage, id)).toEqual(["wink-7c1e-paths.json"]);
  });

  test("lets a patch move a file onto another, and undo it if the patch fails", async () => {
    const { stage, files } = await createFilesystem();
    await files.writeText("a.txt", "one\n");
    await files.writeText("b.txt", "two\n");
    const move = { type: "update", path: "a.txt", diff: "", moveTo: "b.txt" } as const;
    const below = { type: "create", path: "b.txt/c", diff: "+c" } as const;
    await expect(applyPatch(files, [move, below])).rejects.toThrow(PatchError);
    expect(await files.readText("a.txt")).toBe("one\n");
    expect(await files.readText("b.txt")).toBe("two\n");
    await applyPatch(files, [move]);
    expect(await files.glob("*.txt")).toEqual(["b.txt"]);
    expect(await files.readText("b.txt")).toBe("one\n");
    const id = files.containerId ?? "";
    expect(await listPaths(stage, id)).toEqual(["b.txt", "wink-7c1e-paths.json"]);
  });

  test("restores the local file if the upload fails", async () => {
    const { stage, files } = await createFilesystem();
    await files.writeText("a.txt", "one");
    stage.intercept(({ method, path }) =>
      method === "POST" && path.endsWith("/files")
        ? { status: 400, body: '{"error":{"message":"No."}}' }
        : null,
    );
    await expect(files.writeText("a.txt", "two")).rejects.toThrow(
      'The provider rejected "a.txt" (',
    );
    expect(await files.readText("a.txt")).toBe("one");
  });

  test("starts with the files in localRoot and applies changes there", async () => {
    const localRoot = temporaryTree({ "a.txt": "one", "sub/b.txt": "two" });
    const { stage, files } = await createFilesystem({ localRoot });
    expect(await files.readText("sub/b.txt")).toBe("two");
    expect(await listPaths(stage, files.containerId ?? "")).toEqual([
      ...["a.txt", "b.txt", "wink-7c1e-paths.json"],
    ]);
    await files.writeText("sub/c.txt", "three");
    await files.delete("a.txt");
    expect(readFiles(localRoot)).toEqual({ "sub/b.txt": "two", "sub/c.txt": "three" });
    await files.cleanup();
    expect(readFiles(localRoot)).toEqual({ "sub/b.txt": "two", "sub/c.txt": "three" });
  });

  test("starts with an archive and keeps files that exist only in it", async () => {
    const localRoot = temporaryTree({ "a.txt": "one", "sub/b.txt": "two" });
    const tarballPath = join(temporaryTree(), "start.tar");
    execFileSync("tar", ["-cf", tarballPath, "-C", localRoot, "."]);
    const { stage, files } = await createFilesystem({ localRoot, tarballPath });
    await files.writeText("c.txt", "three");
    expect(await listPaths(stage, files.containerId ?? "")).toEqual([
      ...["c.txt", "start.tar", "wink-7c1e-paths.json"],
    ]);
    await waitUntilStale();
    expect(await files.readText("a.txt")).toBe("one");
    expect(readFiles(localRoot)).toEqual({ "a.txt": "one", "sub/b.txt": "two", "c.txt": "three" });
    await files.delete("a.txt");
    await files.writeText("sub/b.txt", "changed");
    expect(readFiles(localRoot)).toEqual({ "sub/b.txt": "changed", "c.txt": "three" });
  });

  test("fills a new container with the archive and all later writes", async () => {
    const localRoot = temporaryTree({ "a.txt": "one" });
    const tarballPath = join(temporaryTree(), "start.tar");
    execFileSync("tar", ["-cf", tarballPath, "-C", localRoot, "."]);
    const { stage, files } = await createFilesystem({ localRoot, tarballPath });
    await files.writeText("b.txt", "two");
    const first = files.containerId ?? "";
    await stage.calls.remove(first);
    await files.writeText("c.txt", "three");
    expect(files.containerId).not.toBe(first);
    expect(await listPaths(stage, files.containerId ?? "")).toEqual([
      ...["b.txt", "c.txt", "start.tar", "wink-7c1e-paths.json"],
    ]);
  });

  test("notices remote changes after one second", async () => {
    const { stage, files } = await createFilesystem();
    await files.writeText("a.txt", "one");
    const id = files.containerId ?? "";
    for await (const file of stage.calls.list(id)) {
      if (file.path.endsWith("a.txt")) await stage.calls.removeFile(id, file.id);
    }
    expect(await files.exists("a.txt")).toBe(true);
    await waitUntilStale();
    expect(await files.exists("a.txt")).toBe(false);
  });

  test("downloads remote files to a localRoot on another disk", async () => {
    if (!existsSync("/dev/shm")) return;
    const localRoot = mkdtempSync("/dev/shm/wink-test-");
    onTestFinished(() => rmSync(localRoot, { recursive: true }));
    const stage = await createInterceptionFixture([
      [{ code: "open('/mnt/data/new.txt', 'w').write('new') and None" }],
      [{ say: "Done." }],
    ]);
    const files = new ContainerFilesystem({ client: stage.client, localRoot });
    onTestFinished(() => files.cleanup());
    const container = await files.ensureContainer();
    await stage.client.responses.create({
      ...{ model: "local", input: "Go." },
      tools: [{ type: "code_interpreter", container }],
    });
    await waitUntilStale();
    expect(await files.readText("new.txt")).toBe("new");
    expect(readFiles(localRoot)).toEqual({ "new.txt": "new" });
  });

  test("downloads all files to a folder", async () => {
    const { files } = await createFilesystem();
    await files.writeText("a.txt", "one");
    await files.writeText("sub/b.txt", "two");
    const to = join(temporaryTree(), "all");
    expect(await files.downloadAll(to)).toMatchObject({
      ...{ directory: to, added: ["a.txt", "sub/b.txt"], changed: [], deleted: [], failed: [] },
    });
    expect(readFiles(to)).toEqual({ "a.txt": "one", "sub/b.txt": "two" });
  });

  test("removes its temporary files on cleanup and rejects further use", async () => {
    const temporary = temporaryTree();
    const stage = await createInterceptionFixture([]);
    const before = process.env["TMPDIR"] ?? tmpdir();
    onTestFinished(() => void Object.assign(process.env, { TMPDIR: before }));
    Object.assign(process.env, { TMPDIR: temporary });
    const files = new ContainerFilesystem({ client: stage.client });
    await files.writeText("a.txt", "one");
    const listWorkspaces = () =>
      readdirSync(temporary).filter((name) => name.startsWith("wink-workspace-"));
    expect(listWorkspaces()).toHaveLength(1);
    await files.cleanup();
    await files.cleanup();
    expect(listWorkspaces()).toEqual([]);
    await expect(files.readText("a.txt")).rejects.toThrow("The container was released");
  });
});
