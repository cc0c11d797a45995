import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findResourceControl } from "../../../src/local/sandbox/cgroups/find-resource-control.ts";

/** Whether this process can hold containers in cgroups that it creates itself. */
export async function hasGroups(): Promise<boolean> {
  const { control } = await findResourceControl();
  return control?.means.startsWith("cgroup") ?? false;
}

/** Lists the cgroup folders that this process created for containers. */
export function listGroups(): readonly string[] {
  const prefix = `weakincentives_${process.pid}_`;
  const found: string[] = [];
  for (const line of readFileSync("/proc/self/cgroup", "latin1").trim().split("\n")) {
    const [, names = "", path = ""] = line.split(":");
    for (const top of names === ""
      ? ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
      : [`/sys/fs/cgroup/${names}`]) {
      for (const folder of [join(top, path), join(top, path, "..")]) {
        if (!existsSync(folder)) continue;
        for (const name of readdirSync(folder).filter((one) => one.startsWith(prefix)))
          found.push(join(folder, name));
      }
    }
  }
  return [...new Set(found)];
}

/** Returns the highest memory use of the groups of this process, and how many processes are in them. */
export function measureGroups(): {
  readonly memory: number;
  readonly processes: readonly number[];
} {
  let memory = 0;
  const processes = new Set<number>();
  for (const folder of listGroups()) {
    for (const file of ["memory.max_usage_in_bytes", "memory.peak"])
      memory = Math.max(memory, Number(read(join(folder, file))));
    for (const pid of read(join(folder, "cgroup.procs")).split("\n").filter(Boolean))
      processes.add(Number(pid));
  }
  return { memory, processes: [...processes] };
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has just been removed, or the group has no such file
  }
}

/** Python that attacks begin with. */
export const ATTACK_LIBRARY: string = `
import ctypes, os, time, signal, socket, mmap
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *values):
    result = libc.syscall(number, *[ctypes.c_long(v) if isinstance(v, int) else v for v in values])
    return "through" if result >= 0 else os.strerror(ctypes.get_errno())
def fork(work):
    try: pid = os.fork()
    except OSError: return None
    if pid == 0:
        try: work()
        finally: os._exit(0)
    return pid
`;
