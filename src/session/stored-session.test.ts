import { afterEach, describe, expect, test, vi } from "vitest";
import {
  close,
  closings,
  createSession,
  mockWarnings,
  pay,
  payments,
  purse,
  slices,
} from "../../tests/support/checkpointed-session.ts";
import { createPlainStore, MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { defineSlice } from "./define-slice.ts";
import { Session } from "./session.ts";
import { SessionStoreError } from "./session-store.ts";
import { type StoredSession, storedSession } from "./stored-session.ts";

function getStored(session: Session): StoredSession {
  const stored = session[storedSession];
  if (!stored) throw new Error("the session has no store");
  return stored;
}

/** Stores a session and opens it a second time. */
async function createTwo() {
  const store = new MemorySessionStore();
  const first = createSession(store);
  pay(first, 3);
  await first.flush();
  const second = await Session.open(store, "s", slices);
  return { store, first, second };
}

afterEach(() => void vi.restoreAllMocks());

test("Session.isStored tells whether the session has a store", () => {
  expect(new Session().isStored).toBe(false);
  expect(new Session()[storedSession]).toBeNull();
  expect(new Session({ store: new MemorySessionStore() }).isStored).toBe(true);
});

describe("StoredSession.claim()", () => {
  test("stores pending changes and holds the session until it is disposed", async () => {
    const { store, first, second } = await createTwo();
    pay(first);
    const claim = await getStored(first).claim();
    expect(store.records("s")).toHaveLength(8);
    await expect(getStored(second).claim()).rejects.toMatchObject({
      name: "SessionStoreError",
      owner: "this process",
    });
    await claim[Symbol.asyncDispose]();
    expect(store.claims.size).toBe(0);
  });

  test.each([["counts"], ["does not count"]])(
    "reads what others have stored if the store %s the records",
    async (how) => {
      const { store, first, second } = await createTwo();
      if (how === "does not count") {
        const claim = store.claim.bind(store);
        store.claim = async (...args) => ({ ...(await claim(...args)), records: undefined });
        vi.spyOn(store.claims, "get").mockReturnValue(undefined);
        store.append = async (id, record) => void store.lines.get(id)?.push(JSON.stringify(record));
      }
      pay(first, 2);
      await first.flush();
      const read = vi.spyOn(store, "read");
      const claim = await getStored(second).claim();
      expect(read).toHaveBeenCalled();
      expect(second.serialize()).toBe(first.serialize());
      pay(second);
      await second.flush();
      await claim[Symbol.asyncDispose]();
      read.mockClear();
      await (await getStored(second).claim())[Symbol.asyncDispose]();
      const rereads = read.mock.calls.filter(([, options]) => !options?.from);
      expect(rereads).toEqual([]); // it has everything
      expect(store.records("s").at(-1)).toMatchObject({ n: 9 });
    },
  );

  test("keeps slices that the others do not have", async () => {
    const { store, first, second } = await createTwo();
    const late = defineSlice("late", { initial: 0, on: { CoinPaid: (count) => count + 1 } });
    second.register(late);
    pay(first);
    await first.flush();
    const claim = await getStored(second).claim();
    expect(second.get(late)).toBe(0);
    pay(second);
    await second.flush();
    await claim[Symbol.asyncDispose]();
    expect(second.get(late)).toBe(1);
    const again = await Session.open(store, "s", [...slices, late]);
    expect(again.serialize()).toBe(second.serialize());
  });

  test("stores the states of a snapshot that was taken before others wrote", async () => {
    const { store, first, second } = await createTwo();
    const snapshot = second.snapshot();
    pay(first, 2);
    await first.flush();
    const claim = await getStored(second).claim();
    second.restore(snapshot);
    await second.flush();
    await claim[Symbol.asyncDispose]();
    expect(store.records("s").at(-1)).toMatchObject({ kind: "loaded" });
    const again = await Session.open(store, "s", slices);
    expect([again.get(purse).cents, again.get(payments).length]).toEqual([3, 5]);
  });

  test("releases the session if it was deleted meanwhile", async () => {
    const { store, second } = await createTwo();
    store.lines.clear();
    await expect(getStored(second).claim()).rejects.toThrow('There is no session "s"');
    expect(store.claims.size).toBe(0);
  });

  test("rejects once the store has failed, without a claim", async () => {
    const { store, first } = await createTwo();
    mockWarnings();
    store.failure = new Error("the disk is full");
    pay(first);
    await expect(getStored(first).claim()).rejects.toThrow("the disk is full");
    expect(store.claims.size).toBe(0);
    store.failure = null;
    const claim = vi.spyOn(store, "claim");
    await expect(getStored(first).claim()).rejects.toThrow(SessionStoreError);
    expect(claim).not.toHaveBeenCalled();
  });

  test("ends a claim that is made after an abort", async () => {
    const { store, first } = await createTwo();
    const make = store.claim.bind(store);
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    store.claim = async (...args) => {
      await opened;
      return await make(...args);
    };
    const controller = new AbortController();
    const claiming = getStored(first).claim({ signal: controller.signal });
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(claiming).rejects.toBe(reason);
    const claimed = vi.spyOn(store.claims, "set");
    open();
    await vi.waitFor(() => expect(claimed).toHaveBeenCalled());
    await vi.waitFor(() => expect(store.claims.size).toBe(0));
  });

  test("works in a store without claims", async () => {
    const store = createPlainStore("claim");
    const session = createSession(store);
    pay(session, 1_100);
    const claim = await getStored(session).claim();
    await getStored(session).checkpointIfDue();
    await claim[Symbol.asyncDispose]();
    expect(store.records("s")).toHaveLength(1_104);
    expect(store.checkpoints.size).toBe(1);
  });
});

describe("StoredSession.takeMark()", () => {
  test("returns the state at the last mark once, if something changed since", async () => {
    const store = new MemorySessionStore();
    const stored = createSession(store);
    pay(stored, 2);
    close(stored, 1);
    pay(stored, 5);
    await stored.flush();
    const session = await Session.open(store, "s", slices);
    const mark = getStored(session).takeMark();
    expect(getStored(session).takeMark()).toBeNull();
    if (mark) session.restore(mark);
    expect(session.get(purse)).toEqual({ cents: 2 });
    expect([session.get(payments).length, session.get(closings)]).toEqual([7, 1]);
    await session.flush();
    expect(store.records("s").at(-1)).toEqual({ n: 12, kind: "restored", to: 7 });
  });

  test("returns null if nothing changed since, or if there is no mark", async () => {
    const store = new MemorySessionStore();
    const stored = createSession(store);
    pay(stored, 2);
    await stored.flush();
    expect(getStored(await Session.open(store, "s", slices)).takeMark()).toBeNull();
    close(stored, 1);
    await stored.flush();
    expect(getStored(await Session.open(store, "s", slices)).takeMark()).toBeNull();
  });

  test("returns the mark that another process left", async () => {
    const { first, second } = await createTwo();
    close(first, 1);
    pay(first, 4);
    await first.flush();
    const claim = await getStored(second).claim();
    const mark = getStored(second).takeMark();
    if (mark) second.restore(mark);
    expect(second.get(purse)).toEqual({ cents: 3 });
    await second.flush();
    await claim[Symbol.asyncDispose]();
  });
});

describe("SessionStoringFailed", () => {
  test("is published once, with the holder of the session", async () => {
    const { store, first } = await createTwo();
    const failures: unknown[] = [];
    first.bus.subscribe("SessionStoringFailed", (event) => void failures.push(event));
    mockWarnings();
    await store.claim("s", { owner: "another process" });
    pay(first);
    pay(first);
    await expect(first.flush()).rejects.toThrow("is held by another process");
    expect(failures).toEqual([
      {
        type: "SessionStoringFailed",
        sessionId: "s",
        message: expect.stringContaining("is held by another process"),
        owner: "another process",
        createdAt: expect.any(String),
      },
    ]);
  });

  test("is reported as a warning if it cannot be published", async () => {
    const store = new MemorySessionStore();
    const warned = mockWarnings();
    const bus = {
      publish: ({ type }: { type: string }) => {
        if (type === "SessionStoringFailed") throw new Error("the bus is closed");
      },
      subscribe: () => ({ [Symbol.dispose]: () => {} }),
    };
    const session = new Session({ id: "s", store, bus }).register(purse);
    store.failure = new Error("the disk is full");
    pay(session);
    await expect(session.flush()).rejects.toThrow("the disk is full");
    expect(warned).toHaveBeenCalledWith(
      "SessionStoringFailed could not be published: the bus is closed",
      "WinkWarning",
    );
  });
});
