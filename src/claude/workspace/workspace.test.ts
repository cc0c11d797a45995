import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { Announcement } from "../../adapter/events.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { Session } from "../../session/session.ts";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";

type Options = Partial<ClaudeAgentWorkspaceSectionOptions>;

/** A workspace in which three files were mounted; `shell` works in it as another process does. */
async function worked(script: string, options: Options = {}) {
  const folder = temporaryTree({ "a.txt": "one", "b.txt": "two", "sub/c.txt": "three" });
  const section = new ClaudeAgentWorkspaceSection({
    session: new Session(),
    mounts: [{ hostPath: folder, mountPath: "p" }],
    ...options,
  });
  onTestFinished(async () => {
    const { directory, keptIn } = await section.cleanup();
    const made = [keptIn, options.syncDestination ? null : directory];
    for (const one of made) if (one !== null) rmSync(one, { recursive: true });
  });
  await section.ready();
  execFileSync("sh", ["-c", script], { cwd: section.tempDir });
  return { folder, section };
}

const CHANGES = "printf new > p/new.txt; printf 'one!' > p/a.txt; rm p/b.txt";
const CHANGED = { "p/a.txt": "one!", "p/new.txt": "new", "p/sub/c.txt": "three" };

describe("what a workspace of this machine brings back", () => {
  test.each<readonly [string, { syncPolicy?: SyncPolicy; syncOnCleanup?: boolean }, boolean]>([
    ["nothing", { syncPolicy: "never" }, false],
    ["nothing, if nobody says", {}, false],
    ["nothing, although cleaning up would", { syncPolicy: "never", syncOnCleanup: true }, false],
    ["all at the end", { syncOnCleanup: true }, true],
    ["all at the end, by its other name", { syncPolicy: "cleanup" }, true],
    ["all at the end, for it was here after each turn", { syncPolicy: "eachTurn" }, true],
  ])("is %s: %o", async (_, options, isSynced) => {
    const { section } = await worked(CHANGES, options);
    expect(filesIn(section.tempDir)).toEqual(CHANGED);
    const report = await section.cleanup();
    expect(report).toEqual({
      directory: section.syncedDir,
      added: isSynced ? ["p/new.txt"] : [],
      changed: isSynced ? ["p/a.txt"] : [],
      deleted: isSynced ? ["p/b.txt"] : [],
      ...{ failed: [], keptIn: null },
    });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    if (section.syncedDir === null) return expect(isSynced).toBe(false);
    expect(dirname(section.syncedDir)).toBe(tmpdir());
    expect(filesIn(section.syncedDir)).toEqual(CHANGED);
  });

  test("goes into the folder it was mounted from, where only what was changed is touched", async () => {
    const home = temporaryTree({ "p/a.txt": "one", "p/b.txt": "two", "p/c.txt": "three" });
    const { section } = await worked(CHANGES, {
      mounts: [{ hostPath: join(home, "p") }],
      syncOnCleanup: true,
      syncDestination: home,
    });
    writeFileSync(join(home, "p/c.txt"), "by the user");
    await section.cleanup();
    expect(section.syncedDir).toBe(home);
    expect(filesIn(home)).toEqual({
      ...{ "p/a.txt": "one!", "p/new.txt": "new", "p/c.txt": "by the user" },
    });
  });

  test("goes into a new folder, whose parents are made as well", async () => {
    const to = join(temporaryTree(), "not/yet/there");
    const { section } = await worked(CHANGES, { syncPolicy: "cleanup", syncDestination: to });
    await section.cleanup();
    expect(filesIn(to)).toEqual(CHANGED);
  });

  test("is kept elsewhere where the folder cannot be written", async () => {
    const at = join(temporaryTree({ file: "x" }), "file");
    const syncDestination = join(at, "below");
    const { section } = await worked(CHANGES, { syncOnCleanup: true, syncDestination });
    const { failed, keptIn } = await section.cleanup();
    expect(failed.map(({ path }) => path).sort()).toEqual([
      ...["p/a.txt", "p/b.txt", "p/new.txt", "p/sub/c.txt"],
    ]);
    expect(filesIn(keptIn ?? "")).toEqual(CHANGED);
    expect(existsSync(section.tempDir)).toBe(false);
  });

  test("is nothing where its mounts could never be copied", async () => {
    const folder = temporaryTree({ "a.txt": "one" });
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const options = { session: new Session(), mounts, syncOnCleanup: true };
    const section = new ClaudeAgentWorkspaceSection(options);
    rmSync(join(folder, "a.txt"));
    await expect(section.ready()).rejects.toThrow("does not exist: plan the mounts again");
    expect(await section.cleanup()).toMatchObject({ directory: null, failed: [] });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("is told to whom the adapter says", async () => {
    const { section } = await worked(CHANGES, { syncOnCleanup: true });
    const events: Announcement[] = [];
    section.workspace.bind((event) => events.push(event));
    const { directory, added, changed, deleted, failed } = await section.cleanup();
    expect(events).toEqual([
      { type: "WorkspaceSynced", directory, added, changed, deleted, failed },
    ]);
  });
});

describe("what a workspace of this machine cannot bring back", () => {
  test("is told, and stops nothing else: links, pipes, names", async () => {
    const to = temporaryTree({ "p/b.txt": "theirs", "p/sub/c.txt": "theirs" });
    const script = `${CHANGES}; ln -s /etc/passwd p/b.txt; mkfifo pipe; rm -r p/sub; ln -s /etc p/sub`;
    const { section } = await worked(script, { syncOnCleanup: true, syncDestination: to });
    const link = "is a symlink, and only files and folders are synced";
    expect(await section.cleanup()).toMatchObject({
      ...{ added: ["p/new.txt"], changed: ["p/a.txt"], deleted: [], keptIn: null },
      failed: [
        { path: "p/b.txt", reason: link },
        { path: "p/sub", reason: link },
        { path: "pipe", reason: "is neither file nor folder" },
      ],
    });
    expect(filesIn(to)).toEqual({
      ...{ "p/a.txt": "one!", "p/new.txt": "new" },
      ...{ "p/b.txt": "theirs", "p/sub/c.txt": "theirs" },
    });
  });

  test.each<readonly [string, (folder: string) => void, string]>([
    ["is gone", (folder) => rmSync(folder, { recursive: true }), "cannot be read: ENOENT"],
    [
      "is a link by now",
      (folder) => {
        renameSync(folder, `${folder}-2`);
        const outside = join(dirname(folder), "outside");
        mkdirSync(outside);
        writeFileSync(join(outside, "stolen.txt"), "s");
        symlinkSync(outside, folder);
      },
      "is no longer a folder",
    ],
  ])(
    "is all of it where its folder %s, and nothing is deleted for that",
    async (_, act, reason) => {
      const to = temporaryTree({ "p/a.txt": "theirs" });
      const { section } = await worked(":", { syncOnCleanup: true, syncDestination: to });
      act(section.tempDir);
      const report = await section.cleanup();
      expect(report).toMatchObject({
        added: [],
        changed: [],
        deleted: [],
        failed: [{ path: "." }],
      });
      expect(report.failed[0]?.reason).toContain(reason);
      expect(filesIn(to)).toEqual({ "p/a.txt": "theirs" });
      expect(existsSync(dirname(section.tempDir))).toBe(false);
    },
  );
});
