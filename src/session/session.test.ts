import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { type EventBus, InProcessEventBus, nullEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { defineSlice } from "./slice.ts";

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
const coin = (cents: number, sessionId?: string): CoinInserted =>
  sessionId === undefined
    ? { type: "CoinInserted", cents }
    : { type: "CoinInserted", cents, sessionId };

const till = defineSlice("till", {
  initial: { cents: 0 },
  on: { CoinInserted: (state, { cents }) => ({ cents: state.cents + cents }) },
});
const coins = logSlice("coins", "CoinInserted");

describe("a session", () => {
  test("has an id, a bus, tags and a time of its own unless they are given", () => {
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

  test.each(["a", "user:42", "a.b_C-9", "x".repeat(128)])("may be called %j", (id) => {
    expect(new Session({ id }).id).toBe(id);
  });

  test.each(["", " ", "a b", "../up", "x".repeat(129), "größe", 5])("cannot be called %j", (id) => {
    expect(() => new Session({ id: id as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "Session.id",
        value: id,
        message: expect.stringContaining("leave it out for a random one"),
      }),
    );
  });

  test("keeps a frozen copy of its tags, and takes __proto__ for a name", () => {
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
  ])("cannot have %j for tags", (tags, field, value) => {
    expect(() => new Session({ tags: tags as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field,
        value,
        message: expect.stringContaining("must be text, but is"),
      }),
    );
  });
});

describe("a slice", () => {
  test("that is not registered is as it starts", () => {
    const session = new Session();
    session.dispatch(coin(5));
    expect(session.get(till)).toBe(till.initial);
  });

  test("hears events from its registration on", () => {
    const session = new Session();
    session.dispatch(coin(1));
    session.register(till).register(coins);
    session.dispatch(coin(5));
    expect(session.get(till)).toEqual({ cents: 5 });
    expect(session.get(coins)).toEqual([coin(5)]);
  });

  test("can be registered twice, and keeps its state", () => {
    const session = new Session().register(till);
    session.dispatch(coin(5));
    session.register(till);
    session.dispatch(coin(5));
    expect(session.get(till)).toEqual({ cents: 10 });
  });

  test("cannot have the id of another", () => {
    const session = new Session().register(till);
    const namesake = defineSlice("till", { initial: 0, on: { CoinInserted: () => 1 } });
    expect(() => session.register(namesake)).toThrow(
      'Slice.id must be unique within a session, got "till". Rename one of the two slices',
    );
    session.dispatch(coin(5));
    expect(session.get(till)).toEqual({ cents: 5 });
    expect(session.get(namesake)).toBe(0);
  });

  test("shares its definition between sessions, and not its state", () => {
    const one = new Session().register(till).register(coins);
    const other = new Session().register(till).register(coins);
    one.dispatch(coin(5));
    other.dispatch(coin(7));
    one.dispatch(coin(6));
    expect([one.get(till), other.get(till)]).toEqual([{ cents: 11 }, { cents: 7 }]);
    expect([one.get(coins), other.get(coins)]).toEqual([[coin(5), coin(6)], [coin(7)]]);
  });

  test("has frozen state, at any depth", () => {
    const slice = defineSlice<{ readonly list: readonly { n: number }[] }>("nested", {
      initial: { list: [] },
      on: { CoinInserted: ({ list }, { cents }) => ({ list: [...list, { n: cents }] }) },
    });
    const session = new Session().register(slice);
    session.dispatch(coin(1));
    session.dispatch(coin(2));
    const { list } = session.get(slice);
    expect([session.get(slice), list, ...list].every(Object.isFrozen)).toBe(true);
  });

  test("may turn a state it was given before into the next one", () => {
    const older = till.initial;
    const reset = defineSlice("reset", { initial: older, on: { CoinInserted: () => older } });
    const session = new Session().register(reset);
    session.dispatch(coin(1));
    expect(session.get(reset)).toBe(older);
  });
});

describe("dispatch", () => {
  test("has changed the state by the time subscribers hear of the event", () => {
    const session = new Session().register(till);
    const seen: number[] = [];
    using _watch = session.bus.subscribe("CoinInserted", () => {
      seen.push(session.get(till).cents);
    });
    session.dispatch(coin(5));
    expect(seen).toEqual([5]);
  });

  test("reduces an event once: its echo from the bus is ignored", () => {
    const session = new Session({ id: "s" }).register(till);
    session.dispatch(coin(5));
    session.dispatch(coin(5, "s"));
    expect(session.get(till).cents).toBe(10);
  });

  test("ignores its echo also on a bus that delivers later", () => {
    const bus = new LateBus();
    const session = new Session({ id: "s", bus }).register(till);
    const event = coin(5, "s");
    session.dispatch(event);
    session.dispatch(event);
    session.dispatch(coin(1, "s"));
    expect(session.get(till).cents).toBe(11);
    bus.deliver();
    expect(session.get(till).cents).toBe(11);
  });

  test("of one object twice is two events", () => {
    const session = new Session({ id: "s" }).register(till).register(coins);
    const event = coin(5, "s");
    session.dispatch(event);
    session.dispatch(event);
    expect(session.get(till).cents).toBe(10);
    expect(session.get(coins)).toHaveLength(2);
  });

  test("by a subscriber is reduced at once", () => {
    const session = new Session({ id: "s" }).register(till);
    using _watch = session.bus.subscribe("CoinInserted", ({ cents }) => {
      if (cents === 5) session.dispatch(coin(1, "s"));
    });
    session.dispatch(coin(5, "s"));
    expect(session.get(till).cents).toBe(6);
  });

  test("works on a bus that delivers nothing", () => {
    const session = new Session({ bus: nullEventBus }).register(till);
    session.dispatch(coin(5));
    expect(session.get(till).cents).toBe(5);
  });

  const noEvents: readonly (readonly [string, unknown])[] = [
    ["undefined", undefined],
    ["null", null],
    ["text", "CoinInserted"],
    ["a list", [coin(1)]],
    ["an instance", new Date(0)],
    ["an object without a type", { cents: 1 }],
    ["one of an empty type", { type: "" }],
    ["one whose type is no text", { type: 5 }],
    ["one whose type cannot even be text", { type: Object.create(null) }],
  ];
  test.each(noEvents)("refuses %s", (_what, event) => {
    const session = new Session();
    const heard: unknown[] = [];
    session.bus.subscribe("*", (any) => void heard.push(any));
    expect(() => session.dispatch(event as never)).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: "Session.dispatch(event)",
        value: event,
        message: expect.stringContaining('write { type: "OrderPlaced", … }'),
      }),
    );
    expect(heard).toEqual([]);
  });
});

describe("an event of another publisher", () => {
  test("is reduced if it carries the session's id", () => {
    const session = new Session({ id: "s" }).register(till);
    session.bus.publish(coin(5, "s"));
    expect(session.get(till).cents).toBe(5);
  });

  test.each([
    ["another session's id", coin(5, "t")],
    ["no session's id", coin(5)],
  ])("is not reduced if it carries %s", (_what, event) => {
    const session = new Session({ id: "s" }).register(till);
    session.bus.publish(event);
    expect(session.get(till).cents).toBe(0);
  });

  test("on a shared bus reaches the one session it names", () => {
    const bus = new InProcessEventBus();
    const one = new Session({ id: "one", bus }).register(till);
    const other = new Session({ id: "other", bus }).register(till);
    bus.publish(coin(1, "one"));
    one.dispatch(coin(10, "one"));
    other.dispatch(coin(100)); // its own business: it names nobody
    one.dispatch(coin(1000, "other")); // dispatched here, meant for there too
    expect([one.get(till).cents, other.get(till).cents]).toEqual([1011, 1100]);
  });

  test("is reduced even if it is an object that the session dispatched before", () => {
    const session = new Session({ id: "s" }).register(till);
    const event = coin(5, "s");
    session.dispatch(event);
    session.bus.publish(event);
    expect(session.get(till).cents).toBe(10);
  });

  test("no longer reaches a session that was disposed of, while dispatch still works", () => {
    const bus = new InProcessEventBus();
    const session = new Session({ id: "s", bus }).register(till);
    session[Symbol.dispose]();
    session[Symbol.dispose]();
    bus.publish(coin(1, "s"));
    expect(session.get(till).cents).toBe(0);
    session.dispatch(coin(10, "s"));
    expect(session.get(till).cents).toBe(10);
  });
});

/** Delivers when told to, as a bus between processes would. */
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
