import { afterEach, describe, expect, test, vi } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { InProcessEventBus } from "./event-bus.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { SessionStoreError } from "./session-store.ts";
import { defineSlice } from "./slice.ts";
import { SnapshotError } from "./snapshot.ts";

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

const lent = (title: unknown, sessionId?: string): BookLent =>
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
  version: 1,
  id: "s",
  createdAt: "2030-01-01T12:00:00.000Z",
  tags: { team: "search" },
};
const shelfAdded = { n: 1, kind: "slice", id: "shelf", policy: "state" };

function stored(store = new MemorySessionStore()) {
  const session = new Session({ id: "s", store, clock, tags: { team: "search" } });
  return { store, session: session.register(shelf) };
}

afterEach(() => void vi.restoreAllMocks());

describe("a session with a store", () => {
  test("writes who it is, its slices, and each event that changes something", async () => {
    const { store, session } = stored();
    session.dispatch(lent("Emma"));
    session.dispatch(lent(null)); // changes nothing
    session.register(loans);
    session.dispatch(lent("Dune"));
    session.dispatch({ type: "ReducerFailed" } as never); // nobody reduces it
    await session.flush();
    expect(store.records("s")).toEqual([
      header,
      shelfAdded,
      { n: 2, kind: "event", event: lent("Emma") },
      { n: 3, kind: "slice", id: "loans", policy: "log" },
      { n: 4, kind: "event", event: lent("Dune") },
    ]);
  });

  test("tells the store who writes, and how many records it knows of", async () => {
    const { store, session } = stored();
    session.dispatch(lent("Emma"));
    await session.flush();
    expect(store.writers.map((by) => by?.position)).toEqual([0, 1, 2]);
    expect(new Set(store.writers.map((by) => by?.writer)).size).toBe(1);
  });

  test("writes nothing until something happens, and itself when it is flushed", async () => {
    const { store, session } = stored();
    await Promise.resolve();
    expect(store.writers).toEqual([]);
    await session.flush();
    expect(store.records("s")).toEqual([header, shelfAdded]);
    await session.flush();
    expect(store.writers).toHaveLength(2);
  });

  test("writes an event as it was when it was dispatched", async () => {
    const { store, session } = stored();
    const event = { type: "BookLent" as const, title: "Emma" };
    session.dispatch(event);
    event.title = "changed";
    await session.flush();
    expect(store.records("s").at(-1)).toMatchObject({ event: { title: "Emma" } });
  });

  test("writes what others publish to it, and which reducers failed", async () => {
    const { store, session } = stored();
    session.register(picky);
    session.bus.publish(lent("Ulysses", "s"));
    await session.flush();
    expect(store.records("s").at(-1)).toEqual({
      n: 3,
      kind: "event",
      event: lent("Ulysses", "s"),
      failed: ["picky"],
    });
  });

  test("writes a rollback as the moment it returns to, however large the state is", async () => {
    const { store, session } = stored();
    session.dispatch(lent("x".repeat(10_000)));
    const snapshot = session.snapshot();
    session.restore(snapshot); // nothing has changed: nothing is written
    session.dispatch(lent("Dune"));
    session.restore(snapshot);
    session.restore(snapshot);
    await session.flush();
    expect(store.records("s").slice(3)).toEqual([
      { n: 3, kind: "event", event: lent("Dune") },
      { n: 4, kind: "restored", to: 3 },
    ]);
  });

  test("writes the states themselves where a snapshot is another session's", async () => {
    const { store, session } = stored();
    const other = new Session().register(shelf);
    other.dispatch(lent("Emma"));
    session.restore(other.snapshot());
    await session.flush();
    expect(store.records("s").at(-1)).toEqual({
      n: 2,
      kind: "loaded",
      states: { shelf: ["Emma"] },
    });
  });

  test("refuses another session's snapshot that is no JSON, and changes nothing", () => {
    const { session } = stored();
    const other = new Session().register(shelf);
    other.dispatch(lent(new Date(0)));
    expect(() => session.restore(other.snapshot())).toThrow(SnapshotError);
    expect(() => session.restore(other.snapshot())).toThrow(
      'Slice "shelf" cannot be stored, its value.0 is a Date: restore a snapshot that was taken',
    );
    expect(session.get(shelf)).toEqual([]);
  });

  test("that was parsed writes what it starts with", async () => {
    const { session } = stored();
    session.dispatch(lent("Emma"));
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

describe("an event that is no JSON", () => {
  const unsafe: readonly (readonly [string, unknown])[] = [
    ["a date", new Date(0)],
    ["a function", () => {}],
    ["a bigint", 1n],
    ["not a number", Number.NaN],
    ["a map within a list", [new Map()]],
    ["a hole", [undefined]],
  ];

  test.each(unsafe)("because it holds %s is refused before anything changes", (_what, title) => {
    const { session } = stored();
    const heard: unknown[] = [];
    session.bus.subscribe("*", (event) => void heard.push(event));
    expect(() => session.dispatch(lent(title))).toThrow(InvalidOptionError);
    expect(() => session.dispatch(lent(title))).toThrow(
      /^Session\.dispatch\(event\) must be JSON in a session with a store, and its value\.title.* keep events to plain/,
    );
    expect(session.get(shelf)).toEqual([]);
    expect(heard).toEqual([]);
  });

  test("on the bus is not reduced, and the bus's owner is told", () => {
    const failures: unknown[] = [];
    const bus = new InProcessEventBus({ onError: (error) => void failures.push(error) });
    const session = new Session({ id: "s", bus, store: new MemorySessionStore() }).register(shelf);
    bus.publish(lent(1n, "s"));
    expect(session.get(shelf)).toEqual([]);
    expect(failures).toEqual([expect.any(InvalidOptionError)]);
  });

  test("is nobody's business where no slice reduces it, or there is no store", () => {
    const heard: unknown[] = [];
    const bare = new Session({ store: new MemorySessionStore() });
    bare.bus.subscribe("BookLent", (event) => void heard.push(event));
    bare.dispatch(lent(1n));
    expect(heard).toHaveLength(1);
    const plain = new Session().register(shelf);
    plain.dispatch(lent(1n));
    expect(plain.get(shelf)).toEqual([1n]);
  });
});

describe("flush", () => {
  test("has nothing to wait for without a store", async () => {
    await expect(new Session().flush()).resolves.toBeUndefined();
  });

  test("waits for what was dispatched before it, and for nothing else", async () => {
    const { store, session } = stored();
    session.dispatch(lent("Emma"));
    await session.flush();
    const first = Promise.withResolvers<void>();
    store.gate = first.promise;
    session.dispatch(lent("Dune"));
    const flushed = session.flush();
    await Promise.resolve(); // the append of Dune is at the gate
    store.gate = new Promise(() => {});
    session.dispatch(lent("Faust"));
    first.resolve();
    await flushed;
    expect(store.records("s")).toHaveLength(4);
  });

  test("rejects once the store has failed, and from then on", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { store, session } = stored();
    const cause = new Error("the disk is full");
    store.failure = cause;
    session.dispatch(lent("Emma"));
    await expect(session.flush()).rejects.toThrow(SessionStoreError);
    store.failure = null;
    session.dispatch(lent("Dune"));
    await expect(session.flush()).rejects.toMatchObject({
      message:
        'The store failed to keep session "s": the disk is full: see to the store, then go on from ' +
        "what it kept with Session.open",
      sessionId: "s",
      cause,
    });
    expect(session.get(shelf)).toEqual(["Emma", "Dune"]); // it goes on without
    expect(store.records("s")).toEqual([]);
    expect(warned).not.toHaveBeenCalled();
  });

  test("passes on what the store says in our own words", async () => {
    const { store, session } = stored();
    store.failure = new SessionStoreError("It is locked");
    session.dispatch(lent("Emma"));
    await expect(session.flush()).rejects.toBe(store.failure);
  });

  test("rejects where a store throws instead of rejecting", async () => {
    const store = new MemorySessionStore();
    store.append = () => {
      throw new Error("not open");
    };
    const { session } = stored(store);
    await expect(session.flush()).rejects.toThrow("not open");
  });

  test("is not needed to learn of a failure: the process is warned, once", async () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { store, session } = stored();
    store.failure = new Error("the disk is full");
    session.dispatch(lent("Emma"));
    await vi.waitFor(() => expect(warned).toHaveBeenCalled(), 30_000);
    session.dispatch(lent("Dune"));
    await expect(session.flush()).rejects.toThrow(SessionStoreError);
    expect(warned.mock.calls).toEqual([
      [
        expect.stringMatching(/^Session "s" is no longer stored: .*the disk is full/),
        "WinkWarning",
      ],
    ]);
  });
});

describe("a new session whose id the store has already", () => {
  test("is refused when it first writes, and leaves the old one as it was", async () => {
    const { store, session } = stored();
    await session.flush();
    const twin = stored(store).session;
    twin.dispatch(lent("Emma"));
    const flushed = twin.flush();
    await expect(flushed).rejects.toThrow(SessionStoreError);
    await expect(flushed).rejects.toThrow(
      'The store has a session "s" already: go on with it by Session.open(store, "s", slices), or ' +
        "choose another id",
    );
    expect(store.records("s")).toEqual([header, shelfAdded]);
  });
});
