import type { FoundControl } from "../cgroups/resource-control.ts";
import type { LimitReport } from "../sandbox.ts";

/** Reports how the limits of bubblewrap hold with what the host offers. */
export function reportLimits(found: FoundControl, isDiskBounded: boolean): LimitReport {
  const disk = isDiskBounded ? "enforced" : "watched";
  if (found.control) {
    return { memory: "enforced", processes: "enforced", disk, means: found.control.means };
  }
  return {
    memory: "watched",
    // The limit is that of a user who has no other processes, or of a user namespace.
    processes: "enforced",
    disk,
    means: `rlimits and measurements (${found.reason})`,
  };
}
