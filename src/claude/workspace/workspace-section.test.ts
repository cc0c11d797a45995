import { execFile } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { Prompt } from "../../prompt/prompt.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import {
  ClaudeAgentWorkspaceSection,
  type ClaudeAgentWorkspaceSectionOptions,
} from "./workspace-section.ts";

function createWorkspace(options: Partial<ClaudeAgentWorkspaceSectionOptions> = {}) {
  const folder = temporaryTree({ "a.txt": "one", "sub/b.txt": "two!", ".env": "KEY=1" });
  const session = new Session();
  const mounts = [{ hostPath: folder, mountPath: "p" }];
  const section = new ClaudeAgentWorkspaceSection({ session, mounts, ...options });
  onTestFinished(async () => void (await section.cleanup()));
  return { folder, session, section };
}

const copies = { "p/a.txt": "one", "p/sub/b.txt": "two!" };

describe("ClaudeAgentWorkspaceSection", () => {
  test("only scans the mounts in its constructor", async () => {
    const start = Date.now();
    const { folder, session, section } = createWorkspace({ syncOnCleanup: true });
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
    expect(section).toMatchObject({ containerId: null, syncedDir: null, session });
    expect(section.createdAt.getTime()).toBeGreaterThanOrEqual(start);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    const nothing = { added: [], changed: [], deleted: [], failed: [], conflicts: [] };
    expect(await section.cleanup()).toEqual({
      directory: null,
      ...nothing,
      conflictsDir: null,
      keptIn: null,
    });
    expect(section.syncedDir).toBeNull();
  });

  test("copies its mounts once, in ready()", async () => {
    const { folder, section } = createWorkspace();
    await Promise.all([section.ready(), section.ready(), section.filesystem.exists("p")]);
    expect(filesIn(section.tempDir)).toEqual(copies);
    appendFileSync(join(folder, "a.txt"), "more");
    await section.ready();
    expect(filesIn(section.tempDir)).toEqual(copies);
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    await expect(section.ready()).rejects.toThrow(
      "The workspace was cleaned up. Create a new one.",
    );
  });

  test("creates an empty folder without mounts", async () => {
    const { section } = createWorkspace({ mounts: [] });
    await section.ready();
    expect(readdirSync(section.tempDir)).toEqual([]);
  });

  test("can retry ready() after the mounts could not be copied", async () => {
    const { folder, section } = createWorkspace();
    renameSync(join(folder, "a.txt"), join(folder, "b.txt"));
    await expect(section.ready()).rejects.toMatchObject({ code: "ENOENT" });
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    renameSync(join(folder, "b.txt"), join(folder, "a.txt"));
    await section.ready();
    expect(filesIn(section.tempDir)).toEqual(copies);
  });

  test("provides its filesystem and text to the prompt", () => {
    const { section } = createWorkspace();
    const template = new PromptTemplate({ ns: "tests", key: "files", sections: [section] });
    const prompt = new Prompt(template);
    expect(prompt.filesystem()).toBe(section.filesystem);
    expect(prompt.findSection(ClaudeAgentWorkspaceSection)).toBe(section);
    expect(prompt.render().text).toContain(
      'These files are in your working folder, and paths are relative to it.\n- "p": 2 files, 7 bytes: "a.txt", "sub/b.txt"',
    );
  });

  test("is cleaned up with its prompt, and only once", async () => {
    const { section } = createWorkspace();
    const template = new PromptTemplate({ ns: "tests", key: "files", sections: [section] });
    await section.ready();
    await new Prompt(template).cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    const [one, other] = await Promise.all([section.cleanup(), section.cleanup()]);
    expect(other).toBe(one);
  });

  test("can be cleaned up while its mounts are copied", async () => {
    const { section } = createWorkspace();
    const copying = section.ready();
    await section.cleanup();
    await copying;
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("is cleaned up at the end of a block", async () => {
    const to = join(temporaryTree(), "synced");
    const folders: string[] = [];
    {
      await using section = createWorkspace({ syncOnCleanup: true, syncDestination: to }).section;
      await section.ready();
      folders.push(section.tempDir);
      expect(existsSync(section.tempDir)).toBe(true);
    }
    expect(folders.map((folder) => existsSync(dirname(folder)))).toEqual([false]);
    expect(filesIn(to)).toEqual(copies);
  });
});

describe("ClaudeAgentWorkspaceSection.diff()", () => {
  test("compares the files with what was mounted, even if the host's files have changed since", async () => {
    const { folder, section } = createWorkspace();
    expect((await section.diff()).files).toEqual([]);
    expect(existsSync(dirname(section.tempDir))).toBe(false);
    await section.ready();
    await section.filesystem.writeText("p/a.txt", "two\n");
    await section.filesystem.writeText("p/new.txt", "new\n");
    appendFileSync(join(folder, "a.txt"), "by the user");
    const diff = await section.diff();
    expect(diff.files.map(({ path, status }) => [path, status])).toEqual([
      ["p/a.txt", "changed"],
      ["p/new.txt", "added"],
    ]);
    expect(diff.toString()).toContain("-one\n\\ No newline at end of file\n+two\n");
  });

  test("is rejected after the cleanup", async () => {
    const { section } = createWorkspace();
    await section.ready();
    await section.cleanup();
    await expect(section.diff()).rejects.toThrow(
      "The workspace was cleaned up. Call diff() before cleanup().",
    );
  });
});

describe("ClaudeAgentWorkspaceSection.cleanup() while the workspace is held", () => {
  test("is rejected until the last hold is released, and then works", async () => {
    const { section } = createWorkspace();
    await section.ready();
    const holds = [section.workspace.hold(), section.workspace.hold()];
    for (const hold of holds) {
      await expect(section.cleanup()).rejects.toThrow(
        "An evaluation is using the workspace. Wait until evaluate() has settled, then call cleanup() again.",
      );
      hold[Symbol.dispose]();
      hold[Symbol.dispose]();
    }
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });

  test("is allowed for a section whose clone keeps the files", async () => {
    const { section } = createWorkspace();
    const clone = section.clone({ key: "other" });
    await section.ready();
    const hold = section.workspace.hold();
    expect(await section.cleanup()).toMatchObject({ directory: null });
    await expect(clone.cleanup()).rejects.toThrow("An evaluation is using the workspace.");
    hold[Symbol.dispose]();
    await clone.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });
});

describe("ClaudeAgentWorkspaceSection.clone()", () => {
  test("shares the files, which are removed with the last section", async () => {
    const to = join(temporaryTree(), "synced");
    const { section } = createWorkspace({ syncOnCleanup: true, syncDestination: to });
    const session = new Session();
    const clone = section.clone({ key: "other", title: "Other", session });
    const { template, tempDir, filesystem, createdAt } = section;
    expect(clone).toMatchObject({ key: "other", title: "Other", session, template, tempDir });
    expect(clone).toMatchObject({ createdAt, mountPreviews: section.mountPreviews });
    expect(clone.filesystem).toBe(filesystem);
    await clone.filesystem.writeText("p/new.txt", "new");
    expect(await section.cleanup()).toMatchObject({ directory: null });
    expect(await section.cleanup()).toMatchObject({ directory: null });
    expect(await clone.filesystem.readText("p/new.txt")).toBe("new");
    expect(await clone.cleanup()).toMatchObject({ directory: to, added: ["p/new.txt"] });
    expect([section.syncedDir, clone.syncedDir]).toEqual([to, to]);
    expect(existsSync(tempDir)).toBe(false);
    expect(() => section.clone()).toThrow("The workspace was cleaned up. Create a new one.");
  });

  test("does not prevent the cleanup if it fails", async () => {
    const { section } = createWorkspace();
    await section.ready();
    expect(() => section.clone({ key: "Not A Key" })).toThrow("key must be");
    await section.cleanup();
    expect(existsSync(dirname(section.tempDir))).toBe(false);
  });
});

test("creating a workspace removes a crashed process's folders", async () => {
  const folders = temporaryTree();
  vi.stubEnv("TMPDIR", folders);
  onTestFinished(() => void vi.unstubAllEnvs());
  const toUrl = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const code = `
    const { ClaudeAgentWorkspaceSection } = await import(${toUrl("./workspace-section.ts")});
    const { Session } = await import(${toUrl("../../session/session.ts")});
    const section = new ClaudeAgentWorkspaceSection({ session: new Session() });
    await section.filesystem.writeText("a.txt", "left");
    process.kill(process.pid, "SIGKILL");
  `;
  const crash = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code]);
  await expect(crash).rejects.toMatchObject({ signal: "SIGKILL" });
  expect(tmpdir()).toBe(folders);
  expect(readdirSync(folders)).toHaveLength(1);
  const { section } = createWorkspace({ mounts: [] });
  await section.ready();
  expect(readdirSync(folders).map((name) => join(folders, name))).toEqual([
    dirname(section.tempDir),
  ]);
  await section.cleanup();
  expect(readdirSync(folders)).toEqual([]);
});
