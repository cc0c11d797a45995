import { Session } from "../../../src/session/session.ts";
import { MemorySessionStore } from "../memory-session-store.ts";

/** Opens session "s" as another process would after the holder of its claim has ended. */
export function reopenSession(store: MemorySessionStore): Promise<Session> {
  store.claims.clear();
  return Session.openOrCreate(store, "s");
}

/** Returns the store's content if the process were killed now. */
export function copyStore({ lines, checkpoints }: MemorySessionStore): MemorySessionStore {
  const copy = new MemorySessionStore();
  for (const [id, records] of lines) copy.lines.set(id, [...records]);
  for (const [id, checkpoint] of checkpoints) copy.checkpoints.set(id, checkpoint);
  return copy;
}
