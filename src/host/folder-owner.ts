import { closeSync, fstatSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { maybeTextAt, numberAt } from "../base/reading.ts";
import { hostCode } from "./host-error.ts";
import { openItself } from "./open-itself.ts";

/** The process that a temporary folder belongs to. */
export interface FolderOwner {
  readonly pid: number;
  /** In ticks since the machine started, so that a later process of the same id is told apart. */
  readonly startedAt: number | null;
  /** Machines and containers may share a folder, but not their process ids. */
  readonly host: string;
}

export function thisProcess(): FolderOwner {
  return { pid: process.pid, startedAt: lookAt(process.pid)?.startedAt ?? null, host: hostname() };
}

/** `null` for whatever is not an owner's file that can be read. */
export function readOwner(path: string): FolderOwner | null {
  try {
    const parsed = parseJson(smallTextOf(path));
    if (!parsed.ok || !isPlainObject(parsed.value)) return null;
    const pid = numberAt(parsed.value, "pid");
    const host = maybeTextAt(parsed.value, "host");
    if (pid === null || !Number.isSafeInteger(pid) || pid <= 0 || host === null) return null;
    return { pid, startedAt: numberAt(parsed.value, "startedAt"), host };
  } catch {
    return null;
  }
}

/** Whether it is sure that the process has ended: in doubt, it lives. */
export function isGone({ pid, startedAt, host }: FolderOwner): boolean {
  if (host !== hostname()) return false;
  if (!isThere(pid)) return true;
  const now = lookAt(pid);
  if (now === null) return false;
  return now.isDead || (startedAt !== null && now.startedAt !== startedAt);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0); // no signal: only asks
    return true;
  } catch (error) {
    return hostCode(error) !== "ESRCH"; // another user's may not even be asked, but is there
  }
}

/** What Linux says of a process; `null` elsewhere. */
function lookAt(pid: number): { readonly startedAt: number; readonly isDead: boolean } | null {
  try {
    const said = readFileSync(`/proc/${pid}/stat`, "utf8");
    // A process may call itself anything: its third field is the first one after its name.
    const fields = said.slice(said.lastIndexOf(")") + 2).split(" ");
    const startedAt = Number(fields[22 - 3]);
    if (!Number.isFinite(startedAt)) return null;
    return { startedAt, isDead: fields[0] === "Z" || fields[0] === "X" };
  } catch {
    return null;
  }
}

const LARGEST_OWNER_BYTES = 4096;

/** Neither a link nor a pipe, nor more than anybody would have written there. */
function smallTextOf(path: string): string {
  const file = openItself(path);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= LARGEST_OWNER_BYTES ? readFileSync(file, "utf8") : "";
  } finally {
    closeSync(file);
  }
}
