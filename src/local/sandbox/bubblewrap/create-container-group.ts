import type { FoundControl, ResourceGroup } from "../cgroups/resource-control.ts";
import { type ContainerLimits, SUPERVISOR_PROCESSES } from "../container-limits.ts";
import type { LimitGrade } from "../sandbox.ts";

/** Creates the group of a container. Without one its limits are watched, unless `require` forbids it. */
export function createContainerGroup(
  { control }: FoundControl,
  { memoryBytes, maxProcesses }: ContainerLimits,
  require: LimitGrade = "watched",
): ResourceGroup | null {
  try {
    return (
      control?.createGroup({
        memoryBytes: memoryBytes + SUPERVISOR_BYTES,
        processes: maxProcesses + SUPERVISOR_PROCESSES + BUBBLEWRAP_PROCESSES,
      }) ?? null
    );
  } catch (error) {
    if (require === "watched") return null;
    throw new Error(`The container's limits cannot be enforced: ${String(error)}`, {
      cause: error,
    });
  }
}

/** Memory of the supervisor and of bwrap, which are in the group too. */
const SUPERVISOR_BYTES = 16 * 1024 ** 2;

const BUBBLEWRAP_PROCESSES = 2;
