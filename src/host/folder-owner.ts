import { closeSync, fstatSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { isPlainObject } from "../base/freeze.ts";
import { parseJson } from "../base/json.ts";
import { maybeTextAt, numberAt } from "../base/reading.ts";
import { openItself } from "./open-itself.ts";
import { isAlive, readProcessStat } from "./process-identity.ts";

/** The process that a temporary folder belongs to. */
export interface FolderOwner {
  readonly pid: number;
  /** When it started, in clock ticks since the machine booted; `null` where the system does not say. */
  readonly startedAt: number | null;
  /** Machines and containers may share a folder, but not their pids. */
  readonly host: string;
}

/** Returns the current process as the owner of a folder. */
export function currentOwner(): FolderOwner {
  const { pid } = process;
  return { pid, startedAt: readProcessStat(pid)?.startTicks ?? null, host: hostname() };
}

/** Reads the owner of a folder. Returns `null` for anything but a readable owner file. */
export function readOwner(path: string): FolderOwner | null {
  try {
    const parsed = parseJson(readSmallFile(path));
    if (!parsed.ok || !isPlainObject(parsed.value)) return null;
    const pid = numberAt(parsed.value, "pid");
    const host = maybeTextAt(parsed.value, "host");
    if (pid === null || !Number.isSafeInteger(pid) || pid <= 0 || host === null) return null;
    return { pid, startedAt: numberAt(parsed.value, "startedAt"), host };
  } catch {
    return null;
  }
}

/** Whether the owner has certainly ended. One on another machine may still run. */
export function isGone({ pid, startedAt, host }: FolderOwner): boolean {
  if (host !== hostname()) return false;
  return !isAlive(pid, ({ startTicks }) => startedAt === null || startTicks === startedAt);
}

const LARGEST_OWNER_BYTES = 4096;

/** Returns `""` for a link, a pipe or a file too large to be an owner's. */
function readSmallFile(path: string): string {
  const file = openItself(path);
  try {
    const stats = fstatSync(file);
    return stats.isFile() && stats.size <= LARGEST_OWNER_BYTES ? readFileSync(file, "utf8") : "";
  } finally {
    closeSync(file);
  }
}
