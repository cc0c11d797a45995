import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { ClaudeHome } from "./claude-home.ts";

/** Sets the folder for temporary folders until the test ends, and returns it. */
function setTemporaryFolder(folder = temporaryTree()): string {
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

describe("ClaudeHome", () => {
  test("creates empty folders that only this user can access", async () => {
    setTemporaryFolder();
    const { home, temporary, work } = await ClaudeHome.create();
    for (const folder of [home, temporary, work]) {
      expect(readdirSync(folder)).toEqual([]);
      expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    }
    expect(new Set([home, temporary, work]).size).toBe(3);
  });

  test("has real paths even if the temporary folder is a symlink", async () => {
    const real = temporaryTree();
    const link = join(temporaryTree(), "link");
    symlinkSync(real, link);
    setTemporaryFolder(link);
    const created = await ClaudeHome.create();
    expect(created.work.startsWith(realpathSync(real))).toBe(true);
  });

  test("removes its folders with their content, and can be removed twice", async () => {
    const folders = setTemporaryFolder();
    const created = await ClaudeHome.create();
    writeTree(created.home, { ".claude/.claude.json": "{}" });
    await created.remove();
    await created.remove();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("removes its folders when its scope ends", async () => {
    const folders = setTemporaryFolder();
    {
      await using created = await ClaudeHome.create();
      expect(existsSync(created.work)).toBe(true);
    }
    expect(readdirSync(folders)).toEqual([]);
  });

  test("removes a crashed process's folders when new ones are created", async () => {
    const folders = setTemporaryFolder();
    const abandoned = await ClaudeHome.create();
    const owner = join(dirname(dirname(abandoned.home)), "owner.json");
    writeTree(dirname(owner), {
      "owner.json": JSON.stringify({
        ...JSON.parse(readFileSync(owner, "utf8")),
        pid: 999_999_999,
      }),
    });
    const next = await ClaudeHome.create();
    expect(existsSync(abandoned.home)).toBe(false);
    await next.remove();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("removes everything if its folders cannot be created", async () => {
    const folders = setTemporaryFolder();
    const folder = reserveFolder();
    const create = async () => {
      await folder.create();
      rmdirSync(folder.files);
      writeTree(folder.home, { files: "a file, not a folder" });
    };
    await expect(ClaudeHome.create({ ...folder, create })).rejects.toMatchObject({
      name: "FilesystemError",
      path: folder.home,
      message: expect.stringContaining(
        "set TMPDIR to another folder, so that the run's folders can be created",
      ),
    });
    expect(readdirSync(folders)).toEqual([]);
  });
});
