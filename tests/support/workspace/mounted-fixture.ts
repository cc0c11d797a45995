import { chmodSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { WorkspaceChanges } from "../../../src/files/changes/workspace-changes.ts";
import { MountedFolder } from "../../../src/files/mounts/mounted-folder.ts";
import { planMounts } from "../../../src/files/mounts/plan-mounts.ts";
import type { ConflictPolicy } from "../../../src/files/sync/sync-conflict.ts";
import { type Tree, temporaryTree, writeTree } from "../temporary-tree.ts";

/** A host folder `home/p` that is mounted as `p`, and the workspace's folder. */
export interface MountedFixture {
  readonly home: string;
  readonly root: string;
  readonly changes: WorkspaceChanges;
  /** Writes files of the workspace, as an agent does. Paths are relative to the mount. */
  edit(tree: Tree): void;
  /** Removes a file or folder of the workspace. */
  remove(path: string): void;
  /** Writes files of the host, as the user does. */
  editHost(tree: Tree): void;
  removeHost(path: string): void;
  /** Syncs back to the mounted folder. */
  sync(directory?: string): ReturnType<WorkspaceChanges["syncTo"]>;
}

/** Options of {@link mountFiles}. */
export interface MountOptions {
  readonly onConflict?: ConflictPolicy;
  /** Modes of host files. */
  readonly modes?: Readonly<Record<string, number>>;
  /** Symlinks of the host, and their targets. */
  readonly links?: Readonly<Record<string, string>>;
  readonly followSymlinks?: boolean;
}

/** Mounts files of a host folder. Everything is removed when the test ends. */
export async function mountFiles(
  tree: Tree,
  { onConflict, modes = {}, links = {}, followSymlinks }: MountOptions = {},
): Promise<MountedFixture> {
  const home = temporaryTree({ p: null });
  const host = writeTree(join(home, "p"), tree);
  for (const [path, mode] of Object.entries(modes)) chmodSync(join(host, path), mode);
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(host, path));
  const plan = planMounts([{ hostPath: host, followSymlinks }], { allowedHostRoots: "any" });
  const folder = new MountedFolder({ plan });
  onTestFinished(() => folder.remove());
  await folder.ready();
  const changes = new WorkspaceChanges(folder, onConflict);
  const root = join(folder.root, "p");
  const removeBelow = (above: string) => (path: string) =>
    rmSync(join(above, path), { recursive: true });
  return {
    ...{ home, root, changes },
    edit: (files) => void writeTree(root, files),
    remove: removeBelow(root),
    editHost: (files) => void writeTree(host, files),
    removeHost: removeBelow(host),
    async sync(directory = home) {
      const report = await changes.syncTo(directory);
      const { conflictsDir } = report;
      if (conflictsDir !== null)
        onTestFinished(() => rmSync(conflictsDir, { recursive: true, force: true }));
      return report;
    },
  };
}

/** Returns the permission bits of a file or folder. */
export function readMode(...path: readonly string[]): number {
  return statSync(join(...path)).mode & 0o7777;
}
