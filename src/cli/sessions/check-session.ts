import { WinkError } from "../../base/errors.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import { hasRecords, type SessionStore, SessionStoreError } from "../../session/session-store.ts";

/** Throws `WinkError` if a store does not have a session. A damaged session exists. */
export async function checkSession(store: SessionStore, id: string): Promise<void> {
  try {
    if (await hasRecords(store, id)) return;
  } catch (error) {
    if (isDamage(error, id)) return;
    throw error;
  }
  const near = suggestSpelling(id, await store.list());
  const remedy =
    near === null
      ? "List the sessions with wink sessions ls."
      : `Did you mean ${JSON.stringify(near)}?`;
  throw new WinkError(`The store has no session ${JSON.stringify(id)}. ${remedy}`);
}

/** Returns whether an error is about one session, and not about the whole store. */
export function isDamage(error: unknown, id: string): error is SessionStoreError {
  return error instanceof SessionStoreError && error.sessionId === id;
}
