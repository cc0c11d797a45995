import { deepFreeze } from "../../base/freeze.ts";
import type { HostMount } from "./host-mount.ts";
import { hostRoots } from "./host-roots.ts";
import { type CheckedMount, checkedMounts, checkedTexts } from "./mount-checks.ts";
import type { HostMountPreview } from "./mount-preview.ts";
import { mountSource } from "./mount-source.ts";
import { MountWalk } from "./mount-walk.ts";
import type { PlannedFile } from "./planned-file.ts";
import type { MountLimit, MountPlan } from "./planned-mounts.ts";
import { secretsAllowedBy } from "./secrets.ts";

/** Where host files may come from, and which key files may come along. */
export interface PlanMountsOptions {
  /** Folders of this machine, compared by their real paths. */
  readonly allowedHostRoots: readonly string[] | "any";
  /** Paths or globs, within the mount or the workspace, of files that would be withheld. @default none */
  readonly allowSecrets?: readonly string[] | undefined;
}

/**
 * Walks the mounts and checks all that can be checked without copying: roots, globs, budgets, links.
 *
 * Throws `InvalidOptionError` for a mount that cannot be, `WorkspaceSecurityError` for one that
 * reaches out of where it may, `WorkspaceBudgetExceededError` for one that is too large, and
 * `FilesystemError` for what cannot be found or read.
 */
export function planMounts(
  mounts: readonly HostMount[],
  { allowedHostRoots, allowSecrets = [] }: PlanMountsOptions,
): MountPlan {
  const roots = hostRoots(allowedHostRoots);
  const allowsSecret = secretsAllowedBy(checkedTexts(allowSecrets, "allowSecrets"));
  const walks = checkedMounts(mounts).map((mount) => ({
    mount,
    walk: new MountWalk(mount, { roots, allowsSecret }).from(mountSource(mount, roots)),
  }));
  const files = walks.flatMap(({ walk }) => walk.files);
  const directories = new Set(walks.flatMap(({ walk }) => walk.directories));
  return Object.freeze({
    files: Object.freeze(walks.length === 1 ? files : files.sort(byMountPath)),
    directories: Object.freeze([...directories].sort()),
    previews: deepFreeze(walks.map(({ mount, walk }) => previewOf(mount, walk))),
    limits: deepFreeze(walks.flatMap(({ mount }) => limitOf(mount))),
  });
}

const MOST_ENTRIES = 20;

function byMountPath(one: PlannedFile, other: PlannedFile): number {
  return one.mountPath < other.mountPath ? -1 : 1;
}

function previewOf({ hostPath, mountPath }: CheckedMount, walk: MountWalk): HostMountPreview {
  return {
    hostPath,
    mountPath,
    files: walk.files.length,
    bytes: walk.budget.bytes,
    entries: walk.paths.slice(0, MOST_ENTRIES),
    truncated: walk.paths.length > MOST_ENTRIES,
    withheld: walk.withheld,
  };
}

function limitOf({ mountPath, maxBytes }: CheckedMount): readonly MountLimit[] {
  return maxBytes === Infinity ? [] : [{ mountPath, maxBytes }];
}
