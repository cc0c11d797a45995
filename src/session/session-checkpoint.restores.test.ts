import { afterEach, describe, expect, test, vi } from "vitest";
import {
  close,
  closings,
  createSession,
  mockWarnings,
  openSession,
  pay,
  payments,
  purse,
  slices,
  storeCheckpoint,
  storeSession,
} from "../../tests/support/checkpointed-session.ts";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { defineSlice } from "./define-slice.ts";
import type { Session } from "./session.ts";
import { storedSession } from "./stored-session.ts";

afterEach(() => void vi.restoreAllMocks());

describe("restoring a snapshot across a checkpoint", () => {
  test("keeps the checkpoint useful if the snapshot is older", async () => {
    const store = new MemorySessionStore();
    const stored = createSession(store);
    pay(stored, 5);
    const snapshot = stored.snapshot();
    pay(stored, 1_100);
    await storeCheckpoint(stored);
    stored.restore(snapshot);
    pay(stored);
    await stored.flush();
    const { session, from } = await openSession(store);
    expect(from).toEqual([1_108]);
    expect(session.get(purse)).toEqual({ cents: 6 });
    expect(session.serialize()).toBe(stored.serialize());
  });

  test("works for a snapshot of exactly the checkpoint's state", async () => {
    const store = new MemorySessionStore();
    const stored = createSession(store);
    pay(stored, 1_100);
    await storeCheckpoint(stored);
    const snapshot = stored.snapshot();
    pay(stored, 3);
    stored.restore(snapshot);
    await stored.flush();
    expect(store.records("s").at(-1)).toEqual({ n: 1_107, kind: "restored", to: 1_104 });
    const { session, from } = await openSession(store);
    expect(from).toEqual([1_103]);
    expect(session.serialize()).toBe(stored.serialize());
  });

  test("reads all records if one of the later ones restores an earlier state", async () => {
    const store = new MemorySessionStore();
    await storeSession(store);
    await store.append("s", { n: 1_111, kind: "restored", to: 14 });
    const warned = mockWarnings();
    const { session, from } = await openSession(store);
    expect(from).toEqual([1_103, 0]);
    expect(session.get(purse)).toEqual({ cents: 10 });
    expect(warned).not.toHaveBeenCalled();
  });
});

describe("the mark of an interrupted evaluation across a checkpoint", () => {
  /** Stores a mark, then a checkpoint, then `after`. Returns what the session returns to. */
  async function interrupt(after: (session: Session) => void) {
    const store = new MemorySessionStore();
    const stored = createSession(store, [purse, closings]);
    pay(stored, 3);
    close(stored, 1);
    stored.register(payments);
    const late = defineSlice("late", { initial: 0, on: { CoinPaid: (count) => count + 1 } });
    stored.register(late);
    pay(stored, 1_100);
    await storeCheckpoint(stored);
    after(stored);
    await stored.flush();
    const known = [...slices, late];
    const { session } = await openSession(store, known);
    const copy = new MemorySessionStore();
    copy.lines.set("s", [...(store.lines.get("s") ?? [])]);
    const { session: whole } = await openSession(copy, known);
    const restored = [session, whole].map((one) => {
      const mark = one[storedSession]?.takeMark();
      if (mark) one.restore(mark);
      return one.serialize();
    });
    expect(restored[0]).toBe(restored[1]);
    await session.flush();
    const { session: again } = await openSession(store, known);
    expect(again.serialize()).toBe(restored[0]);
    return [session.get(purse).cents, session.get(late), session.get(payments).length];
  }

  test("is kept in the checkpoint", async () => {
    expect(await interrupt(() => {})).toEqual([3, 0, 1_100]);
    expect(await interrupt((session) => pay(session, 4))).toEqual([3, 0, 1_104]);
  });

  test("is replaced by a later one", async () => {
    const marked = await interrupt((session) => {
      pay(session, 4);
      close(session, 2);
      pay(session, 5);
    });
    expect(marked).toEqual([1_107, 1_104, 1_109]);
  });

  test("is the last state if nothing changed since", async () => {
    expect(await interrupt((session) => close(session, 2))).toEqual([1_103, 1_100, 1_100]);
  });
});
