import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { performance } from "node:perf_hooks";
import { hostCode } from "./host-error.ts";

/** A process, distinguished from a later one that gets the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the unit of its system. */
  readonly started: string;
  /** The machine's name, encoded so that a file name can hold it. */
  readonly host: string;
}

/** What Linux reports about a process in `/proc/PID/stat`. */
export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  /** When it started, in clock ticks since the machine booted. */
  readonly startTicks: number;
  /** It has ended, and its parent has not asked for its exit status yet. */
  readonly isDead: boolean;
}

/** Returns the identity of the current process. */
export function thisProcess(): ProcessIdentity {
  const { pid } = process;
  const stat = readProcessStat(pid);
  const started = stat === null ? null : formatStart(stat);
  return {
    pid,
    started: started ?? String(Math.round(performance.timeOrigin)),
    host: encodeURIComponent(hostname()),
  };
}

/** Whether a process still runs. A process on another machine counts as running. */
export function isRunning(
  { pid, started, host }: ProcessIdentity,
  own: ProcessIdentity = thisProcess(),
): boolean {
  if (host !== own.host) return true;
  if (pid === own.pid) return started === own.started;
  return isAlive(pid, (now) => (formatStart(now) ?? started) === started);
}

/**
 * Whether a process of this machine runs. On Linux, `isSame` decides whether the process that has
 * the pid now is the one that is meant. In doubt, it runs: a process of another user, which may not
 * be signaled, does.
 */
export function isAlive(pid: number, isSame: (now: ProcessStat) => boolean): boolean {
  const now = readProcessStat(pid);
  if (now !== null) return !now.isDead && isSame(now);
  try {
    process.kill(pid, 0); // sends nothing
    return true;
  } catch (error) {
    const code = hostCode(error);
    return code !== "ESRCH" && code !== "ERR_INVALID_ARG_TYPE"; // the latter for pids out of range
  }
}

/** Parses the text of `/proc/PID/stat`. Returns `null` if it is incomplete. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses, which may itself contain any character.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group] = fields;
  const startTicks = Number(fields[22 - 3]); // it is the 22nd field, and this is the third
  if (!Number.isFinite(startTicks)) return null;
  return { parent: Number(parent), group: Number(group), startTicks, isDead: isDeadState(state) };
}

/** Whether a state of `ps` or `/proc/PID/stat` is that of a process which has ended. */
export function isDeadState(state: string): boolean {
  return /^[ZX]/.test(state);
}

/** Reads what Linux says about a process. Returns `null` on other systems, and if it is gone. */
export function readProcessStat(pid: number): ProcessStat | null {
  return parseProcessStat(readProc(`${pid}/stat`));
}

/** Ticks count from the boot that `boot_id` names. `null` if the system does not name it. */
function formatStart({ startTicks }: ProcessStat): string | null {
  const boot = readProc("sys/kernel/random/boot_id").slice(0, 8);
  return boot === "" ? null : `${boot}-${startTicks}`;
}

function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, "latin1");
  } catch {
    return ""; // the caller finds out in another way
  }
}
