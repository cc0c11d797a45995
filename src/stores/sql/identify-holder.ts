import { readlinkSync } from "node:fs";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import {
  identifyCurrentProcess,
  isRunning,
  type ProcessIdentity,
} from "../../host/process-identity.ts";

/**
 * Identifies this process in a claim, as JSON. Processes of another machine, another boot or another container never
 * count as ended: their process ids mean nothing here.
 */
export function identifyHolder(): string {
  const { pid, started, host } = identifyCurrentProcess();
  const boot = started.split("-").slice(0, -1).join("-");
  return JSON.stringify({ pid, started, host: [host, boot, readPidNamespace()].join(" ") });
}

/** Returns whether the process of a claim has ended, as far as the process `own` can tell. */
export function hasEnded(holder: string, own: string): boolean {
  const [other, self] = [parseIdentity(holder), parseIdentity(own)];
  return other !== null && self !== null && !isRunning(other, self);
}

function parseIdentity(text: string): ProcessIdentity | null {
  const json = parseJson(text);
  if (!json.ok || !isPlainObject(json.value)) return null;
  const { pid, started, host } = json.value;
  if (typeof pid !== "number" || typeof started !== "string" || typeof host !== "string") {
    return null;
  }
  return { pid, started, host };
}

/** Containers of one machine may have the same host name, but not the same process ids. */
function readPidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return ""; // not Linux
  }
}
