import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { getErrorCode } from "./to-filesystem-error.ts";

/** Identifies a process, distinguishing it from a later process with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When the process started, in the unit of its operating system. */
  readonly started: string;
  /** Host name, encoded for use in a file name. */
  readonly host: string;
}

/** Information about a process from Linux's `/proc/PID/stat`. */
export interface ProcessStat {
  readonly parent: number;
  readonly group: number;
  /** When the process started, in clock ticks since boot. */
  readonly startTicks: number;
  /** Whether the process has exited and its parent has not yet read its exit status. */
  readonly isDead: boolean;
}

/** Returns the identity of the current process. */
export function identifyCurrentProcess(): ProcessIdentity {
  const { pid } = process;
  const stat = readProcessStat(pid);
  const started = stat === null ? null : formatStart(stat);
  return {
    pid,
    started: started ?? String(Math.round(performance.timeOrigin)),
    host: encodeURIComponent(hostname()),
  };
}

/** Returns whether a process is still running. A process on a different host counts as running. */
export function isRunning(
  { pid, started, host }: ProcessIdentity,
  own: ProcessIdentity = identifyCurrentProcess(),
): boolean {
  if (host !== own.host) return true;
  if (pid === own.pid) return started === own.started;
  return isAlive(pid, (now) => (formatStart(now) ?? started) === started);
}

/**
 * Returns whether a process of this host is running. On Linux, `isSame` decides whether the process
 * with that pid now is the expected one. If it cannot be determined, the process counts as running:
 * for example, a process of another user cannot be signaled.
 */
export function isAlive(pid: number, isSame: (now: ProcessStat) => boolean): boolean {
  const now = readProcessStat(pid);
  if (now !== null) return !now.isDead && isSame(now);
  try {
    process.kill(pid, 0); // sends no signal
    return true;
  } catch (error) {
    const code = getErrorCode(error);
    return code !== "ESRCH" && code !== "ERR_INVALID_ARG_TYPE"; // the latter for pids out of range
  }
}

/** Parses the text of `/proc/PID/stat`. Returns `null` if it is incomplete. */
export function parseProcessStat(text: string): ProcessStat | null {
  // The second field is the program's name in parentheses, which may contain any character.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group] = fields;
  const startTicks = Number(fields[22 - 3]); // field 22; the array starts with field 3
  if (!Number.isFinite(startTicks)) return null;
  return { parent: Number(parent), group: Number(group), startTicks, isDead: isDeadState(state) };
}

/** Returns whether a state from `ps` or `/proc/PID/stat` means that the process has exited. */
export function isDeadState(state: string): boolean {
  return /^[ZX]/.test(state);
}

/** Reads information about a process. Returns `null` if it has exited or the host is not Linux. */
export function readProcessStat(pid: number): ProcessStat | null {
  return parseProcessStat(readProc(`${pid}/stat`));
}

/**
 * Formats the start time with the boot id, because ticks count from boot. Returns `null` without a
 * boot id.
 */
function formatStart({ startTicks }: ProcessStat): string | null {
  const boot = readProc("sys/kernel/random/boot_id").slice(0, 8);
  return boot === "" ? null : `${boot}-${startTicks}`;
}

function readProc(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, "latin1");
  } catch {
    return ""; // The caller handles a missing file.
  }
}
