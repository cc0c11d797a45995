import { type Clock, systemClock } from "../base/clock.ts";
import { createHeader, type SessionStarted } from "./session-record.ts";
import { hasRecords, type SessionStore } from "./session-store.ts";
import { isHeldError } from "./shared-claim.ts";

/** Identity of a session that may have to be created. */
export type NewSession = Pick<SessionStarted, "id" | "createdAt" | "tags">;

/**
 * Creates a session in its store, unless it is there. If several processes create it at once, one succeeds
 * and the others find it.
 */
export async function ensureStored(
  store: SessionStore,
  session: NewSession,
  clock: Clock = systemClock,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    if (await hasRecords(store, session.id)) return;
    try {
      await create(store, session);
      return;
    } catch (error) {
      if (await hasRecords(store, session.id)) return; // another process was first
      if (attempt === MAX_ATTEMPTS || !isHeldError(error)) throw error;
    }
    await clock.sleep(POLL_MS); // another process is about to create it
  }
}

async function create(store: SessionStore, session: NewSession): Promise<void> {
  const claim = await store.claim?.(session.id);
  try {
    if (claim && (await hasRecords(store, session.id))) return;
    const by = { writer: {}, position: 0, ...(claim && { fence: claim.fence }) };
    await store.append(session.id, { n: 0, ...createHeader(session) }, by);
  } finally {
    await claim?.release();
  }
}

const MAX_ATTEMPTS = 50;
const POLL_MS = 100;
