import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { quickClock } from "../../../tests/support/quick-clock.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import type { AdapterEvent } from "../../adapter/events.ts";
import { silentLogger } from "../../base/logger.ts";
import type { ByteProgress } from "../../base/track-bytes.ts";
import type { SyncPolicy } from "../../files/sync/sync-policy.ts";
import { Session } from "../../session/session.ts";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";

type Options = Partial<ClaudeAgentWorkspaceSectionOptions>;

/** Creates a workspace with three mounted files, and runs a shell script in its folder. */
async function createChanged(script: string, options: Options = {}) {
  const folder = temporaryTree({ "a.txt": "one", "b.txt": "two", "sub/c.txt": "three" });
  const section = new ClaudeAgentWorkspaceSection({
    session: new Session(),
    mounts: [{ hostPath: folder, mountPath: "p" }],
    ...options,
  });
  onTestFinished(async () => {
    const { directory, conflictsDir } = await section.cleanup();
    const folders = [conflictsDir, options.syncDestination ? null : directory];
    for (const one of folders) if (one !== null) rmSync(one, { recursive: true });
  });
  await section.ready();
  execFileSync("sh", ["-c", script], { cwd: section.tempDir });
  return { folder, section };
}

const CHANGES = "printf new > p/new.txt; printf 'one!' > p/a.txt; rm p/b.txt";
const CHANGED = { "p/a.txt": "one!", "p/new.txt": "new", "p/sub/c.txt": "three" };

describe("HostWorkspace.cleanup()", () => {
  test.each<readonly [string, { syncPolicy?: SyncPolicy; syncOnCleanup?: boolean }, boolean]>([
    ["nothing", { syncPolicy: "never" }, false],
    ["nothing by default", {}, false],
    ["nothing without syncOnCleanup", { syncPolicy: "never", syncOnCleanup: false }, false],
    ["all files with syncOnCleanup", { syncOnCleanup: true }, true],
    ["all files with cleanup", { syncPolicy: "cleanup" }, true],
    ["all files with eachTurn", { syncPolicy: "eachTurn" }, true],
  ])("syncs %s: %o", async (_, options, isSynced) => {
    const { section } = await createChanged(CHANGES, options);
    expect(filesIn(section.tempDir)).toEqual(CHANGED);
    const report = await section.cleanup();
    expect(report).toEqual({
      directory: section.syncedDir,
      added: isSynced ? ["p/new.txt"] : [],
      changed: isSynced ? ["p/a.txt"] : [],
      deleted: isSynced ? ["p/b.txt"] : [],
      ...{ failed: [], conflicts: [], conflictsDir: null, keptIn: null },
    });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    if (section.syncedDir === null) return expect(isSynced).toBe(false);
    expect(dirname(section.syncedDir)).toBe(tmpdir());
    expect(filesIn(section.syncedDir)).toEqual(CHANGED);
  });

  test("syncs only changed files to the folder that was mounted", async () => {
    const home = temporaryTree({ "p/a.txt": "one", "p/b.txt": "two", "p/c.txt": "three" });
    const { section } = await createChanged(CHANGES, {
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

  test("creates the destination and its parents", async () => {
    const to = join(temporaryTree(), "not/yet/there");
    const { section } = await createChanged(CHANGES, {
      syncPolicy: "cleanup",
      syncDestination: to,
    });
    await section.cleanup();
    expect(filesIn(to)).toEqual(CHANGED);
  });

  test("keeps the files in another folder if the destination cannot be written", async () => {
    const at = join(temporaryTree({ file: "x" }), "file");
    const syncDestination = join(at, "below");
    const { section } = await createChanged(CHANGES, { syncOnCleanup: true, syncDestination });
    const { failed, keptIn } = await section.cleanup();
    expect(failed.map(({ path }) => path).sort()).toEqual([
      ...["p/a.txt", "p/b.txt", "p/new.txt", "p/sub/c.txt"],
    ]);
    expect(filesIn(keptIn ?? "")).toEqual(CHANGED);
    expect(existsSync(section.tempDir)).toBe(false);
  });

  test("moves the files away if neither the destination nor a copy can be written", async () => {
    const syncDestination = join(temporaryTree({ file: "x" }), "file/below");
    const { section } = await createChanged(CHANGES, { syncOnCleanup: true, syncDestination });
    vi.stubEnv("TMPDIR", "/proc/nowhere");
    onTestFinished(() => void vi.unstubAllEnvs());
    const { failed, conflictsDir } = await section.cleanup();
    expect(failed.map(({ path }) => path)).not.toContain(".");
    expect(filesIn(conflictsDir ?? "")).toEqual(CHANGED);
    expect(statSync(conflictsDir ?? "").mode & 0o777).toBe(0o700);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("reports the progress of copies and syncs", async () => {
    const section = new ClaudeAgentWorkspaceSection({
      session: new Session(),
      mounts: [{ hostPath: temporaryTree({ "a.bin": Buffer.alloc(8_000_000) }), mountPath: "p" }],
      ...{ syncOnCleanup: true, syncDestination: temporaryTree() },
    });
    const reports: ByteProgress[] = [];
    const onProgress = (one: ByteProgress) => void reports.push(one);
    section.workspace.bind(
      () => {},
      silentLogger,
      () => ({ clock: quickClock, onProgress }),
    );
    await section.ready();
    const copied = reports.splice(0);
    expect(new Set(copied.map(({ step }) => step))).toEqual(new Set(["copy"]));
    await section.cleanup();
    expect(new Set(reports.map(({ step }) => step))).toEqual(new Set(["fetch"]));
    for (const { doneBytes, totalBytes } of [copied.at(-1), reports.at(-1)].filter((one) => !!one))
      expect([doneBytes, totalBytes]).toEqual([8_000_000, 8_000_000]);
  });

  test("keeps files that the user edited, and publishes the conflicts", async () => {
    const home = temporaryTree({ "p/a.txt": "one", "p/b.txt": "two" });
    const { section } = await createChanged(CHANGES, {
      mounts: [{ hostPath: join(home, "p") }],
      syncOnCleanup: true,
      syncDestination: home,
    });
    const events: AdapterEvent[] = [];
    section.workspace.bind((event) => events.push(event), silentLogger);
    writeFileSync(join(home, "p/a.txt"), "by the user");
    writeFileSync(join(home, "p/b.txt"), "by the user");
    const { conflicts, conflictsDir } = await section.cleanup();
    expect(conflicts.map(({ path }) => path)).toEqual(["p/a.txt", "p/b.txt"]);
    expect(events).toMatchObject([{ type: "WorkspaceSynced", conflicts }]);
    expect(filesIn(conflictsDir ?? "")).toEqual({ "p/a.txt": "one!" });
    expect(filesIn(home)).toEqual({
      ...{ "p/a.txt": "by the user", "p/b.txt": "by the user", "p/new.txt": "new" },
    });
  });

  test("carries permissions and empty folders to the mounted folder", async () => {
    const home = temporaryTree({ "p/a.txt": "one", "p/d/b.txt": "two" });
    const script = "chmod 755 p/a.txt; mkdir -p p/empty/deep; rm -r p/d";
    const { section } = await createChanged(script, {
      mounts: [{ hostPath: join(home, "p") }],
      syncOnCleanup: true,
      syncDestination: home,
    });
    expect(await section.cleanup()).toMatchObject({
      ...{ changed: ["p/a.txt"], deleted: ["p/d/b.txt"], failed: [], conflicts: [] },
    });
    expect(statSync(join(home, "p/a.txt")).mode & 0o777).toBe(0o755);
    expect(readdirSync(join(home, "p")).sort()).toEqual(["a.txt", "empty"]);
    expect(readdirSync(join(home, "p/empty"))).toEqual(["deep"]);
  });

  test("syncs nothing if the mounts could not be copied", async () => {
    const folder = temporaryTree({ "a.txt": "one" });
    const mounts = [{ hostPath: folder, mountPath: "p" }];
    const options = { session: new Session(), mounts, syncOnCleanup: true };
    const section = new ClaudeAgentWorkspaceSection(options);
    rmSync(join(folder, "a.txt"));
    await expect(section.ready()).rejects.toThrow(
      "does not exist. Create the workspace section or the plan again",
    );
    expect(await section.cleanup()).toMatchObject({ directory: null, failed: [] });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("logs globs that match nothing, once", () => {
    const folder = temporaryTree({ "a.txt": "" });
    const mounts = [{ hostPath: folder, mountPath: "p", excludeGlob: ["secrit", "*.txt"] }];
    const section = new ClaudeAgentWorkspaceSection({ session: new Session(), mounts });
    onTestFinished(async () => void (await section.cleanup()));
    const warnings: unknown[] = [];
    const logger = { ...silentLogger, warn: (...given: unknown[]) => warnings.push(given) };
    section.workspace.bind(() => {}, logger);
    section.workspace.bind(() => {}, logger);
    const facts = { hostPath: folder, mountPath: "p", globs: ["secrit"] };
    expect(warnings).toEqual([["globs of a mount match nothing", facts]]);
  });

  test("publishes WorkspaceSynced through the bound function", async () => {
    const { section } = await createChanged(CHANGES, { syncOnCleanup: true });
    const events: AdapterEvent[] = [];
    section.workspace.bind((event) => events.push(event), silentLogger);
    const { directory, added, changed, deleted, failed, conflicts } = await section.cleanup();
    expect(events).toEqual([
      { type: "WorkspaceSynced", directory, added, changed, deleted, failed, conflicts },
    ]);
  });
});

describe("HostWorkspace.cleanup() with files that cannot be synced", () => {
  test("reports symlinks and pipes, and syncs all other files", async () => {
    const to = temporaryTree({ "p/b.txt": "theirs", "p/sub/c.txt": "theirs" });
    const script = `${CHANGES}; ln -s /etc/passwd p/b.txt; mkfifo pipe; rm -r p/sub; ln -s /etc p/sub`;
    const { section } = await createChanged(script, { syncOnCleanup: true, syncDestination: to });
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
    ["is missing", (folder) => rmSync(folder, { recursive: true }), "cannot be read: ENOENT"],
    [
      "was replaced by a symlink",
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
    "reports one failure and deletes nothing if the workspace folder %s",
    async (_, act, reason) => {
      const to = temporaryTree({ "p/a.txt": "theirs" });
      const { section } = await createChanged(":", { syncOnCleanup: true, syncDestination: to });
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
