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
import { growTree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { reserveFolder } from "../../host/temporary-folder.ts";
import { ClaudeHome } from "./claude-home.ts";

/** Temporary folders are made in here, for this test. */
function temporaryFolders(folder = temporaryTree()): string {
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  return folder;
}

describe("the folders of a run", () => {
  test("are empty, and this user's alone", async () => {
    temporaryFolders();
    const { home, temporary, work } = await ClaudeHome.create();
    for (const folder of [home, temporary, work]) {
      expect(readdirSync(folder)).toEqual([]);
      expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    }
    expect(new Set([home, temporary, work]).size).toBe(3);
  });

  test("have real paths, even where the temporary folder is a link", async () => {
    const real = temporaryTree();
    const link = join(temporaryTree(), "link");
    symlinkSync(real, link);
    temporaryFolders(link);
    const made = await ClaudeHome.create();
    expect(made.work.startsWith(realpathSync(real))).toBe(true);
  });

  test("are removed with all that is in them, as often as one likes", async () => {
    const folders = temporaryFolders();
    const made = await ClaudeHome.create();
    growTree(made.home, { ".claude/.claude.json": "{}" });
    await made.remove();
    await made.remove();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("are removed when their scope ends", async () => {
    const folders = temporaryFolders();
    {
      await using made = await ClaudeHome.create();
      expect(existsSync(made.work)).toBe(true);
    }
    expect(readdirSync(folders)).toEqual([]);
  });

  test("of a process that has crashed are removed when the next are made", async () => {
    const folders = temporaryFolders();
    const left = await ClaudeHome.create();
    const owner = join(dirname(dirname(left.home)), "owner.json");
    growTree(dirname(owner), {
      "owner.json": JSON.stringify({
        ...JSON.parse(readFileSync(owner, "utf8")),
        pid: 999_999_999,
      }),
    });
    const next = await ClaudeHome.create();
    expect(existsSync(left.home)).toBe(false);
    await next.remove();
    expect(readdirSync(folders)).toEqual([]);
  });

  test("leave nothing where they cannot be made", async () => {
    const folders = temporaryFolders();
    const folder = reserveFolder();
    const create = async () => {
      await folder.create();
      rmdirSync(folder.files);
      growTree(folder.home, { files: "a file, not a folder" });
    };
    await expect(ClaudeHome.create({ ...folder, create })).rejects.toMatchObject({
      name: "FilesystemError",
      path: folder.home,
      message: expect.stringContaining("the folders of a run could not be made: see to it"),
    });
    expect(readdirSync(folders)).toEqual([]);
  });
});
