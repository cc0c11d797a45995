import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { SandboxLeftovers } from "./prepare-sandbox.ts";

const listFiles = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();

describe("SandboxLeftovers", () => {
  test("removes placeholders that a sandbox added", async () => {
    const workspace = temporaryTree({ "a.txt": "1" });
    const leftovers = new SandboxLeftovers(workspace);
    writeTree(workspace, { ".bashrc": "", ".vscode": "", ".claude/.cc-writes": null });
    writeTree(workspace, { ".claude/settings.json": "", ".claude/skills": null });
    await leftovers.remove();
    expect(listFiles(workspace)).toEqual(["a.txt"]);
    await leftovers.remove();
  });

  test("keeps empty files and folders that existed before", async () => {
    const workspace = temporaryTree({ ".bashrc": "", ".claude/agents": null, ".vscode": null });
    const leftovers = new SandboxLeftovers(workspace);
    writeTree(workspace, { ".profile": "", ".claude/hooks": "" });
    await leftovers.remove();
    expect(listFiles(workspace)).toEqual([".bashrc", ".claude", ".claude/agents", ".vscode"]);
  });

  test("keeps files with content", async () => {
    const workspace = temporaryTree();
    const leftovers = new SandboxLeftovers(workspace);
    writeTree(workspace, {
      ".gitmodules": "[submodule]",
      ".claude/agents/mine.md": "1",
      empty: "",
    });
    symlinkSync("target", join(workspace, ".mcp.json"));
    const before = listFiles(workspace);
    await leftovers.remove();
    expect(listFiles(workspace)).toEqual(before);
  });

  test("does nothing if the workspace is missing", async () => {
    const leftovers = new SandboxLeftovers(join(temporaryTree(), "missing"));
    await expect(leftovers.remove()).resolves.toBeUndefined();
  });
});
