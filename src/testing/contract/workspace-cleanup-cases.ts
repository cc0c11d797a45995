import { expectSame } from "./expect.ts";
import { pathExists, readFilesBelow } from "./host-folder.ts";
import { createWorkspacePrompt } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceFixture } from "./workspace-case.ts";

const done = { text: "Done." };

/** Python code that adds, changes and deletes a file. */
const changingCode = `
import os
with open(ROOT + "/repo/a.txt", "w") as file:
    file.write("changed")
os.makedirs(ROOT + "/repo/new")
with open(ROOT + "/repo/new/c.txt", "w") as file:
    file.write("added")
os.remove(ROOT + "/repo/b.txt")
`;

const filesBefore = { "repo/a.txt": "owl", "repo/b.txt": "barn", "repo/d.txt": "kept" };
const filesAfter = { "repo/a.txt": "changed", "repo/d.txt": "kept", "repo/new/c.txt": "added" };
const expectedReport = {
  added: ["repo/new/c.txt"],
  changed: ["repo/a.txt"],
  deleted: ["repo/b.txt"],
  failed: [],
};

/** Cases about cleanup and sync. */
export const workspaceCleanupCases: readonly WorkspaceCase[] = [
  {
    name: "copies changed files back on cleanup, reports each, and deletes the temporary folder",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runChanges(stage, (syncDestination) => ({
        syncOnCleanup: true,
        syncDestination,
      }));
      expectSame(await readFilesBelow(root), filesBefore, "the host's files before cleanup");
      const { directory, added, changed, deleted, failed } = await section.cleanup();
      expectSame({ added, changed, deleted, failed }, expectedReport, "the report");
      expectSame([directory, section.syncedDir], [root, root], "directory and syncedDir");
      expectSame(await readFilesBelow(root), filesAfter, "the host's files after cleanup");
      expectSame(await pathExists(section.tempDir), false, "the temporary folder exists");
    },
  },
  {
    name: "returns the same report from a second cleanup and changes nothing",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section } = await runChanges(stage, (syncDestination) => ({
        syncOnCleanup: true,
        syncDestination,
      }));
      const first = await section.cleanup();
      expectSame(await section.cleanup(), first, "the second report");
      expectSame(stage.bus.of("WorkspaceSynced").length, 1, "WorkspaceSynced events");
    },
  },
  {
    name: "publishes WorkspaceSynced with the report, session, prompt and adapter",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runChanges(stage, (syncDestination) => ({
        syncOnCleanup: true,
        syncDestination,
      }));
      await section.cleanup();
      const [event] = stage.bus.of("WorkspaceSynced");
      const { added, changed, deleted, failed } = event ?? {};
      expectSame({ added, changed, deleted, failed }, expectedReport, "WorkspaceSynced");
      expectSame(event?.directory, root, "directory");
      expectSame(
        [event?.sessionId, event?.promptName, event?.adapter],
        [stage.session.id, "contract:files", stage.adapter.name],
        "session, prompt and adapter",
      );
    },
  },
  {
    name: "copies files to a new folder that is not deleted if no destination is set",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runChanges(stage, () => ({ syncOnCleanup: true }));
      const { directory } = await section.cleanup();
      expectSame(section.syncedDir, directory, "syncedDir");
      expectSame(await readFilesBelow(directory ?? root), filesAfter, "the files there");
      expectSame(await readFilesBelow(root), filesBefore, "the host's own files");
    },
  },
  {
    name: "leaves the host's files unchanged if sync is off",
    script: [{ code: changingCode }, done],
    async check(stage) {
      const { section, root } = await runChanges(stage, () => ({}));
      const { directory, added, changed, deleted } = await section.cleanup();
      expectSame([directory, added, changed, deleted], [null, [], [], []], "the report");
      expectSame(section.syncedDir, null, "syncedDir");
      expectSame(await readFilesBelow(root), filesBefore, "the host's files");
      expectSame(await pathExists(section.tempDir), false, "the temporary folder exists");
      expectSame(stage.bus.of("WorkspaceSynced").length, 0, "WorkspaceSynced events");
    },
  },
];

/** Runs code that changes the workspace. Returns the section and the host's folder. */
async function runChanges(
  { createFolder, createWorkspace, adapter, session }: WorkspaceFixture,
  getOptions: (root: string) => {
    readonly syncOnCleanup?: boolean;
    readonly syncDestination?: string;
  },
) {
  const root = await createFolder(filesBefore);
  const section = createWorkspace({
    mounts: [{ hostPath: `${root}/repo`, mountPath: "repo" }],
    allowedHostRoots: [root],
    ...getOptions(root),
  });
  await adapter.evaluate(createWorkspacePrompt(section), { session });
  return { section, root };
}
