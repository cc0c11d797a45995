import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CraftedEntry, createTar } from "../../../tests/support/crafted-tar.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { createInterceptionFixture } from "../../../tests/support/workspace/interception-fixture.ts";
import { readFiles } from "../../../tests/support/workspace/workspace-fixture.ts";
import { WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { ContainerFilesystem, type ContainerFilesystemOptions } from "./container-filesystem.ts";

async function createFilesystem(options: Partial<ContainerFilesystemOptions>) {
  const stage = await createInterceptionFixture([]);
  const files = new ContainerFilesystem({ client: stage.client, ...options });
  onTestFinished(() => files.cleanup());
  return { stage, files };
}

/** Packs a folder with GNU tar and returns the archive's path. */
function packWithTar(folder: string, name = "start.tar", ...flags: readonly string[]): string {
  const path = join(temporaryTree(), name);
  execFileSync("tar", ["-cf", path, ...flags, "-C", folder, "."]);
  return path;
}

function writeArchive(...entries: readonly CraftedEntry[]): string {
  return join(temporaryTree({ "start.tar": createTar(...entries) }), "start.tar");
}

const TREE = { "a.txt": "one", "sub/b.txt": "two", "sub/empty": null } as const;

async function listNames(
  { calls }: Awaited<ReturnType<typeof createFilesystem>>["stage"],
  files: ContainerFilesystem,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { path } of calls.list(files.containerId ?? "")) {
    found.push(path.replace(/^\/mnt\/data\/(?:[0-9a-f]{32}-)?/, ""));
  }
  return found.sort();
}

describe("a ContainerFilesystem with an archive and no localRoot", () => {
  test.each([
    ["start.tar", []],
    ["start.tar.gz", ["-z"]],
  ])("has the files and folders of %s", async (name, flags) => {
    const tarballPath = packWithTar(temporaryTree(TREE), name, ...flags);
    const { stage, files } = await createFilesystem({ tarballPath });
    expect(await files.readText("a.txt")).toBe("one");
    expect(await files.glob("*")).toEqual(["a.txt", "sub/b.txt"]);
    expect([await files.listDir("sub"), await files.isDir("sub/empty")]).toEqual([
      ["b.txt", "empty"],
      true,
    ]);
    expect(await listNames(stage, files)).toEqual([name, "wink-7c1e-paths.json"]);
  });

  test("writes, deletes and downloads all files, and reports the changes", async () => {
    const folder = temporaryTree({ ...TREE, "run.sh": "#!/bin/sh", key: "secret" });
    chmodSync(join(folder, "run.sh"), 0o755);
    chmodSync(join(folder, "key"), 0o600);
    const { files } = await createFilesystem({ tarballPath: packWithTar(folder) });
    await files.writeText("c.txt", "three");
    await files.writeText("sub/b.txt", "changed");
    await files.delete("a.txt");
    const to = join(temporaryTree(), "all");
    expect(await files.downloadAll(to)).toMatchObject({
      ...{
        directory: to,
        added: ["c.txt"],
        changed: ["sub/b.txt"],
        deleted: ["a.txt"],
        failed: [],
      },
    });
    expect(readFiles(to)).toEqual({
      ...{ "c.txt": "three", key: "secret", "run.sh": "#!/bin/sh", "sub/b.txt": "changed" },
    });
    const modes = ["c.txt", "key", "run.sh"].map((path) => statSync(join(to, path)).mode & 0o777);
    expect(modes).toEqual([0o644, 0o600, 0o755]);
  });

  test("downloads all files first", async () => {
    const { files } = await createFilesystem({ tarballPath: packWithTar(temporaryTree(TREE)) });
    const to = join(temporaryTree(), "all");
    expect(await files.downloadAll(to)).toMatchObject({ added: [], changed: [], deleted: [] });
    expect(readFiles(to)).toEqual({ "a.txt": "one", "sub/b.txt": "two" });
  });

  test("leaves the archive unchanged and removes the unpacked files on cleanup", async () => {
    const tarballPath = packWithTar(temporaryTree(TREE));
    const { size, mtimeMs } = statSync(tarballPath);
    const temporary = temporaryTree();
    const before = process.env["TMPDIR"];
    onTestFinished(() => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    });
    process.env["TMPDIR"] = temporary;
    const { files } = await createFilesystem({ tarballPath });
    await files.writeText("a.txt", "changed");
    const listWorkspaces = () =>
      readdirSync(temporary).filter((name) => name.startsWith("wink-workspace-"));
    expect(listWorkspaces()).toHaveLength(1);
    await files.cleanup();
    expect(listWorkspaces()).toEqual([]);
    expect(statSync(tarballPath)).toMatchObject({ size, mtimeMs });
  });

  test.each([
    ["with files", TREE],
    ["without files", {}],
  ])("fills a replacement with later writes, for an archive %s", async (_, tree) => {
    const tarballPath = packWithTar(temporaryTree(tree));
    const { stage, files } = await createFilesystem({ tarballPath });
    await files.writeText("c.txt", "three");
    await stage.calls.remove(files.containerId ?? "");
    await files.writeText("d.txt", "four");
    expect(await listNames(stage, files)).toEqual([
      ...["c.txt", "d.txt", "start.tar", "wink-7c1e-paths.json"],
    ]);
    expect(await files.readText("c.txt")).toBe("three");
  });

  test("skips links and devices, and reports them when all files are downloaded", async () => {
    const tarballPath = writeArchive(
      { name: "link", type: "2" },
      { name: "device", type: "3" },
      { name: "a.txt", content: "one" },
    );
    const { files } = await createFilesystem({ tarballPath });
    expect(await files.glob("*")).toEqual(["a.txt"]);
    const { failed } = await files.downloadAll(join(temporaryTree(), "all"));
    expect(failed).toEqual([
      { path: "link", reason: "is a symlink, and only files and folders are unpacked" },
      { path: "device", reason: "is a device, and only files and folders are unpacked" },
    ]);
  });
});

describe("the archive of a ContainerFilesystem", () => {
  const unpackable = { code: "EINVAL", name: "FilesystemError" };

  test.each([
    ["is missing", () => join(temporaryTree(), "gone.tar"), { code: "ENOENT" }, /does not exist/],
    ["is a folder", () => temporaryTree(), { code: "EISDIR" }, /directory/],
    ["is empty", () => join(temporaryTree({ "none.tar": "" }), "none.tar"), unpackable, /cut off/],
    [
      "is no archive",
      () => join(temporaryTree({ "a.txt": "x".repeat(2_000) }), "a.txt"),
      unpackable,
      /damaged at byte 0/,
    ],
    [
      "is a damaged gzip file",
      () => {
        const path = packWithTar(temporaryTree(TREE), "cut.tar.gz", "-z");
        truncateSync(path, 40);
        return path;
      },
      unpackable,
      /unexpected end of file/,
    ],
    [
      "is a gzip file without an archive",
      () => join(temporaryTree({ "a.gz": gzipSync("x".repeat(2_000)) }), "a.gz"),
      unpackable,
      /damaged at byte 0/,
    ],
    ["has a duplicate name", () => writeArchive({}, { name: "./a" }), unpackable, /twice/],
  ])(
    "is named in the error if it %s, and no container is created",
    async (_, make, fields, text) => {
      const tarballPath = make();
      const { stage, files } = await createFilesystem({ tarballPath });
      const expected = { ...fields, path: tarballPath, message: expect.stringMatching(text) };
      await expect(files.readText("a.txt")).rejects.toMatchObject(expected);
      await expect(files.ensureContainer()).rejects.toMatchObject(expected);
      await expect(files.downloadAll(temporaryTree())).rejects.toMatchObject(expected);
      expect(stage.requests).toEqual([]);
    },
  );

  test("is rejected if it leads out of its folder, and nothing is written", async () => {
    const folder = temporaryTree();
    const tarballPath = writeArchive({ name: "a.txt" }, { name: `../../../..${folder}/evil` });
    const { stage, files } = await createFilesystem({ tarballPath });
    const reading = files.readText("a.txt");
    await expect(reading).rejects.toBeInstanceOf(WorkspaceSecurityError);
    await expect(reading).rejects.toThrow(JSON.stringify(tarballPath));
    expect([existsSync(join(folder, "evil")), stage.requests]).toEqual([false, []]);
  });

  test("can be repaired after an error", async () => {
    const folder = temporaryTree();
    const tarballPath = join(folder, "start.tar");
    const { files } = await createFilesystem({ tarballPath });
    await expect(files.readText("a.txt")).rejects.toMatchObject({ code: "ENOENT" });
    writeFileSync(tarballPath, createTar({ name: "a.txt", content: "one" }));
    expect(await files.readText("a.txt")).toBe("one");
  });

  test("is named in the error if it is missing and there is a localRoot", async () => {
    const tarballPath = join(temporaryTree(), "gone.tar");
    const localRoot = join(temporaryTree(), "root");
    mkdirSync(localRoot);
    const { stage, files } = await createFilesystem({ tarballPath, localRoot });
    await expect(files.writeText("a.txt", "one")).rejects.toMatchObject({
      ...{ code: "ENOENT", path: tarballPath },
    });
    expect(stage.requests).toEqual([]);
  });
});
