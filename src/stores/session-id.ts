import { Buffer } from "node:buffer";
import { quoteValue } from "../base/quote-value.ts";
import { SessionStoreError } from "../session/session-store.ts";

/** Returns the id of a session, or throws `SessionStoreError` for one that a store cannot keep apart from others. */
export function checkSessionId(id: string): string {
  if (isSessionId(id)) return id;
  const remedy = "Use a different session id.";
  throw new SessionStoreError(
    `The id of a stored session must be a string of 1-${MAX_ID_BYTES} bytes, got ${quoteValue(id)}. ${remedy}`,
  );
}

/** Returns whether a value can be the id of a stored session. */
export function isSessionId(id: unknown): id is string {
  if (typeof id !== "string" || id === "" || id.length > MAX_ID_BYTES) return false;
  const bytes = Buffer.from(id, "utf8");
  return bytes.length <= MAX_ID_BYTES && bytes.toString("utf8") === id; // no lone surrogates
}

const MAX_ID_BYTES = 128;
