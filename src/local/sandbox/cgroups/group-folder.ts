import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** Limits of one group. */
export interface GroupLimits {
  /** Memory in bytes, swap included. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly processes: number;
}

/** A group's folder and its uses. Version 2 may have all three in one folder. */
export interface GroupFolder {
  readonly path: string;
  readonly version: 1 | 2;
  readonly memory: boolean;
  readonly processes: boolean;
  /** Whether the group can be frozen and killed as a whole. Only version 2 can do it in one step. */
  readonly freezer: boolean;
}

/** Creates the folder and sets the limits that it holds. Throws if the kernel refuses one. */
export function createGroupFolder(folder: GroupFolder, limits: GroupLimits): void {
  const { path, version } = folder;
  mkdirSync(path);
  const write = (file: string, value: number | string) =>
    writeFileSync(join(path, file), String(value));
  const bytes = Math.ceil(limits.memoryBytes);
  if (folder.memory && version === 2) {
    write("memory.max", bytes);
    if (existsSync(join(path, "memory.swap.max"))) write("memory.swap.max", 0);
  } else if (folder.memory) {
    write("memory.limit_in_bytes", bytes);
    // Without swap accounting, the group's memory must not be swapped out.
    if (existsSync(join(path, "memory.memsw.limit_in_bytes")))
      write("memory.memsw.limit_in_bytes", bytes);
    else write("memory.swappiness", 0);
  }
  if (folder.processes) write("pids.max", limits.processes);
}

/** Returns how often the kernel killed a process of the group because its memory was used up. */
export function countMemoryKills({ path, version }: GroupFolder): number {
  const file = version === 2 ? "memory.events" : "memory.oom_control";
  const text = readFileSync(join(path, file), "latin1");
  return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Stops all processes of the group, or lets them continue. Frozen processes can still be killed. */
export function setFrozen({ path }: GroupFolder, frozen: boolean): void {
  writeFileSync(join(path, "cgroup.freeze"), frozen ? "1" : "0");
}

/** Kills every process in the folder, frozen ones included. */
export function killAll({ path, version }: GroupFolder): void {
  if (version === 2 && existsSync(join(path, "cgroup.kill"))) {
    writeFileSync(join(path, "cgroup.kill"), "1");
    return;
  }
  const processes = readFileSync(join(path, "cgroup.procs"), "latin1");
  for (const pid of processes.split("\n").map(Number)) {
    if (pid > 1 && pid !== process.pid) killQuietly(pid);
  }
}

/** Removes the folder. Returns `false` while a process is still in it. */
export function removeGroupFolder(path: string): boolean {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) removeGroupFolder(join(path, entry.name));
    }
    rmdirSync(path);
    return true;
  } catch {
    return !existsSync(path);
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just exited.
  }
}
