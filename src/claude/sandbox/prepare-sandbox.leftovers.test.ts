import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { growTree, temporaryTree } from "../../../tests/support/temporary-tree.ts";
import { SandboxLeftovers } from "./prepare-sandbox.ts";

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();

describe("what a sandbox leaves in a workspace", () => {
  test("is removed", async () => {
    const workspace = temporaryTree({ "a.txt": "1" });
    const traces = new SandboxLeftovers(workspace);
    growTree(workspace, { ".bashrc": "", ".vscode": "", ".claude/.cc-writes": null });
    growTree(workspace, { ".claude/settings.json": "", ".claude/skills": null });
    await traces.remove();
    expect(filesIn(workspace)).toEqual(["a.txt"]);
    await traces.remove();
  });

  test("is told from what was there before, however empty", async () => {
    const workspace = temporaryTree({ ".bashrc": "", ".claude/agents": null, ".vscode": null });
    const traces = new SandboxLeftovers(workspace);
    growTree(workspace, { ".profile": "", ".claude/hooks": "" });
    await traces.remove();
    expect(filesIn(workspace)).toEqual([".bashrc", ".claude", ".claude/agents", ".vscode"]);
  });

  test("is told from what somebody wrote", async () => {
    const workspace = temporaryTree();
    const traces = new SandboxLeftovers(workspace);
    growTree(workspace, { ".gitmodules": "[submodule]", ".claude/agents/mine.md": "1", empty: "" });
    symlinkSync("elsewhere", join(workspace, ".mcp.json"));
    const before = filesIn(workspace);
    await traces.remove();
    expect(filesIn(workspace)).toEqual(before);
  });

  test("is nothing where the workspace is gone", async () => {
    const traces = new SandboxLeftovers(join(temporaryTree(), "gone"));
    await expect(traces.remove()).resolves.toBeUndefined();
  });
});
