import { hostname } from "node:os";
import { checkKnownKeys, InvalidOptionError } from "../base/errors.ts";
import type { ClaimOptions } from "../session/session-store.ts";

/** Returns the text that names the holder of a claim to others. */
export function getClaimOwner(options: ClaimOptions = {}): string {
  checkKnownKeys(options, "SessionStore.claim(options)", { owner: true });
  const { owner = describeProcess(process.pid, hostname()) } = options;
  if (isOwner(owner)) return owner;
  throw new InvalidOptionError({
    field: "SessionStore.claim(options.owner)",
    value: owner,
    rule: "must be one line of 1-200 characters",
    remedy: "omit it for the process and its host",
  });
}

/** Describes a process as the holder of a claim. */
export function describeProcess(pid: number, host: string): string {
  return `process ${pid} on ${host}`;
}

/** Returns whether a stored text can be shown as the holder of a claim. */
export function isOwner(text: unknown): text is string {
  return typeof text === "string" && OWNER.test(text);
}

/** No control characters: the text is printed. */
const OWNER = /^[^\p{Cc}\u2028\u2029]{1,200}$/u;
