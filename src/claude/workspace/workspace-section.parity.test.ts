import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { filesIn } from "../../../tests/support/files-in.ts";
import { temporaryTree, writeTree } from "../../../tests/support/temporary-tree.ts";
import { workspaceSandbox } from "../../../tests/support/workspace/workspace-fixture.ts";
import type { Filesystem } from "../../files/filesystem/filesystem.ts";
import { LocalProvider } from "../../local/index.ts";
import { openAIClient } from "../../openai/http/http-client.ts";
import {
  OpenAIContainerWorkspaceSection,
  type OpenAIContainerWorkspaceSectionOptions,
} from "../../openai/workspace/container-workspace-section.ts";
import { VfsToolsSection } from "../../prompt/sections/vfs-tools-section.ts";
import { Session } from "../../session/session.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace-section.ts";

/** Creates both kinds of workspace from the same options. */
async function createBoth(
  options: Omit<OpenAIContainerWorkspaceSectionOptions, "session" | "client">,
) {
  const provider = new LocalProvider({ sandbox: workspaceSandbox() });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const { url } = await provider.listen();
  const client = openAIClient({ baseURL: url, apiKey: "local" });
  const allOptions: OpenAIContainerWorkspaceSectionOptions = {
    session: new Session(),
    client,
    containerConfig: { memoryLimit: "1g" },
    ...{ unpack: "bootstrap", deleteOnCleanup: true },
    ...options,
  };
  const claude = new ClaudeAgentWorkspaceSection(allOptions);
  const openai = new OpenAIContainerWorkspaceSection(allOptions);
  onTestFinished(async () => {
    await Promise.all([claude.cleanup(), openai.cleanup()]);
  });
  return { claude, openai };
}

/** Creates mounts of two folders with files that are included, excluded and withheld. */
function createMounts() {
  const many = Object.fromEntries([...Array(25).keys()].map((name) => [`many/${name}.py`, "pass"]));
  const folder = temporaryTree({
    ...many,
    "README.md": "# $HOME\n",
    ".env": "KEY=1",
    ".git/config": "x",
    "bin/run": new Uint8Array([0, 255, 10]),
    empty: null,
  });
  symlinkSync("README.md", join(folder, "link.md"));
  const other = writeTree(temporaryTree(), { "notes.txt": "n" });
  return {
    allowedHostRoots: [folder, other],
    mounts: [
      { hostPath: folder, mountPath: "deep/project", excludeGlob: [".git/*"], maxBytes: 10_000 },
      { hostPath: join(other, "notes.txt") },
      { hostPath: other, mountPath: "linked", includeGlob: ["*.none"] },
    ],
  };
}

async function changeFiles(files: Filesystem): Promise<void> {
  await files.writeText("deep/project/README.md", "changed");
  await files.writeText("deep/project/new/a.txt", "new");
  await files.writeText("top.txt", "top");
  await files.delete("notes.txt");
  await files.writeText("deep/project/many/0.py", "pass"); // unchanged content
}

describe("both workspaces with the same options", () => {
  test("have the same previews, mount lines, key and title", async () => {
    const { claude, openai } = await createBoth({ ...createMounts(), title: "Files" });
    expect(claude.mountPreviews).toEqual(openai.mountPreviews);
    expect(claude.mountPreviews.map(({ files, withheld }) => [files, withheld])).toEqual([
      [27, [".env"]],
      [1, []],
      [0, []],
    ]);
    const lines = claude.template.split("\n").slice(1);
    expect(lines).toEqual(openai.template.split("\n").slice(1));
    expect(lines).toHaveLength(3);
    const { key, title, acceptsOverrides } = openai;
    expect(claude).toMatchObject({ key, title, acceptsOverrides });
  });

  test("let a lost edit run again only if persistDir restores their files", async () => {
    const listEffects = async (persistDir?: string) => {
      const { claude, openai } = await createBoth({ mounts: [], persistDir });
      return [claude, openai].map(({ filesystem }) => {
        const tools = new VfsToolsSection({ filesystem }).tools();
        return tools.find(({ name }) => name === "edit")?.effects;
      });
    };
    expect(await listEffects()).toEqual(["once", "once"]);
    expect(await listEffects(temporaryTree())).toEqual(["idempotent", "idempotent"]);
  });

  test("have the same files when they are ready", async () => {
    const { claude, openai } = await createBoth(createMounts());
    await Promise.all([claude.ready(), openai.ready()]);
    expect(filesIn(claude.tempDir)).toEqual(filesIn(openai.tempDir));
    const [here, there] = [claude.filesystem, openai.filesystem];
    expect(await here.glob("*")).toEqual(await there.glob("*"));
    expect(await here.grep("HOME")).toEqual(await there.grep("HOME"));
    expect(await here.listDir("deep/project")).toEqual(await there.listDir("deep/project"));
    expect(await here.readBytes("deep/project/bin/run")).toEqual(new Uint8Array([0, 255, 10]));
  });

  test("sync the same files with the same report after the same changes", async () => {
    const to = temporaryTree();
    const reports = [];
    const synced = [];
    for (const name of ["claude", "openai"] as const) {
      const syncDestination = join(to, name);
      const sections = await createBoth({
        ...createMounts(),
        syncOnCleanup: true,
        syncDestination,
      });
      await changeFiles(sections[name].filesystem);
      const { directory, ...report } = await sections[name].cleanup();
      expect([directory, sections[name].syncedDir]).toEqual([syncDestination, syncDestination]);
      reports.push(report);
      synced.push(filesIn(syncDestination));
    }
    expect(reports[0]).toEqual({
      added: ["deep/project/new/a.txt", "top.txt"],
      changed: ["deep/project/README.md"],
      deleted: ["notes.txt"],
      ...{ failed: [], conflicts: [], conflictsDir: null, keptIn: null },
    });
    expect(reports[0]).toEqual(reports[1]);
    expect(synced[0]).toEqual(synced[1]);
    expect(synced[0]).toMatchObject({ "top.txt": "top", "deep/project/README.md": "changed" });
  });
});
