import type { HostMount } from "../../files/mounts/host-mount.ts";
import type { MountPlan } from "../../files/mounts/mount-plan.ts";
import { planKeptMounts } from "../../files/mounts/plan-kept-mounts.ts";
import { type PlanMountsOptions, planMounts } from "../../files/mounts/plan-mounts.ts";
import { findKeptMounts, type KeeperOptions } from "./find-kept-mounts.ts";

/**
 * Plans the mounts of a workspace. If the files of an earlier process will be restored, the host's folders are not
 * read: this machine may not have them, and the model must read the same description. Otherwise throws like
 * `planMounts`.
 */
export function planWorkspace(
  kept: KeeperOptions,
  mounts: readonly HostMount[],
  options: PlanMountsOptions,
): MountPlan {
  const mounted = findKeptMounts(kept);
  return mounted ? planKeptMounts(mounts, mounted) : planMounts(mounts, options);
}
