import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { Session } from "../../session/session.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace-section.ts";

function createWorkspace() {
  const folder = temporaryTree({ "a.txt": "one\n", "sub/b.txt": "two\n" });
  const section = new ClaudeAgentWorkspaceSection({
    session: new Session(),
    mounts: [{ hostPath: folder, mountPath: "p" }],
  });
  onTestFinished(async () => void (await section.cleanup()));
  const runShell = (script: string) => execFileSync("sh", ["-c", script], { cwd: section.tempDir });
  return { section, files: section.filesystem, runShell };
}

describe("WorkspaceFilesystem", () => {
  test("copies the mounts at the first use", async () => {
    const { section, files } = createWorkspace();
    expect(await files.readText("p/a.txt")).toBe("one\n");
    expect(filesIn(section.tempDir)).toEqual({ "p/a.txt": "one\n", "p/sub/b.txt": "two\n" });
  });

  test("shows changes by another process immediately, in all methods", async () => {
    const { files, runShell } = createWorkspace();
    expect(await files.glob("*")).toEqual(["p/a.txt", "p/sub/b.txt"]);
    expect(await files.grep("needle")).toEqual([]);
    runShell("echo needle > p/a.txt; mkdir p/new; echo needle > p/new/c.txt; rm -r p/sub");
    expect(await files.readText("p/a.txt")).toBe("needle\n");
    expect(await files.read("p/a.txt")).toMatchObject({ text: "needle\n", totalLines: 1 });
    expect(await files.stat("p/new/c.txt")).toMatchObject({ isFile: true, sizeBytes: 7 });
    expect(await files.listDir("p")).toEqual(["a.txt", "new"]);
    expect(await files.glob("*.txt")).toEqual(["p/a.txt", "p/new/c.txt"]);
    expect(await files.grep("needle")).toEqual([
      { path: "p/a.txt", line: 1, text: "needle" },
      { path: "p/new/c.txt", line: 1, text: "needle" },
    ]);
    expect(await files.exists("p/sub/b.txt")).toBe(false);
    expect([await files.isDir("p/new"), await files.isFile("p/new")]).toEqual([true, false]);
  });

  test("makes its changes visible to another process", async () => {
    const { files, runShell } = createWorkspace();
    await files.writeText("p/a.txt", "here");
    await files.write("q/d.bin", new Uint8Array([65]));
    await files.mkdir("e");
    await files.delete("p/sub/b.txt");
    expect(String(runShell("cat p/a.txt q/d.bin; ls . p/sub"))).toBe(
      "hereA.:\ne\np\nq\n\np/sub:\n",
    );
  });

  test("restores its own changes, and keeps changes by another process", async () => {
    const { section, files, runShell } = createWorkspace();
    const before = await files.snapshot();
    await files.writeText("p/a.txt", "by us");
    await files.delete("p/sub/b.txt");
    runShell("echo theirs > p/theirs.txt");
    await files.restore(before);
    await files.release?.(before);
    const mounted = { "p/a.txt": "one\n", "p/sub/b.txt": "two\n" };
    expect(filesIn(section.tempDir)).toEqual({ ...mounted, "p/theirs.txt": "theirs\n" });
    expect(await files.readText("p/theirs.txt")).toBe("theirs\n");
  });

  test("does not follow a symlink to the outside that another process created", async () => {
    const { section, files } = createWorkspace();
    await section.ready();
    const outside = temporaryTree({ "secret.txt": "s" });
    symlinkSync(outside, join(section.tempDir, "p/out"));
    await expect(files.readText("p/out/secret.txt")).rejects.toThrow("leads out of the root");
    await expect(files.writeText("p/out/new.txt", "x")).rejects.toThrow("leads out of the root");
    expect(await files.grep("s", { glob: "p/out/*" })).toEqual([]);
    expect(filesIn(outside)).toEqual({ "secret.txt": "s" });
  });

  test("throws after the workspace was cleaned up", async () => {
    const { section, files } = createWorkspace();
    await section.cleanup();
    await expect(files.readText("p/a.txt")).rejects.toThrow(
      "The workspace was cleaned up. Create a new one.",
    );
  });
});
