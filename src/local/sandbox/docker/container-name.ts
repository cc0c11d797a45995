import { randomBytes } from "node:crypto";
import {
  identifyCurrentProcess,
  isRunning,
  type ProcessIdentity,
} from "../../../host/process-identity.ts";
import { callEngine, type EngineClient } from "./call-engine.ts";

/** The label of every container that a sandbox starts. */
export const CONTAINER_LABEL = "weakincentives.sandbox=1";

/** Creates a container's name. It names the process that owns it, so that another can tell whether it was left behind. */
export function createContainerName(): string {
  const { pid, started, host } = identifyCurrentProcess();
  const owner = Buffer.from(JSON.stringify([pid, started, host])).toString("base64url");
  return `${PREFIX}${owner}.${randomBytes(6).toString("hex")}`;
}

/** Removes the containers of processes that have ended. Containers of other hosts and running processes stay. */
export async function sweepContainers(client: EngineClient): Promise<void> {
  const filters = ["--filter", `label=${CONTAINER_LABEL}`, "--filter", `name=${PREFIX}`];
  const answer = await callEngine(client, ["ps", "--all", ...filters, "--format", "{{.Names}}"]);
  if (answer.problem !== null) return; // starting a container reports the problem
  const left = answer.stdout.split("\n").filter((name) => isLeftBehind(name.trim()));
  if (left.length > 0) await callEngine(client, ["rm", "--force", ...left]);
}

/** Returns whether a container's name names an owner that has ended. */
export function isLeftBehind(name: string): boolean {
  const owner = name.startsWith(PREFIX) ? parseOwner(name.slice(PREFIX.length)) : null;
  return owner !== null && !isRunning(owner);
}

function parseOwner(text: string): ProcessIdentity | null {
  try {
    const [encoded = ""] = text.split(".");
    const owner: unknown = JSON.parse(Buffer.from(encoded, "base64url").toString());
    if (!Array.isArray(owner)) return null;
    const [pid, started, host]: readonly unknown[] = owner;
    const isOwner =
      Number.isSafeInteger(pid) && typeof started === "string" && typeof host === "string";
    return isOwner ? { pid: Number(pid), started: String(started), host: String(host) } : null;
  } catch {
    return null; // another program chose this name
  }
}

const PREFIX = "wink-sandbox.";
