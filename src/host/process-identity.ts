import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";

/** A process, told apart from a later one that got the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in whatever the system counts. */
  readonly started: string;
  /** The machine's name, as the name of a file may hold it. */
  readonly host: string;
}

/** The process that asks. */
export function thisProcess(): ProcessIdentity {
  const { pid } = process;
  const started = startOf(pid) ?? String(Math.round(performance.timeOrigin));
  return { pid, started, host: encodeURIComponent(hostname()) };
}

/** Whether it still runs. One on another machine cannot be asked, and is taken to run. */
export function isRunning(
  { pid, started, host }: ProcessIdentity,
  own: ProcessIdentity = thisProcess(),
): boolean {
  if (host !== own.host) return true;
  if (pid === own.pid) return started === own.started;
  const nowStarted = startOf(pid);
  if (nowStarted !== null) return nowStarted === started;
  return answers(pid);
}

/**
 * Linux counts from the machine's start, which `boot_id` names. `null` where it cannot be told:
 * on other systems, and of a process that is gone.
 */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").slice(0, 8);
    // The name of the program, in parentheses, may hold anything: the fields start behind it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const isZombie = fields[0] === "Z" || fields[0] === "X";
    return isZombie ? "over" : `${boot}-${fields[19]}`;
  } catch {
    return null; // the caller asks in another way
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0); // sends nothing
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM"; // it is there, and somebody else's
  }
}
