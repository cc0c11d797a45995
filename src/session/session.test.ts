import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { defineSlice } from "./define-slice.ts";
import { type EventBus, InProcessEventBus, nullEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

interface CoinInserted {
  readonly type: "CoinInserted";
  readonly sessionId?: string;
  readonly cents: number;
}

declare module "./event-map.ts" {
  interface EventMap {
    CoinInserted: CoinInserted;
  }
}

const noon = Date.UTC(2030, 0, 1, 12);
const clock: Clock = { now: () => noon, sleep: async () => {} };
const createCoinInserted = (cents: number, sessionId?: string): CoinInserted =>
  sessionId === undefined
    ? { type: "CoinInserted", cents }
    : { type: "CoinInserted", cents, sessionId };

const till = defineSlice("till", {
  initial: { cents: 0 },
  on: { CoinInserted: (state, { cents }) => ({ cents: state.cents + cents }) },
});
const coins = logSlice("coins", "CoinInserted");

describe("Session", () => {
  test("has a unique id, bus, tags and creation time by default, and accepts given ones", () => {
    const one = new Session();
    const other = new Session();
    expect(one.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(one.id).not.toBe(other.id);
    expect(one.bus).toBeInstanceOf(InProcessEventBus);
    expect(one.bus).not.toBe(other.bus);
    expect(one.tags).toEqual({});
    const bus = new InProcessEventBus();
    const given = new Session({ id: "s-1", bus, tags: { team: "search" }, clock });
    expect(given).toMatchObject({ id: "s-1", bus, tags: { team: "search" } });
    expect(given.createdAt).toBe("2030-01-01T12:00:00.000Z");
  });

  test.each(["a", "user:42", "a.b_C-9", "x".repeat(128)])("accepts the id %j", (id) => {
    expect(new Session({ id }).id).toBe(id);
  });

  test.each(["", " ", "a b", "../up", "x".repeat(129), "größe", 5])("rejects the id %j", (id) => {
    expect(() => new Session({ id: id as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "Session.id",
        value: id,
        message: expect.stringContaining("Omit it for a random one."),
      }),
    );
  });

  test("copies and freezes its tags, including one named __proto__", () => {
    const tags: Record<string, string> = JSON.parse('{"team":"search","__proto__":"x"}');
    const session = new Session({ tags });
    tags["team"] = "changed";
    expect(JSON.stringify(session.tags)).toBe('{"team":"search","__proto__":"x"}');
    expect(session.tags).toSatisfy(Object.isFrozen);
  });

  test.each([
    [{ team: 5 }, "Session.tags.team", 5],
    [{ ok: "x", team: null }, "Session.tags.team", null],
    [["search"], "Session.tags", ["search"]],
    ["search", "Session.tags", "search"],
  ])("rejects %j as tags", (tags, field, value) => {
    expect(() => new Session({ tags: tags as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field,
        value,
        message: expect.stringContaining("must be a string, got"),
      }),
    );
  });
});

describe("Session.register()", () => {
  test("is required for a slice to change", () => {
    const session = new Session();
    session.dispatch(createCoinInserted(5));
    expect(session.get(till)).toBe(till.initial);
  });

  test("makes a slice receive later events only", () => {
    const session = new Session();
    session.dispatch(createCoinInserted(1));
    session.register(till).register(coins);
    session.dispatch(createCoinInserted(5));
    expect(session.get(till)).toEqual({ cents: 5 });
    expect(session.get(coins)).toEqual([createCoinInserted(5)]);
  });

  test("can be called twice for a slice and keeps its state", () => {
    const session = new Session().register(till);
    session.dispatch(createCoinInserted(5));
    session.register(till);
    session.dispatch(createCoinInserted(5));
    expect(session.get(till)).toEqual({ cents: 10 });
  });

  test("rejects a second slice with the same id", () => {
    const session = new Session().register(till);
    const namesake = defineSlice("till", { initial: 0, on: { CoinInserted: () => 1 } });
    expect(() => session.register(namesake)).toThrow(
      'Slice.id must be unique within a session, got "till". Rename one of the two slices.',
    );
    session.dispatch(createCoinInserted(5));
    expect(session.get(till)).toEqual({ cents: 5 });
    expect(session.get(namesake)).toBe(0);
  });

  test("shares a slice's definition between sessions but not its state", () => {
    const one = new Session().register(till).register(coins);
    const other = new Session().register(till).register(coins);
    one.dispatch(createCoinInserted(5));
    other.dispatch(createCoinInserted(7));
    one.dispatch(createCoinInserted(6));
    expect([one.get(till), other.get(till)]).toEqual([{ cents: 11 }, { cents: 7 }]);
    expect([one.get(coins), other.get(coins)]).toEqual([
      [createCoinInserted(5), createCoinInserted(6)],
      [createCoinInserted(7)],
    ]);
  });

  test("freezes the state at any depth", () => {
    const slice = defineSlice<{ readonly list: readonly { n: number }[] }>("nested", {
      initial: { list: [] },
      on: { CoinInserted: ({ list }, { cents }) => ({ list: [...list, { n: cents }] }) },
    });
    const session = new Session().register(slice);
    session.dispatch(createCoinInserted(1));
    session.dispatch(createCoinInserted(2));
    const { list } = session.get(slice);
    expect([session.get(slice), list, ...list].every(Object.isFrozen)).toBe(true);
  });

  test("allows a reducer to return an earlier state", () => {
    const older = till.initial;
    const reset = defineSlice("reset", { initial: older, on: { CoinInserted: () => older } });
    const session = new Session().register(reset);
    session.dispatch(createCoinInserted(1));
    expect(session.get(reset)).toBe(older);
  });
});

describe("Session.dispatch()", () => {
  test("changes the state before subscribers receive the event", () => {
    const session = new Session().register(till);
    const seen: number[] = [];
    using _watch = session.bus.subscribe("CoinInserted", () => {
      seen.push(session.get(till).cents);
    });
    session.dispatch(createCoinInserted(5));
    expect(seen).toEqual([5]);
  });

  test("reduces an event once, ignoring its delivery back from the bus", () => {
    const session = new Session({ id: "s" }).register(till);
    session.dispatch(createCoinInserted(5));
    session.dispatch(createCoinInserted(5, "s"));
    expect(session.get(till).cents).toBe(10);
  });

  test("ignores its own event on a bus that delivers later", () => {
    const bus = new LateBus();
    const session = new Session({ id: "s", bus }).register(till);
    const event = createCoinInserted(5, "s");
    session.dispatch(event);
    session.dispatch(event);
    session.dispatch(createCoinInserted(1, "s"));
    expect(session.get(till).cents).toBe(11);
    bus.deliver();
    expect(session.get(till).cents).toBe(11);
  });

  test("reduces several events in order before the first one is published", () => {
    const session = new Session({ id: "s" }).register(till).register(coins);
    const seen: number[] = [];
    using _watch = session.bus.subscribe("CoinInserted", () => {
      seen.push(session.get(till).cents);
    });
    session.dispatch(createCoinInserted(5, "s"), createCoinInserted(2, "s"));
    expect(seen).toEqual([7, 7]);
    expect(session.get(coins).map(({ cents }) => cents)).toEqual([5, 2]);
  });

  test("rejects several events if one of them is invalid, and reduces none", () => {
    const session = new Session().register(till);
    expect(() => session.dispatch(createCoinInserted(5), {} as never)).toThrow(
      "Session.dispatch(event) must be a plain object with a type",
    );
    expect(session.get(till).cents).toBe(0);
  });

  test("treats dispatching one object twice as two events", () => {
    const session = new Session({ id: "s" }).register(till).register(coins);
    const event = createCoinInserted(5, "s");
    session.dispatch(event);
    session.dispatch(event);
    expect(session.get(till).cents).toBe(10);
    expect(session.get(coins)).toHaveLength(2);
  });

  test("reduces immediately when called by a subscriber", () => {
    const session = new Session({ id: "s" }).register(till);
    using _watch = session.bus.subscribe("CoinInserted", ({ cents }) => {
      if (cents === 5) session.dispatch(createCoinInserted(1, "s"));
    });
    session.dispatch(createCoinInserted(5, "s"));
    expect(session.get(till).cents).toBe(6);
  });

  test("works on a bus that delivers nothing", () => {
    const session = new Session({ bus: nullEventBus }).register(till);
    session.dispatch(createCoinInserted(5));
    expect(session.get(till).cents).toBe(5);
  });

  const noEvents: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["null", null],
    ["a string", "CoinInserted"],
    ["an array", [createCoinInserted(1)]],
    ["an instance", new Date(0)],
    ["an object without a type", { cents: 1 }],
    ["an object with an empty type", { type: "" }],
    ["an object with a numeric type", { type: 5 }],
    ["an object whose type cannot be converted to a string", { type: Object.create(null) }],
  ];
  test.each(noEvents)("rejects %s", (_what, event) => {
    const session = new Session();
    const heard: unknown[] = [];
    session.bus.subscribe("*", (any) => void heard.push(any));
    expect(() => session.dispatch(event as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "Session.dispatch(event)",
        value: event,
        message: expect.stringContaining('Use { type: "OrderPlaced", … }'),
      }),
    );
    expect(heard).toEqual([]);
  });
});

describe("an event from another publisher", () => {
  test("is reduced if it has the session's id", () => {
    const session = new Session({ id: "s" }).register(till);
    session.bus.publish(createCoinInserted(5, "s"));
    expect(session.get(till).cents).toBe(5);
  });

  test.each([
    ["another session's id", createCoinInserted(5, "t")],
    ["no session's id", createCoinInserted(5)],
  ])("is not reduced if it has %s", (_what, event) => {
    const session = new Session({ id: "s" }).register(till);
    session.bus.publish(event);
    expect(session.get(till).cents).toBe(0);
  });

  test("on a shared bus reaches only the session it names", () => {
    const bus = new InProcessEventBus();
    const one = new Session({ id: "one", bus }).register(till);
    const other = new Session({ id: "other", bus }).register(till);
    bus.publish(createCoinInserted(1, "one"));
    one.dispatch(createCoinInserted(10, "one"));
    other.dispatch(createCoinInserted(100)); // names no session, so only this one reduces it
    one.dispatch(createCoinInserted(1000, "other")); // dispatched by one, addressed to the other
    expect([one.get(till).cents, other.get(till).cents]).toEqual([1011, 1100]);
  });

  test("is reduced even if the session dispatched the same object before", () => {
    const session = new Session({ id: "s" }).register(till);
    const event = createCoinInserted(5, "s");
    session.dispatch(event);
    session.bus.publish(event);
    expect(session.get(till).cents).toBe(10);
  });

  test("does not reach a closed session, even if its store failed", async () => {
    const bus = new InProcessEventBus();
    const store: SessionStore = {
      append: () => Promise.reject(new Error("disk full")),
      async *read() {},
      list: async () => [],
      delete: async () => {},
    };
    const session = new Session({ id: "s", bus, store }).register(till);
    session.dispatch(createCoinInserted(0, "s"));
    await expect(session.close()).rejects.toThrow("disk full");
    bus.publish(createCoinInserted(1, "s"));
    expect(session.get(till).cents).toBe(0);
    await new Session().close();
  });

  test("does not reach a disposed session, which can still dispatch", () => {
    const bus = new InProcessEventBus();
    const session = new Session({ id: "s", bus }).register(till);
    session[Symbol.dispose]();
    session[Symbol.dispose]();
    bus.publish(createCoinInserted(1, "s"));
    expect(session.get(till).cents).toBe(0);
    session.dispatch(createCoinInserted(10, "s"));
    expect(session.get(till).cents).toBe(10);
  });
});

/** Delivers on demand, as a bus between processes would. */
class LateBus implements EventBus {
  readonly #inner = new InProcessEventBus();
  readonly #late: BusEvent[] = [];
  readonly subscribe = this.#inner.subscribe.bind(this.#inner);

  publish(event: BusEvent): void {
    this.#late.push(event);
  }

  deliver(): void {
    for (const event of this.#late.splice(0)) this.#inner.publish(event);
  }
}
