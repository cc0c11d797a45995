import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { GroupParent } from "./cgroup-control.ts";
import type { Hierarchy } from "./find-hierarchies.ts";

/**
 * Lists sets of folders in which groups with limits on memory and processes might be created, best first.
 * Whether the kernel allows it, only a trial shows.
 */
export function findGroupParents(hierarchies: readonly Hierarchy[]): readonly GroupSet[] {
  const unified = hierarchies.find(({ version }) => version === 2);
  const sets: GroupSet[] = [];
  if (unified) {
    for (const path of listUnifiedParents(unified)) {
      const whole = { version: 2 as const, memory: true, processes: true, freezer: true };
      sets.push({ means: "cgroup v2", parents: [{ path, ...whole }] });
    }
  }
  const memory = findController(hierarchies, "memory");
  const processes = findController(hierarchies, "pids");
  if (memory && processes) {
    const freezer = unified ? [createParent(unified, { freezer: true })] : [];
    const limits =
      memory === processes
        ? [createParent(memory, { memory: true, processes: true })]
        : [createParent(memory, { memory: true }), createParent(processes, { processes: true })];
    // A group that version 1 froze cannot be killed, so only version 2 is used for freezing.
    if (unified) sets.push({ means: "cgroup v1, frozen by v2", parents: [...limits, ...freezer] });
    sets.push({ means: "cgroup v1", parents: limits });
  }
  return sets;
}

/** Folders that are used together: each container gets one group in each. */
export interface GroupSet {
  readonly means: string;
  readonly parents: readonly GroupParent[];
}

/**
 * In version 2, a group with limits cannot be created below a group that contains processes, except
 * below the topmost one. So groups are created beside the one of this process, which is not moved.
 */
function listUnifiedParents({ own, top }: Hierarchy): readonly string[] {
  const candidates = own === top ? [own] : [own, dirname(own)];
  return candidates.filter((path) => enableControllers(path));
}

function enableControllers(path: string): boolean {
  try {
    if (hasBoth(join(path, "cgroup.subtree_control"))) return true;
    if (!hasBoth(join(path, "cgroup.controllers"))) return false;
    writeFileSync(join(path, "cgroup.subtree_control"), "+memory +pids");
    return true;
  } catch {
    return false; // not permitted, or the group contains processes
  }
}

function hasBoth(file: string): boolean {
  const names = readFileSync(file, "latin1").trim().split(/\s+/);
  return names.includes("memory") && names.includes("pids");
}

function findController(hierarchies: readonly Hierarchy[], name: string): Hierarchy | undefined {
  return hierarchies.find(
    ({ version, controllers, own }) =>
      version === 1 && controllers.includes(name) && existsSync(own),
  );
}

function createParent(
  { own, version }: Hierarchy,
  holds: { readonly memory?: true; readonly processes?: true; readonly freezer?: true },
): GroupParent {
  const { memory = false, processes = false, freezer = false } = holds;
  return { path: own, version, memory, processes, freezer };
}
