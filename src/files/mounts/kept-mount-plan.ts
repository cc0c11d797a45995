import type { MountPlan } from "./mount-plan.ts";

/** A plan of files that an earlier process has mounted, perhaps on another machine. Nothing is copied from the host. */
export interface KeptMountPlan extends MountPlan {
  readonly isKept: true;
}

/** Whether a plan was made from kept files. */
export function isKeptPlan(plan: MountPlan): plan is KeptMountPlan {
  return "isKept" in plan;
}
