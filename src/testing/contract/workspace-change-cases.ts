import { getErrorMessage } from "../../base/errors.ts";
import type { WorkspaceSectionOptions } from "../../prompt/sections/workspace-options.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { expectContains, expectSame } from "./expect.ts";
import { pathExists, readFilesBelow, removeFolder, writeHostFiles } from "./host-folder.ts";
import { createWorkspacePrompt, wordTool } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceFixture } from "./workspace-case.ts";

const done = { text: "Done." };

const changingCode = `
import os
for name in ["a.txt", "b.txt"]:
    with open(ROOT + "/repo/" + name, "w") as file:
        file.write("by code\\n")
os.remove(ROOT + "/repo/c.txt")
`;

const folderCode = `
import os
os.makedirs(ROOT + "/repo/empty/deep")
os.remove(ROOT + "/repo/d/e.txt")
os.rmdir(ROOT + "/repo/d")
`;

const filesBefore = {
  "repo/a.txt": "a\n",
  "repo/b.txt": "b\n",
  "repo/c.txt": "c\n",
  "repo/d/e.txt": "e\n",
};

const edited = { "repo/a.txt": "by the user\n", "repo/c.txt": "by the user\n" };

/** Cases about changes on both sides, the diff, and when files may be removed. */
export const workspaceChangeCases: readonly WorkspaceCase[] = [
  {
    name: "keeps files that the user edited in the meantime, and reports them as conflicts",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runCode(stage, {});
      await writeHostFiles(root, edited);
      const { conflicts, conflictsDir, failed } = await section.cleanup();
      const expected = { ...filesBefore, ...edited, "repo/b.txt": "by code\n" };
      expectSame(await readFilesBelow(root), expected, "the host's files");
      const paths = conflicts.map(({ path }) => path);
      expectSame([paths, failed], [["repo/a.txt", "repo/c.txt"], []], "conflicts and failures");
      const stored = { "repo/a.txt": "by code\n" };
      expectSame(await readFilesBelow(conflictsDir ?? root), stored, "the files in conflictsDir");
      const [event] = stage.bus.of("WorkspaceSynced");
      expectSame(event?.conflicts, conflicts, "the conflicts of WorkspaceSynced");
      if (conflictsDir !== null) await removeFolder(conflictsDir);
    },
  },
  {
    name: 'writes its version beside the user\'s with onConflict: "both"',
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runCode(stage, { onConflict: "both" });
      await writeHostFiles(root, edited);
      const { conflicts, conflictsDir } = await section.cleanup();
      const expected = {
        ...{ ...filesBefore, ...edited, "repo/b.txt": "by code\n" },
        "repo/a.container.txt": "by code\n",
      };
      expectSame(await readFilesBelow(root), expected, "the host's files");
      expectSame([conflicts.length, conflictsDir], [2, null], "conflicts and conflictsDir");
    },
  },
  {
    name: "compares the files with what was mounted, as a unified diff",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runCode(stage, {});
      await writeHostFiles(root, edited);
      const diff = await section.diff();
      const statuses = diff.files.map(({ path, status }) => `${status} ${path}`);
      const expected = ["changed repo/a.txt", "changed repo/b.txt", "deleted repo/c.txt"];
      expectSame(statuses, expected, "the files of the diff");
      expectContains(diff.toString(), "--- a/repo/a.txt\n+++ b/repo/a.txt", "the diff");
      expectContains(diff.toString(), "@@ -1 +1 @@\n-a\n+by code\n", "the diff");
      expectSame(diff.files[2]?.patch?.includes("\n+++ /dev/null\n"), true, "the deleted file");
    },
  },
  {
    name: "creates empty folders on the host, and removes mounted ones that are empty",
    script: [{ code: folderCode }, done],
    async check(stage) {
      const { section, root } = await runCode(stage, {});
      const { failed } = await section.cleanup();
      expectSame(failed, [], "failures");
      expectSame(await pathExists(`${root}/repo/empty/deep`), true, "the new folder exists");
      expectSame(await pathExists(`${root}/repo/d`), false, "the removed folder exists");
    },
  },
  {
    name: "rejects a cleanup while an evaluation uses the workspace",
    script: [{ toolCalls: [{ name: "clean", arguments: { word: "now" } }] }, done],
    async check(stage) {
      const root = await stage.createFolder(filesBefore);
      const section = stage.createWorkspace(createOptions(root));
      const cleanTool = wordTool("clean", async () => {
        const outcome = await section.cleanup().then(() => "cleaned up", getErrorMessage);
        return ToolResult.ok(outcome);
      });
      const prompt = createWorkspacePrompt(section, [cleanTool]);
      await stage.adapter.evaluate(prompt, { session: stage.session });
      const [call] = stage.bus.of("ToolInvoked");
      expectContains(String(call?.result.value), "call cleanup() again", "the cleanup in a tool");
      expectSame(await section.filesystem.exists("repo/a.txt"), true, "the file exists");
      expectSame((await section.cleanup()).directory, root, "the folder of the later cleanup");
    },
  },
];

function createOptions(root: string): Omit<WorkspaceSectionOptions, "session"> {
  return {
    mounts: [{ hostPath: `${root}/repo`, mountPath: "repo" }],
    allowedHostRoots: [root],
    syncOnCleanup: true,
    syncDestination: root,
  };
}

/** Runs code in a workspace that is synced back to its folder. */
async function runCode(
  { createFolder, createWorkspace, adapter, session }: WorkspaceFixture,
  options: Pick<WorkspaceSectionOptions, "onConflict">,
) {
  const root = await createFolder(filesBefore);
  const section = createWorkspace({ ...createOptions(root), ...options });
  await adapter.evaluate(createWorkspacePrompt(section), { session });
  return { section, root };
}
