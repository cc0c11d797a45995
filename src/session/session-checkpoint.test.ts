import { afterEach, describe, expect, test, vi } from "vitest";
import {
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
import { createPlainStore, MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { defineSlice } from "./define-slice.ts";
import { Session } from "./session.ts";
import { createCheckpoint, parseCheckpoint, restoreCheckpoint } from "./session-checkpoint.ts";
import { createHeader } from "./session-record.ts";
import type { Slice } from "./slice.ts";
import { SliceStates } from "./slice-states.ts";

afterEach(() => void vi.restoreAllMocks());

describe("a session with a checkpoint", () => {
  test("opens with the same state, reading only the last records", async () => {
    const store = new MemorySessionStore();
    const stored = await storeSession(store);
    const { session, from } = await openSession(store);
    expect(from).toEqual([1_103]);
    expect(session.serialize()).toBe(stored.serialize());
    expect(session).toMatchObject({ tags: { team: "search" }, createdAt: stored.createdAt });
    expect(session.get(purse)).toSatisfy(Object.isFrozen);
    pay(session);
    await session.flush();
    expect((await openSession(store)).session.get(purse)).toEqual({ cents: 1_108 });
  });

  test("opens in a store that always returns all records", async () => {
    const store = new MemorySessionStore();
    const stored = await storeSession(store);
    const read = store.read.bind(store);
    store.read = (id) => read(id);
    const warned = mockWarnings();
    expect((await Session.open(store, "s", slices)).serialize()).toBe(stored.serialize());
    expect(warned).not.toHaveBeenCalled();
  });

  test("opens if the checkpoint includes the last record", async () => {
    const store = new MemorySessionStore();
    const stored = createSession(store);
    pay(stored, 1_100);
    await storeCheckpoint(stored);
    const { session, from } = await openSession(store);
    expect(from).toEqual([1_103]);
    expect(session.serialize()).toBe(stored.serialize());
  });

  test("opens with a slice that was added after the checkpoint", async () => {
    const store = new MemorySessionStore();
    const stored = await storeSession(store);
    const late = defineSlice("late", { initial: 0, on: { CoinPaid: (count) => count + 1 } });
    stored.register(late);
    pay(stored, 2);
    await stored.flush();
    const { session, from } = await openSession(store, [...slices, late]);
    expect(from).toEqual([1_103]);
    expect(session.serialize()).toBe(stored.serialize());
  });

  test("stores one after 1,000 records, then each time half of all records are new", async () => {
    const store = new MemorySessionStore();
    const write = vi.spyOn(store, "writeCheckpoint");
    const session = createSession(store);
    const written: number[] = [];
    for (let records = 0; records < 9_000; records += 500) {
      pay(session, 500);
      await storeCheckpoint(session);
      if (write.mock.calls.length > written.length) written.push(store.records("s").length);
    }
    expect(written).toEqual([1_004, 2_504, 5_504]);
  });

  test("counts from the checkpoint after it was opened", async () => {
    const store = new MemorySessionStore();
    await storeSession(store);
    const before = store.checkpoints.get("s");
    const { session } = await openSession(store);
    pay(session, 500);
    await storeCheckpoint(session);
    expect(store.checkpoints.get("s")).toBe(before);
    pay(session, 1_000);
    await storeCheckpoint(session);
    expect(store.checkpoints.get("s")).not.toBe(before);
  });

  test("stores one while others record changes", async () => {
    const store = new MemorySessionStore();
    const warned = mockWarnings();
    const session = createSession(store);
    pay(session, 1_100);
    let positions: number[] = [];
    store.writeCheckpoint = async (id, checkpoint, by) => {
      positions = [Number(by?.position), store.lines.get(id)?.length ?? 0];
      store.checkpoints.set(id, JSON.stringify(checkpoint));
    };
    const storing = storeCheckpoint(session);
    for (let turn = 0; turn < 50; turn++) {
      pay(session);
      await Promise.resolve();
    }
    await storing;
    await session.flush();
    expect(warned).not.toHaveBeenCalled();
    expect(positions[0]).toBe(positions[1]);
    expect((await openSession(store)).session.serialize()).toBe(session.serialize());
  });
});

describe("a checkpoint that cannot be used", () => {
  const cases: readonly (readonly [string, (checkpoint: never) => unknown, string])[] = [
    ["is not an object", () => [], "it is not an object"],
    ["is of a newer release", (one: object) => ({ ...one, version: 2 }), "another release of this"],
    ["has no header", ({ header: _, ...one }: { header: object }) => one, "of another session"],
    [
      "is of another session",
      (one: { header: object }) => ({ ...one, header: { ...one.header, id: "t" } }),
      "it is of another session",
    ],
    ["has no number of records", (one: object) => ({ ...one, records: "1104" }), "not complete"],
    ["has no records", (one: object) => ({ ...one, records: 0 }), "it is not complete"],
    ["has no digest", (one: object) => ({ ...one, last: null }), "it is not complete"],
    ["has no slices", (one: object) => ({ ...one, slices: {} }), "it is not complete"],
    ["has invalid slices", (one: object) => ({ ...one, slices: [1] }), "it is not complete"],
    ["has no fingerprint", (one: object) => ({ ...one, fingerprint: 1 }), "it is not complete"],
    ["has no states", (one: object) => ({ ...one, states: [] }), "it is not complete"],
    ["has an invalid mark", (one: object) => ({ ...one, mark: 1 }), "it is not complete"],
    [
      "has a mark without states",
      (one: object) => ({ ...one, mark: { position: 1 } }),
      "it is not complete",
    ],
    [
      "is of other records",
      (one: object) => ({ ...one, last: "0".repeat(64) }),
      "the session's records are not those that it was made from",
    ],
    [
      "has more records than the session",
      (one: object) => ({ ...one, records: 5_000 }),
      "the session's records are not those that it was made from",
    ],
    [
      "has a state that its slice refuses",
      (one: { states: object }) => ({ ...one, states: { ...one.states, purse: 1 } }),
      'Slice "purse" cannot be restored: its state is a number',
    ],
  ];

  test.each(cases)("is reported and ignored if it %s", async (_why, damage, problem) => {
    const store = new MemorySessionStore();
    const stored = await storeSession(store);
    const checkpoint = JSON.parse(store.checkpoints.get("s") ?? "");
    store.checkpoints.set("s", JSON.stringify(damage(checkpoint as never)));
    const warned = mockWarnings();
    const { session, from } = await openSession(store);
    expect(from.at(-1)).toBe(0);
    expect(session.serialize()).toBe(stored.serialize());
    expect(warned.mock.calls).toEqual([[expect.stringContaining(problem), "WinkWarning"]]);
    expect(warned.mock.calls[0]?.[0]).toContain(
      'The checkpoint of session "s" is not used, and all of its records are read: ',
    );
  });

  test("is reported and ignored if it cannot be read", async () => {
    const store = new MemorySessionStore();
    const stored = await storeSession(store);
    const warned = mockWarnings();
    store.readCheckpoint = async () => {
      throw new Error("the disk is broken");
    };
    expect((await openSession(store)).session.serialize()).toBe(stored.serialize());
    expect(warned).toHaveBeenCalledOnce();
    expect(warned.mock.calls[0]?.[0]).toContain("the disk is broken");
  });

  test.each<readonly [string, Slice, number]>([
    [
      "reducers",
      defineSlice("purse", {
        initial: { cents: 0 },
        on: { CoinPaid: (state, { cents }) => ({ cents: state.cents + cents * 2 }) },
      }),
      2_214,
    ],
    [
      "initial state",
      defineSlice("purse", {
        initial: { cents: 100 },
        on: { CoinPaid: (state, { cents }) => ({ cents: state.cents + cents }) },
      }),
      1_207,
    ],
    [
      "version",
      defineSlice("purse", {
        initial: { cents: 0 },
        version: 2,
        on: { CoinPaid: (state, { cents }) => ({ cents: state.cents + cents }) },
      }),
      1_107,
    ],
  ])("is ignored silently if the %s of a slice changed", async (_what, changed, cents) => {
    const store = new MemorySessionStore();
    await storeSession(store);
    const warned = mockWarnings();
    const { session, from } = await openSession(store, [changed, payments, closings]);
    expect(from).toEqual([0]);
    expect(session.get(changed)).toEqual({ cents });
    expect(warned).not.toHaveBeenCalled();
  });

  test("does not hide that a slice was not passed", async () => {
    const store = new MemorySessionStore();
    await storeSession(store);
    await expect(Session.open(store, "s", [purse, payments])).rejects.toThrow(
      'Session "s" was stored with the slices "closings", which were not passed.',
    );
  });

  test("does not hide that a record after it is damaged", async () => {
    const store = new MemorySessionStore();
    await storeSession(store);
    await store.append("s", { n: 1_111, kind: "mark" });
    await expect(Session.open(store, "s", slices)).rejects.toThrow(
      'Record 1111 of session "s" is invalid',
    );
  });

  test("is read once more if the session was deleted", async () => {
    const store = new MemorySessionStore();
    await storeSession(store);
    store.lines.clear();
    const warned = mockWarnings();
    await expect(Session.open(store, "s", slices)).rejects.toThrow('There is no session "s"');
    expect(warned).toHaveBeenCalledOnce();
  });
});

describe("a checkpoint is not stored", () => {
  const restless = defineSlice<unknown>("restless", {
    initial: null,
    on: { CoinPaid: () => new Map() },
  });
  const { describe: _describe, ...undescribed } = defineSlice("plain", { initial: 0, on: {} });
  const huge = defineSlice("huge", { initial: 1n, on: {} });

  test.each<readonly [string, Slice]>([
    ["whose state is not JSON", restless],
    ["whose initial state is not JSON", huge],
    ["that does not describe its reducers", Object.freeze(undescribed)],
  ])("of a session with a slice %s", async (_what, slice) => {
    const store = new MemorySessionStore();
    const warned = mockWarnings();
    const session = createSession(store, [purse, slice]);
    pay(session, 1_100);
    await storeCheckpoint(session);
    await storeCheckpoint(session); // not tried again
    expect(store.checkpoints.size).toBe(0);
    expect(warned).not.toHaveBeenCalled();
    expect(session.get(purse)).toEqual({ cents: 1_100 });
  });

  test("in a store without checkpoints", async () => {
    const store = createPlainStore("readCheckpoint", "writeCheckpoint");
    const session = createSession(store);
    pay(session, 1_100);
    await storeCheckpoint(session);
    expect(store.checkpoints.size).toBe(0);
    expect((await openSession(store)).session.serialize()).toBe(session.serialize());
  });

  test("while registered slices are not recorded", async () => {
    const store = new MemorySessionStore();
    const session = createSession(store, [purse]);
    pay(session, 1_100);
    await session.flush();
    session.register(payments);
    await storeCheckpoint(session);
    expect(store.checkpoints.size).toBe(0);
    pay(session);
    await storeCheckpoint(session);
    expect(store.checkpoints.size).toBe(1);
  });

  test("after the store refused one, which is reported once", async () => {
    const store = new MemorySessionStore();
    const warned = mockWarnings();
    store.writeCheckpoint = async () => {
      throw new Error("the disk is full");
    };
    const session = createSession(store);
    pay(session, 1_100);
    await storeCheckpoint(session);
    await storeCheckpoint(session);
    expect(warned.mock.calls).toEqual([
      ['The checkpoint of session "s" was not stored: the disk is full', "WinkWarning"],
    ]);
    pay(session);
    await session.flush();
    expect((await openSession(store)).session.serialize()).toBe(session.serialize());
  });
});

test("restoreCheckpoint() rejects states of slices that are not known", () => {
  const checkpoint = { slices: ["purse"], states: { purse: { cents: 1 } }, mark: null };
  expect(() => restoreCheckpoint(checkpoint as never, new Map())).toThrow(
    'No slice is registered as "purse"',
  );
});

test("createCheckpoint() and parseCheckpoint() round-trip a session without a mark", async () => {
  const states = new SliceStates();
  states.add(purse);
  const header = createHeader({ id: "s", createdAt: "2030-01-01T12:00:00.000Z", tags: {} });
  const last = { n: 1, kind: "slice", id: "purse", policy: "state" } as const;
  const checkpoint = await createCheckpoint({ header, last, states, mark: null });
  const parsed = parseCheckpoint(JSON.parse(JSON.stringify(checkpoint)), "s");
  expect(parsed).toEqual(checkpoint);
  expect(parsed).toMatchObject({ records: 2, mark: null, states: { purse: { cents: 0 } } });
});
