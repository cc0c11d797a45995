import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { deepFreeze } from "../../base/freeze.ts";
import type { HostMount } from "./host-mount.ts";
import type { HostMountPreview } from "./host-mount-preview.ts";
import { hostRoots } from "./host-roots.ts";
import { type CheckedMount, checkMounts, checkStrings } from "./mount-checks.ts";
import type { MountLimit, MountPlan } from "./mount-plan.ts";
import { findMountSource } from "./mount-source.ts";
import { MountWalk } from "./mount-walk.ts";
import type { PlannedFile } from "./planned-file.ts";
import { secretAllowlist } from "./secrets/secret-files.ts";

/** Options of {@link planMounts}. */
export interface PlanMountsOptions {
  /** The host folders that mounts may read, compared by their real paths. `"any"` allows the whole host. */
  readonly allowedHostRoots: readonly string[] | "any";
  /** Secret files to include although they are withheld by default: paths or globs within the mount or the workspace. @default none */
  readonly allowSecrets?: readonly string[] | undefined;
  /** The maximum number of entries that `skipped` of each preview lists. @default 100 */
  readonly maxSkipped?: number | undefined;
}

const planKeys: KnownKeys<PlanMountsOptions> = {
  allowSecrets: true,
  allowedHostRoots: true,
  maxSkipped: true,
};

/**
 * Lists the files of the mounts and checks roots, globs, budgets and symlinks. Copies nothing.
 *
 * Throws `InvalidOptionError` for an invalid mount, `WorkspaceSecurityError` for a mount that leaves the allowed
 * roots or the workspace, `WorkspaceBudgetExceededError` for a mount that exceeds `maxBytes`, and
 * `FilesystemError` for a path that does not exist or cannot be read.
 *
 * @example
 * ```ts
 * import { planMounts } from "weakincentives/files";
 *
 * const mounts = [{ hostPath: "./project", excludeGlob: ["node_modules"], gitignore: true }];
 * const plan = planMounts(mounts, { allowedHostRoots: ["./project"] });
 * ```
 */
export function planMounts(mounts: readonly HostMount[], options: PlanMountsOptions): MountPlan {
  const { allowedHostRoots, allowSecrets = [], maxSkipped = MAX_SKIPPED } = checkArguments(options);
  checkMaxSkipped(maxSkipped);
  const roots = hostRoots(allowedHostRoots);
  const allowsSecret = secretAllowlist(checkStrings(allowSecrets, "allowSecrets"));
  const walks = checkMounts(mounts).map((mount) => ({
    mount,
    walk: new MountWalk(mount, { roots, allowsSecret, maxSkipped }).walkFrom(
      findMountSource(mount, roots),
    ),
  }));
  const files = walks.flatMap(({ walk }) => walk.files);
  const directories = new Set(walks.flatMap(({ walk }) => walk.directories));
  return Object.freeze({
    files: Object.freeze(walks.length === 1 ? files : files.sort(compareByMountPath)),
    directories: Object.freeze([...directories].sort()),
    previews: deepFreeze(walks.map(({ mount, walk }) => createPreview(mount, walk))),
    limits: deepFreeze(walks.flatMap(({ mount }) => createLimits(mount))),
  });
}

const refuse = InvalidOptionError.at("planMounts(options)");

function checkArguments(options: PlanMountsOptions): PlanMountsOptions {
  const given: unknown = options;
  if (typeof given !== "object" || given === null) {
    throw refuse("", given, "must be an object", "use { allowedHostRoots: [ … ] }");
  }
  checkKnownKeys(options, "planMounts(options)", planKeys);
  return options;
}

function checkMaxSkipped(given: number): void {
  if (given === Infinity || (Number.isSafeInteger(given) && given >= 0)) return;
  const rule = "must be a non-negative integer";
  throw refuse("maxSkipped", given, rule, "omit it for 100, or use Infinity for all");
}

/** The number of files that a preview names. */
export const MAX_ENTRIES = 20;
const MAX_SKIPPED = 100;

function compareByMountPath(one: PlannedFile, other: PlannedFile): number {
  return one.mountPath < other.mountPath ? -1 : 1;
}

function createPreview({ hostPath, mountPath }: CheckedMount, walk: MountWalk): HostMountPreview {
  return {
    hostPath,
    mountPath,
    files: walk.files.length,
    bytes: walk.budget.bytes,
    entries: walk.paths.slice(0, MAX_ENTRIES),
    truncated: walk.paths.length > MAX_ENTRIES,
    withheld: walk.withheld,
    unmatched: walk.unmatched,
    skipped: walk.skipped.list(),
    skippedCount: walk.skipped.count,
  };
}

function createLimits({ mountPath, maxBytes }: CheckedMount): readonly MountLimit[] {
  return maxBytes === Infinity ? [] : [{ mountPath, maxBytes }];
}
