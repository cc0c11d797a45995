import { afterEach, describe, expect, test, vi } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { defineSlice } from "./define-slice.ts";
import { InProcessEventBus } from "./event-bus.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { SessionStoreError } from "./session-store.ts";
import { SnapshotError } from "./snapshot-errors.ts";

interface BookLent {
  readonly type: "BookLent";
  readonly sessionId?: string;
  readonly title: unknown;
}

declare module "./event-map.ts" {
  interface EventMap {
    BookLent: BookLent;
  }
}

const createBookLent = (title: unknown, sessionId?: string): BookLent =>
  sessionId === undefined ? { type: "BookLent", title } : { type: "BookLent", title, sessionId };
const noon = Date.UTC(2030, 0, 1, 12);
const clock: Clock = { now: () => noon, sleep: async () => {} };

const shelf = defineSlice<readonly unknown[]>("shelf", {
  initial: [],
  on: { BookLent: (titles, { title }) => (title === null ? titles : [...titles, title]) },
});
const loans = logSlice("loans", "BookLent");
const picky = defineSlice("picky", {
  initial: 0,
  on: {
    BookLent: (count, { title }) => {
      if (title === "Ulysses") throw new Error("too long");
      return count;
    },
  },
});

const header = {
  n: 0,
  kind: "session",
  version: 2,
  id: "s",
  createdAt: "2030-01-01T12:00:00.000Z",
  tags: { team: "search" },
};
const shelfAdded = { n: 1, kind: "slice", id: "shelf", policy: "state" };

function createStoredSession(store = new MemorySessionStore()) {
  const session = new Session({ id: "s", store, clock, tags: { team: "search" } });
  return { store, session: session.register(shelf) };
}

afterEach(() => void vi.restoreAllMocks());

describe("a session with a store", () => {
  test("writes its header, its slices, and each event that changes state", async () => {
    const { store, session } = createStoredSession();
    session.dispatch(createBookLent("Emma"));
    session.dispatch(createBookLent(null)); // changes nothing
    session.register(loans);
    session.dispatch(createBookLent("Dune"));
    session.dispatch({ type: "ReducerFailed" } as never); // no slice reduces it
    await session.flush();
    expect(store.records("s")).toEqual([
      header,
      shelfAdded,
      { n: 2, kind: "event", event: createBookLent("Emma") },
      { n: 3, kind: "slice", id: "loans", policy: "log" },
      { n: 4, kind: "event", event: createBookLent("Dune") },
    ]);
  });

  test("passes its writer and position to the store", async () => {
    const { store, session } = createStoredSession();
    session.dispatch(createBookLent("Emma"));
    await session.flush();
    expect(store.writers.map((by) => by?.position)).toEqual([0, 1, 2]);
    expect(new Set(store.writers.map((by) => by?.writer)).size).toBe(1);
  });

  test("writes nothing until an event or a flush", async () => {
    const { store, session } = createStoredSession();
    await Promise.resolve();
    expect(store.writers).toEqual([]);
    await session.flush();
    expect(store.records("s")).toEqual([header, shelfAdded]);
    await session.flush();
    expect(store.writers).toHaveLength(2);
  });

  test("writes an event unaffected by later changes", async () => {
    const { store, session } = createStoredSession();
    const event = { type: "BookLent" as const, title: "Emma" };
    session.dispatch(event);
    event.title = "changed";
    await session.flush();
    expect(store.records("s").at(-1)).toMatchObject({ event: { title: "Emma" } });
  });

  test("writes events published by others and the reducers that failed", async () => {
    const { store, session } = createStoredSession();
    session.register(picky);
    session.bus.publish(createBookLent("Ulysses", "s"));
    await session.flush();
    expect(store.records("s").at(-1)).toEqual({
      n: 3,
      kind: "event",
      event: createBookLent("Ulysses", "s"),
      failed: ["picky"],
    });
  });

  test("writes events dispatched together in one record, also those that changed nothing", async () => {
    const { store, session } = createStoredSession();
    session.register(picky);
    const unchanged = createBookLent(null);
    session.dispatch(unchanged, createBookLent("Ulysses"), createBookLent("Emma"));
    session.dispatch(unchanged, unchanged);
    await session.flush();
    expect(store.records("s").slice(3)).toEqual([
      {
        n: 3,
        kind: "events",
        events: [
          { event: unchanged },
          { event: createBookLent("Ulysses"), failed: ["picky"] },
          { event: createBookLent("Emma") },
        ],
      },
    ]);
    const opened = await Session.open(store, "s", [shelf, picky]);
    expect(opened.get(shelf)).toEqual(["Ulysses", "Emma"]);
  });

  test("rejects events dispatched together if one of them is not JSON, and reduces none", async () => {
    const { store, session } = createStoredSession();
    const dispatch = () => session.dispatch(createBookLent("Emma"), createBookLent(new Date(0)));
    expect(dispatch).toThrow("Session.dispatch(event) must be JSON in a session with a store");
    expect(session.get(shelf)).toEqual([]);
    await session.flush();
    expect(store.records("s")).toHaveLength(2);
  });

  test("writes a rollback as a record number, independent of the size of the state", async () => {
    const { store, session } = createStoredSession();
    session.dispatch(createBookLent("x".repeat(10_000)));
    const snapshot = session.snapshot();
    session.restore(snapshot); // no change, so no record
    session.dispatch(createBookLent("Dune"));
    session.restore(snapshot);
    session.restore(snapshot);
    await session.flush();
    expect(store.records("s").slice(3)).toEqual([
      { n: 3, kind: "event", event: createBookLent("Dune") },
      { n: 4, kind: "restored", to: 3 },
    ]);
  });

  test("writes the states if the snapshot belongs to another session", async () => {
    const { store, session } = createStoredSession();
    const other = new Session().register(shelf);
    other.dispatch(createBookLent("Emma"));
    session.restore(other.snapshot());
    await session.flush();
    expect(store.records("s").at(-1)).toEqual({
      n: 2,
      kind: "loaded",
      states: { shelf: ["Emma"] },
    });
  });

  test("rejects another session's snapshot that is not JSON and changes nothing", () => {
    const { session } = createStoredSession();
    const other = new Session().register(shelf);
    other.dispatch(createBookLent(new Date(0)));
    expect(() => session.restore(other.snapshot())).toThrow(SnapshotError);
    expect(() => session.restore(other.snapshot())).toThrow(
      'Slice "shelf" cannot be stored: value.0 is a Date. Restore a snapshot that was taken',
    );
    expect(session.get(shelf)).toEqual([]);
  });

  test("writes its restored states after Session.parse()", async () => {
    const { session } = createStoredSession();
    session.dispatch(createBookLent("Emma"));
    const store = new MemorySessionStore();
    const parsed = Session.parse(session.serialize(), [shelf, loans], { store });
    await parsed.flush();
    expect(store.records("s")).toEqual([
      header,
      shelfAdded,
      { n: 2, kind: "slice", id: "loans", policy: "log" },
      { n: 3, kind: "loaded", states: { shelf: ["Emma"] } },
    ]);
  });
});

describe("an event that is not JSON", () => {
  const unsafe: readonly (readonly [string, unknown])[] = [
    ["a date", new Date(0)],
    ["a function", () => {}],
    ["a bigint", 1n],
    ["not a number", Number.NaN],
    ["a map in an array", [new Map()]],
    ["undefined in an array", [undefined]],
  ];

  test.each(unsafe)("is rejected before anything changes if it contains %s", (_what, title) => {
    const { session } = createStoredSession();
    const heard: unknown[] = [];
    session.bus.subscribe("*", (event) => void heard.push(event));
    expect(() => session.dispatch(createBookLent(title))).toThrow(InvalidOptionError);
    expect(() => session.dispatch(createBookLent(title))).toThrow(
      /^Session\.dispatch\(event\) must be JSON in a session with a store \(value\.title.*\. Use only plain objects/,
    );
    expect(session.get(shelf)).toEqual([]);
    expect(heard).toEqual([]);
  });

  test("on the bus is not reduced and is reported to the bus's onError", () => {
    const failures: unknown[] = [];
    const bus = new InProcessEventBus({ onError: (error) => void failures.push(error) });
    const session = new Session({ id: "s", bus, store: new MemorySessionStore() }).register(shelf);
    bus.publish(createBookLent(1n, "s"));
    expect(session.get(shelf)).toEqual([]);
    expect(failures).toEqual([expect.any(InvalidOptionError)]);
  });

  test("is accepted without a reducer or without a store", () => {
    const heard: unknown[] = [];
    const bare = new Session({ store: new MemorySessionStore() });
    bare.bus.subscribe("BookLent", (event) => void heard.push(event));
    bare.dispatch(createBookLent(1n));
    expect(heard).toHaveLength(1);
    const plain = new Session().register(shelf);
    plain.dispatch(createBookLent(1n));
    expect(plain.get(shelf)).toEqual([1n]);
  });
});

describe("Session.flush()", () => {
  test("resolves immediately without a store", async () => {
    await expect(new Session().flush()).resolves.toBeUndefined();
  });

  test("waits only for earlier dispatches", async () => {
    const { store, session } = createStoredSession();
    session.dispatch(createBookLent("Emma"));
    await session.flush();
    const first = Promise.withResolvers<void>();
    store.gate = first.promise;
    session.dispatch(createBookLent("Dune"));
    const flushed = session.flush();
    await vi.waitFor(() => expect(store.writers).toHaveLength(4)); // the append of Dune is at the gate
    store.gate = new Promise(() => {});
    session.dispatch(createBookLent("Faust"));
    first.resolve();
    await flushed;
    expect(store.records("s")).toHaveLength(4);
  });

  test("rejects every time once the store has failed", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { store, session } = createStoredSession();
    const cause = new Error("the disk is full");
    store.failure = cause;
    session.dispatch(createBookLent("Emma"));
    await expect(session.flush()).rejects.toThrow(SessionStoreError);
    store.failure = null;
    session.dispatch(createBookLent("Dune"));
    await expect(session.flush()).rejects.toMatchObject({
      message:
        'The store failed to write session "s": the disk is full. Fix the store, then reopen the ' +
        "session with Session.open.",
      sessionId: "s",
      cause,
    });
    expect(session.get(shelf)).toEqual(["Emma", "Dune"]); // the session continues in memory
    expect(store.records("s")).toEqual([]);
    expect(warned).not.toHaveBeenCalled();
  });

  test("rejects with the store's own SessionStoreError unchanged", async () => {
    const { store, session } = createStoredSession();
    store.failure = new SessionStoreError("It is locked");
    session.dispatch(createBookLent("Emma"));
    await expect(session.flush()).rejects.toBe(store.failure);
  });

  test("rejects if the store throws synchronously", async () => {
    const store = new MemorySessionStore();
    store.append = () => {
      throw new Error("not open");
    };
    const { session } = createStoredSession(store);
    await expect(session.flush()).rejects.toThrow("not open");
  });

  test("is not needed to learn of a failure, because the process is warned once", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { store, session } = createStoredSession();
    store.failure = new Error("the disk is full");
    session.dispatch(createBookLent("Emma"));
    await vi.waitFor(() => expect(warned).toHaveBeenCalled(), 30_000);
    session.dispatch(createBookLent("Dune"));
    await expect(session.flush()).rejects.toThrow(SessionStoreError);
    expect(warned.mock.calls).toEqual([
      [
        expect.stringMatching(/^Session "s" is no longer stored: .*the disk is full/),
        "WinkWarning",
      ],
    ]);
  });
});

describe("a new session whose id is already stored", () => {
  test("is rejected on its first write and leaves the stored session unchanged", async () => {
    const { store, session } = createStoredSession();
    await session.flush();
    const twin = createStoredSession(store).session;
    twin.dispatch(createBookLent("Emma"));
    const flushed = twin.flush();
    await expect(flushed).rejects.toThrow(SessionStoreError);
    await expect(flushed).rejects.toThrow(
      'The store already has a session "s". Open it with Session.open(store, "s", slices), or ' +
        "choose another id.",
    );
    expect(store.records("s")).toEqual([header, shelfAdded]);
  });
});

test.each(Array.from({ length: 12 }, (_, ticks) => [ticks]))(
  "sends no record to the store after one has failed, %i ticks later",
  async (ticks) => {
    vi.spyOn(process, "emitWarning").mockReturnValue();
    const { store, session } = createStoredSession();
    let isFailed = false;
    const sentLater: number[] = [];
    store.append = async (_id, _record, by) => {
      if (isFailed) sentLater.push(by?.position ?? -1);
      throw new Error("the disk is full");
    };
    session.dispatch(createBookLent("Emma"));
    for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
    session.dispatch(createBookLent("Persuasion"));
    await expect(session.flush()).rejects.toThrow("the disk is full");
    isFailed = true;
    session.dispatch(createBookLent("Sanditon"));
    await expect(session.flush()).rejects.toThrow("the disk is full");
    expect(sentLater).toEqual([]);
  },
);
