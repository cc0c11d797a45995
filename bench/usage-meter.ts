import { existsSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename } from "node:path";

/** A container's peak usage, seen from the host. */
export interface Usage {
  memory: number;
  processes: number;
  disk: number;
}

/** Measures a container from outside: its cgroup if it has one, otherwise its processes, and its disk. */
export class UsageMeter {
  /** Text in the mounts of the container's processes: its disk, or its folder. */
  readonly #mount: string;
  readonly #root: string;
  readonly #isOurs = new Map<string, boolean>();
  readonly #freeAtStart: number;
  readonly #timer: NodeJS.Timeout;
  readonly #peak: Usage = { memory: 0, processes: 0, disk: 0 };

  constructor(root: string) {
    this.#root = root;
    const { dev } = statSync(root);
    const hasDisk = dev !== statSync(tmpdir()).dev;
    this.#mount = hasDisk ? ` ${dev >> 8}:${dev & 255} /data /mnt/data ` : basename(root);
    this.#freeAtStart = this.#measureFree();
    this.#timer = setInterval(() => this.#sample(), 10);
  }

  /** Stops and returns the highest values. */
  stop(): Usage {
    clearInterval(this.#timer);
    this.#sample();
    return this.#peak;
  }

  #sample(): void {
    const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && this.#includes(name));
    const peak = this.#peak;
    peak.disk = Math.max(peak.disk, this.#freeAtStart - this.#measureFree());
    peak.processes = Math.max(peak.processes, sum(pids.map(countThreads)));
    const group = pids.map(readGroupPeak).find((bytes) => bytes !== null);
    peak.memory = Math.max(
      peak.memory,
      group ?? sum(pids.map(readMemory)) + readTemporary(pids[0]),
    );
  }

  #includes(pid: string): boolean {
    const known = this.#isOurs.get(pid);
    if (known !== undefined) return known;
    const isMounted = read(`/proc/${pid}/mountinfo`).includes(this.#mount);
    const stat = read(`/proc/${pid}/stat`);
    const parent = stat.slice(stat.lastIndexOf(")")).split(" ")[2] ?? "";
    const isChild = parent === `${process.pid}` || this.#isOurs.get(parent) === true;
    const found = (isMounted || isChild) && pid !== `${process.pid}`;
    if (stat !== "") this.#isOurs.set(pid, found);
    return found;
  }

  #measureFree(): number {
    const { bfree, bsize } = statfsSync(this.#root);
    return bfree * bsize;
  }
}

function readGroupPeak(pid: string): number | null {
  for (const line of read(`/proc/${pid}/cgroup`).split("\n")) {
    const [, names = "", path = ""] = line.split(":");
    if (!/weakincentives_|docker|libpod|run-.*\.scope/.test(path)) continue;
    const files = [
      `/sys/fs/cgroup/memory${path}/memory.max_usage_in_bytes`,
      `/sys/fs/cgroup${path}/memory.peak`,
    ];
    const file = files.find((one) => existsSync(one));
    if (file && (names === "memory" || names === "")) return Number(read(file));
  }
  return null;
}

function countThreads(pid: string): number {
  return Number(/^Threads:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
}

function readMemory(pid: string): number {
  return 1024 * Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);
}

function readTemporary(pid: string | undefined): number {
  try {
    const used = ["tmp", "dev/shm"].map((folder) => {
      const { blocks, bfree, bsize, type } = statfsSync(`/proc/${pid}/root/${folder}`);
      return type === 0x01021994 ? (blocks - bfree) * bsize : 0; // tmpfs
    });
    return sum(used);
  } catch {
    return 0; // it has just ended
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // it has just ended
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
