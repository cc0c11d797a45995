import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { getErrorMessage } from "../../../base/errors.ts";
import { CgroupControl } from "./cgroup-control.ts";
import { findGroupParents } from "./find-group-parents.ts";
import { findHierarchies, type Hierarchy } from "./find-hierarchies.ts";
import type { FoundControl, ResourceControl } from "./resource-control.ts";
import { systemdControl } from "./systemd-control.ts";

let found: Promise<FoundControl> | null = null;

/** Finds the best means of this host to hold the limits of containers. Tries each once per process. */
export function findResourceControl(): Promise<FoundControl> {
  found ??= searchResourceControl(readHierarchies(), systemdControl());
  return found;
}

/** Tries the given hierarchies, then `fallback`. */
export async function searchResourceControl(
  hierarchies: readonly Hierarchy[],
  fallback: ResourceControl | null,
): Promise<FoundControl> {
  const problems: string[] = [];
  const controls: ResourceControl[] = findGroupParents(hierarchies).map(
    ({ means, parents }) => new CgroupControl(means, parents),
  );
  if (fallback) controls.push(fallback);
  for (const control of controls) {
    const problem = await tryControl(control);
    if (problem === null) return { control };
    problems.push(`${control.means}: ${problem}`);
  }
  return { control: null, reason: `${problems.join("; ") || "no cgroups"}. ${REMEDY}` };
}

const REMEDY =
  "Run as root, in a systemd user session, or in a service with Delegate=yes and its own subgroup";

/** Runs `true` in a group, as containers do. Returns the problem, or `null` if it works. */
async function tryControl(control: ResourceControl): Promise<string | null> {
  try {
    if (control instanceof CgroupControl) await control.sweep();
    const group = control.createGroup({ memoryBytes: 64 * 1024 ** 2, processes: 16 });
    try {
      const { command, environment } = group.wrap(["/bin/true"]);
      const [program = "", ...rest] = command;
      const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...environment };
      await promisify(execFile)(program, rest, { env, timeout: TRIAL_TIMEOUT_MS });
      group.freeze();
      group.thaw();
      group.countMemoryKills();
      return null;
    } finally {
      await group.remove();
    }
  } catch (error) {
    return describeProblem(error);
  }
}

/** Shortens errors of the file system to their cause: their paths do not help anyone. */
function describeProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "not permitted";
  if (code === "ENOENT") return "not available";
  return getErrorMessage(error).trim().split("\n").at(-1) ?? "";
}

const TRIAL_TIMEOUT_MS = 5_000;

/** Reads the hierarchies of this process; none where the system is not Linux. */
export function readHierarchies(folder = "/proc/self"): readonly Hierarchy[] {
  try {
    const read = (name: string) => readFileSync(`${folder}/${name}`, "latin1");
    return findHierarchies(read("mountinfo"), read("cgroup"));
  } catch {
    return [];
  }
}
