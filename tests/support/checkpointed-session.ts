import { vi } from "vitest";
import { defineSlice } from "../../src/session/define-slice.ts";
import { logSlice } from "../../src/session/log-slice.ts";
import { Session } from "../../src/session/session.ts";
import type { Slice } from "../../src/session/slice.ts";
import { storedSession } from "../../src/session/stored-session.ts";
import type { MemorySessionStore } from "./memory-session-store.ts";

interface CoinPaid {
  readonly type: "CoinPaid";
  readonly cents: number;
}

declare module "../../src/session/event-map.ts" {
  interface EventMap {
    CoinPaid: CoinPaid;
    PurseClosed: { readonly type: "PurseClosed"; readonly at: number };
  }
}

/** How much was paid. */
export const purse = defineSlice("purse", {
  initial: { cents: 0 },
  on: { CoinPaid: (state, { cents }) => ({ cents: state.cents + cents }) },
});
/** Each payment. */
export const payments = logSlice("payments", "CoinPaid");
/** When it was closed last. A session can be restored to that. */
export const closings: Slice<number | null> = Object.freeze({
  ...defineSlice<number | null>("closings", {
    initial: null,
    policy: "log",
    on: { PurseClosed: (_last, { at }) => at },
  }),
  marks: true,
});
export const slices: readonly Slice[] = [purse, payments, closings];

/** Dispatches payments of one cent. */
export const pay = (session: Session, times = 1) => {
  for (let paid = 0; paid < times; paid++) session.dispatch({ type: "CoinPaid", cents: 1 });
};
/** Sets a mark. */
export const close = (session: Session, at: number) =>
  session.dispatch({ type: "PurseClosed", at });

export function createSession(store: MemorySessionStore, registered = slices): Session {
  const session = new Session({ id: "s", store, tags: { team: "search" } });
  for (const slice of registered) session.register(slice);
  return session;
}

/** Stores a checkpoint if it is due, as an evaluation does between its steps. */
export async function storeCheckpoint(session: Session): Promise<void> {
  const claim = await session[storedSession]?.claim();
  await session[storedSession]?.checkpointIfDue();
  await claim?.[Symbol.asyncDispose]();
}

/** Stores a session of 1,104 records with a checkpoint, and of 7 after it. */
export async function storeSession(store: MemorySessionStore): Promise<Session> {
  const session = createSession(store);
  pay(session, 1_100);
  await storeCheckpoint(session);
  pay(session, 7);
  await session.flush();
  return session;
}

/** Opens the session, and tells from which record on it was read. */
export async function openSession(store: MemorySessionStore, known = slices) {
  const read = vi.spyOn(store, "read");
  const session = await Session.open(store, "s", known);
  const from = read.mock.calls.map(([, options]) => options?.from ?? 0);
  read.mockRestore();
  return { session, from };
}

/** Catches the warnings of the process. */
export const mockWarnings = () => vi.spyOn(process, "emitWarning").mockImplementation(() => {});
