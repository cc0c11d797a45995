import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identifyCurrentProcess, isRunning } from "../../../host/process-identity.ts";
import {
  countMemoryKills,
  createGroupFolder,
  type GroupFolder,
  type GroupLimits,
  killAll,
  removeGroupFolder,
  setFrozen,
} from "./group-folder.ts";
import type { ResourceControl, ResourceGroup } from "./resource-control.ts";

/** A folder in which groups can be created, and the limits that they can have. */
export type GroupParent = GroupFolder;

/** Creates groups directly in the cgroup file system. */
export class CgroupControl implements ResourceControl {
  readonly means: string;
  readonly #parents: readonly GroupParent[];

  constructor(means: string, parents: readonly GroupParent[]) {
    this.means = means;
    this.#parents = parents;
  }

  createGroup(limits: GroupLimits): ResourceGroup {
    const name = createGroupName();
    const folders: GroupFolder[] = [];
    try {
      for (const parent of this.#parents) {
        const folder = { ...parent, path: join(parent.path, name) };
        folders.push(folder);
        createGroupFolder(folder, limits);
      }
    } catch (error) {
      for (const { path } of folders) removeGroupFolder(path);
      throw error;
    }
    return new CgroupGroup(folders);
  }

  /** Removes groups that a process left behind when it was killed, with all processes in them. */
  async sweep(): Promise<void> {
    for (const parent of this.#parents) {
      const names = readdirSync(parent.path).filter(isAbandoned);
      const folders = names.map((name) => ({ ...parent, path: join(parent.path, name) }));
      await Promise.all(folders.map(removeWithProcesses));
    }
  }
}

class CgroupGroup implements ResourceGroup {
  readonly #folders: readonly GroupFolder[];
  readonly #freezer: GroupFolder | undefined;
  readonly #memory: GroupFolder | undefined;

  constructor(folders: readonly GroupFolder[]) {
    this.#folders = folders;
    this.#freezer = folders.find(({ freezer }) => freezer);
    this.#memory = folders.find(({ memory }) => memory);
  }

  /** A shell enters the groups and then becomes the command, so the command never runs outside. */
  wrap(command: readonly string[]) {
    const files = this.#folders.map(({ path }) => join(path, "cgroup.procs"));
    const enter = files.map((_, index) => `echo 0 > "$${index + 1}" &&`).join(" ");
    const script = `${enter} shift ${files.length} && exec "$@"`;
    return { command: ["/bin/sh", "-c", script, "sh", ...files, ...command], environment: {} };
  }

  onStart(): void {}

  freeze(): void {
    useIfPresent(this.#freezer, (folder) => setFrozen(folder, true));
  }

  thaw(): void {
    useIfPresent(this.#freezer, (folder) => setFrozen(folder, false));
  }

  countMemoryKills(): number {
    return useIfPresent(this.#memory, countMemoryKills) ?? 0;
  }

  kill(): void {
    useIfPresent(this.#freezer ?? this.#folders[0], killAll);
  }

  async remove(): Promise<void> {
    await Promise.all(this.#folders.map(removeWithProcesses));
  }
}

/** Returns `null` if the group does not have the folder, or it was removed. */
function useIfPresent<Result>(
  folder: GroupFolder | undefined,
  work: (folder: GroupFolder) => Result,
): Result | null {
  if (!folder) return null;
  try {
    return work(folder);
  } catch (error) {
    if (existsSync(folder.path)) throw error;
    return null;
  }
}

/** Kills the group's processes until it can be removed. Processes may take a moment to exit. */
async function removeWithProcesses(folder: GroupFolder): Promise<void> {
  for (let waited = 0; waited < REMOVE_TIMEOUT_MS; waited += REMOVE_PAUSE_MS) {
    if (removeGroupFolder(folder.path)) return;
    try {
      killAll(folder);
    } catch {
      // The folder has just been removed.
    }
    await sleep(REMOVE_PAUSE_MS);
  }
}

const REMOVE_TIMEOUT_MS = 5_000;
const REMOVE_PAUSE_MS = 5;

const PREFIX = "weakincentives";
let created = 0;

/** The name identifies the process that owns the group, so that others can remove it after that process was killed. */
function createGroupName(): string {
  const { pid, started, host } = identifyCurrentProcess();
  return `${PREFIX}_${pid}_${started}_${++created}_${host}`;
}

function isAbandoned(name: string): boolean {
  const [prefix, pid, started = "", , ...host] = name.split("_");
  if (prefix !== PREFIX || host.length === 0) return false;
  return !isRunning({ pid: Number(pid), started, host: host.join("_") });
}
