import { same } from "./expect.ts";
import { filesBelow, isThere } from "./host-folder.ts";
import { promptIn } from "./prompts.ts";
import type { WorkspaceCase, WorkspaceStage } from "./workspace-case.ts";

const done = { text: "Done." };

/** Adds, changes and deletes a file. */
const changes = `
import os
with open(ROOT + "/repo/a.txt", "w") as file:
    file.write("changed")
os.makedirs(ROOT + "/repo/new")
with open(ROOT + "/repo/new/c.txt", "w") as file:
    file.write("added")
os.remove(ROOT + "/repo/b.txt")
`;

const before = { "repo/a.txt": "owl", "repo/b.txt": "barn", "repo/d.txt": "kept" };
const after = { "repo/a.txt": "changed", "repo/d.txt": "kept", "repo/new/c.txt": "added" };
const report = {
  added: ["repo/new/c.txt"],
  changed: ["repo/a.txt"],
  deleted: ["repo/b.txt"],
  failed: [],
};

/** What is left of a workspace. */
export const workspaceEndings: readonly WorkspaceCase[] = [
  {
    name: "cleaning up brings the files back, reports each, and leaves no temporary folder",
    script: [{ code: changes }, done],
    async check(stage) {
      const { section, root } = await worked(stage, (syncDestination) => ({
        syncOnCleanup: true,
        syncDestination,
      }));
      same(await filesBelow(root), before, "the host's files before that");
      const { directory, added, changed, deleted, failed } = await section.cleanup();
      same({ added, changed, deleted, failed }, report, "the report");
      same([directory, section.syncedDir], [root, root], "where they are");
      same(await filesBelow(root), after, "the host's files after that");
      same(await isThere(section.tempDir), false, "the temporary folder is there");
    },
  },
  {
    name: "cleaning up a second time changes nothing and gives the same report",
    script: [{ code: changes }, done],
    async check(stage) {
      const { section } = await worked(stage, (syncDestination) => ({
        syncOnCleanup: true,
        syncDestination,
      }));
      const first = await section.cleanup();
      same(await section.cleanup(), first, "the second report");
      same(stage.bus.of("WorkspaceSynced").length, 1, "WorkspaceSynced events");
    },
  },
  {
    name: "bringing files back is an event with what the report has, and who and when",
    script: [{ code: changes }, done],
    async check(stage) {
      const { section, root } = await worked(stage, (syncDestination) => ({
        syncOnCleanup: true,
        syncDestination,
      }));
      await section.cleanup();
      const [event] = stage.bus.of("WorkspaceSynced");
      const { added, changed, deleted, failed } = event ?? {};
      same({ added, changed, deleted, failed }, report, "WorkspaceSynced");
      same(event?.directory, root, "where they are");
      same(
        [event?.sessionId, event?.promptName, event?.adapter],
        [stage.session.id, "contract:files", stage.adapter.name],
        "who",
      );
    },
  },
  {
    name: "files that are brought back to nowhere in particular are in a new folder, which stays",
    script: [{ code: changes }, done],
    async check(stage) {
      const { section, root } = await worked(stage, () => ({ syncOnCleanup: true }));
      const { directory } = await section.cleanup();
      same(section.syncedDir, directory, "syncedDir");
      same(await filesBelow(directory ?? root), after, "the files there");
      same(await filesBelow(root), before, "the host's own files");
    },
  },
  {
    name: "without syncing the host's files stay as they were, whatever was done to the copies",
    script: [{ code: changes }, done],
    async check(stage) {
      const { section, root } = await worked(stage, () => ({}));
      const { directory, added, changed, deleted } = await section.cleanup();
      same([directory, added, changed, deleted], [null, [], [], []], "the report");
      same(section.syncedDir, null, "syncedDir");
      same(await filesBelow(root), before, "the host's files");
      same(await isThere(section.tempDir), false, "the temporary folder is there");
      same(stage.bus.of("WorkspaceSynced").length, 0, "WorkspaceSynced events");
    },
  },
];

/** A workspace in which code has changed things, and the host's folder it came from. */
async function worked(
  { host, workspace, adapter, session }: WorkspaceStage,
  wishes: (root: string) => { readonly syncOnCleanup?: boolean; readonly syncDestination?: string },
) {
  const root = await host(before);
  const section = workspace({
    mounts: [{ hostPath: `${root}/repo`, mountPath: "repo" }],
    allowedHostRoots: [root],
    ...wishes(root),
  });
  await adapter.evaluate(promptIn(section), { session });
  return { section, root };
}
