import { afterEach, describe, expect, test, vi } from "vitest";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { type BusEvent, type EventBus, InProcessEventBus, nullEventBus } from "./event-bus.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { defineSlice } from "./slice.ts";
import { SnapshotError, SnapshotRestoreError } from "./snapshot.ts";

interface CoinInserted {
  readonly type: "CoinInserted";
  readonly sessionId?: string;
  readonly cents: number;
}

declare module "./event-bus.ts" {
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

afterEach(() => vi.restoreAllMocks());

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

  test.each(["", " ", "a b", "../up", "x".repeat(129), "größe", 5])(
    "cannot be called %j",
    (id) => {
      expect(() => new Session({ id: id as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: "Session.id",
          value: id,
          message: expect.stringContaining("leave it out for a random one"),
        }),
      );
    },
  );

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
        message: expect.stringContaining('must be text, but is'),
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
      'Slice.id must be unique within a session, but is "till": rename one of the two slices',
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

describe("a reducer that fails", () => {
  const failing: readonly (readonly [string, () => never, string])[] = [
    [
      "by throwing",
      () => {
        throw new Error("boom");
      },
      "boom",
    ],
    [
      "by throwing no error",
      () => {
        throw "boom" as unknown;
      },
      '"boom"',
    ],
    [
      "by returning nothing",
      () => undefined as never,
      "it returned undefined: a reducer returns the next state",
    ],
    [
      "by returning a promise",
      () => Promise.resolve({ cents: 1 }) as never,
      "it returned a promise: a reducer is synchronous",
    ],
    [
      "by returning a promise that fails later",
      () => Promise.reject(new Error("late")) as never,
      "it returned a promise: a reducer is synchronous",
    ],
  ];

  test.each(failing)("%s leaves its slice as it was, and the others change", (_how, reducer) => {
    const broken = defineSlice("broken", { initial: { n: 1 }, on: { CoinInserted: reducer } });
    const session = new Session().register(broken).register(till);
    session.dispatch(coin(5));
    expect(session.get(broken)).toBe(broken.initial);
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test.each(failing)("%s is published as ReducerFailed, before the event", (_how, reducer, message) => {
    const broken = defineSlice("broken", { initial: { n: 1 }, on: { CoinInserted: reducer } });
    const session = new Session({ id: "s", clock }).register(broken);
    const heard: BusEvent[] = [];
    session.bus.subscribe("*", (event) => void heard.push(event));
    session.dispatch(coin(5));
    expect(heard).toEqual([
      {
        type: "ReducerFailed",
        sessionId: "s",
        sliceId: "broken",
        eventType: "CoinInserted",
        message,
        createdAt: "2030-01-01T12:00:00.000Z",
      },
      coin(5),
    ]);
    expect(heard[0]).toSatisfy(Object.isFrozen);
  });

  const thrower = defineSlice("thrower", {
    initial: 0,
    on: {
      CoinInserted: () => {
        throw new Error("boom");
      },
    },
  });

  test("on another publisher's event is reported too", () => {
    const session = new Session({ id: "s" }).register(thrower);
    const heard: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ sliceId }) => void heard.push(sliceId));
    session.bus.publish(coin(5, "s"));
    expect(heard).toEqual(["thrower"]);
  });

  test("is an event that slices can keep, once for each failure", () => {
    const failures = logSlice("failures", "ReducerFailed");
    const twin = defineSlice("twin", {
      initial: 0,
      on: {
        CoinInserted: () => {
          throw new Error("boom too");
        },
      },
    });
    const session = new Session().register(thrower).register(twin).register(failures);
    session.dispatch(coin(5));
    expect(session.get(failures).map(({ sliceId }) => sliceId)).toEqual(["thrower", "twin"]);
  });

  test("on ReducerFailed itself is not reported again", () => {
    const touchy = defineSlice("touchy", {
      initial: 0,
      on: {
        ReducerFailed: () => {
          throw new Error("me too");
        },
      },
    });
    const session = new Session().register(thrower).register(touchy);
    const heard: string[] = [];
    session.bus.subscribe("*", ({ type }) => void heard.push(type));
    session.dispatch(coin(5));
    expect(heard).toEqual(["ReducerFailed", "CoinInserted"]);
  });

  test("because it dispatched is told that reducers only compute", () => {
    const session = new Session();
    const eager = defineSlice("eager", {
      initial: 0,
      on: {
        CoinInserted: (state) => {
          session.dispatch(coin(1));
          return state + 1;
        },
      },
    });
    const messages: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ message }) => void messages.push(message));
    session.register(eager).register(till).dispatch(coin(5));
    expect(messages).toEqual([
      'Session.dispatch must not be called by a reducer, but is "CoinInserted": reducers only ' +
        "compute the next state; dispatch from a subscriber or a tool",
    ]);
    expect([session.get(eager), session.get(till).cents]).toEqual([0, 5]);
    session.dispatch({ type: "DoorOpened" }); // afterwards all is as before
  });

  test("because it wrote into the state has changed nothing", () => {
    const list: readonly number[] = [];
    const careless = defineSlice<readonly number[]>("careless", {
      initial: list,
      on: {
        CoinInserted: (state, { cents }) => {
          (state as number[]).push(cents);
          return state;
        },
      },
    });
    const session = new Session().register(careless);
    const failed: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ message }) => void failed.push(message));
    session.dispatch(coin(5));
    expect(session.get(careless)).toEqual([]);
    expect(failed).toEqual([expect.stringContaining("not extensible")]);
  });
});

describe("a snapshot", () => {
  test("sets state back, keeps logs, and unpublishes nothing", () => {
    const session = new Session().register(till).register(coins);
    const heard: BusEvent[] = [];
    session.bus.subscribe("*", (event) => void heard.push(event));
    session.dispatch(coin(5));
    const before = session.get(till);
    const snapshot = session.snapshot();
    session.dispatch(coin(7));
    session.restore(snapshot);
    expect(session.get(till)).toBe(before);
    expect(session.get(coins)).toEqual([coin(5), coin(7)]);
    expect(heard).toHaveLength(2);
  });

  test("keeps log slices that were defined by hand, too", () => {
    const count = defineSlice("count", {
      initial: 0,
      on: { CoinInserted: (n) => n + 1 },
      policy: "log",
    });
    const session = new Session().register(count);
    const snapshot = session.snapshot();
    session.dispatch(coin(5));
    session.restore(snapshot);
    expect(session.get(count)).toBe(1);
  });

  test("can be restored as often as one likes, in any order", () => {
    const session = new Session({ id: "s" }).register(till);
    const empty = session.snapshot();
    session.dispatch(coin(5));
    const five = session.snapshot();
    const seen = [empty, five, empty].map((snapshot) => {
      session.restore(snapshot);
      session.dispatch(coin(1));
      return session.get(till).cents;
    });
    expect(seen).toEqual([1, 6, 1]);
    expect(five).toMatchObject({ sessionId: "s" });
    expect(five).toSatisfy(Object.isFrozen);
  });

  test("sets slices that were registered after it back to how they start", () => {
    const session = new Session();
    const snapshot = session.snapshot();
    session.register(till).register(coins).dispatch(coin(5));
    session.restore(snapshot);
    expect(session.get(till)).toBe(till.initial);
    expect(session.get(coins)).toHaveLength(1);
  });

  test("of slices that are not registered is refused, and nothing is changed", () => {
    const rich = new Session().register(till).register(defineSlice("note", { initial: "", on: {} }));
    const session = new Session().register(till);
    session.dispatch(coin(5));
    expect(() => session.restore(rich.snapshot())).toThrow(SnapshotRestoreError);
    expect(() => session.restore(rich.snapshot())).toThrow(
      'No slice is registered as "note": register them first, or pass them to Session.parse',
    );
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("of a slice that has become another kind is refused, and nothing is changed", () => {
    const old = new Session().register(till).register(defineSlice("n", { initial: "", on: {} }));
    const session = new Session().register(till).register(defineSlice("n", { initial: 0, on: {} }));
    session.dispatch(coin(5));
    expect(() => session.restore(old.snapshot())).toThrow(SnapshotRestoreError);
    expect(() => session.restore(old.snapshot())).toThrow(
      'Slice "n" does not fit, it holds a string where the slice starts with a number: it was ' +
        "written by another version of the slice; migrate it or drop it",
    );
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("of the same kind goes into a session whose slice was defined anew", () => {
    const old = new Session().register(till);
    old.dispatch(coin(5));
    const renewed = defineSlice("till", { initial: { cents: 0 }, on: {} });
    const session = new Session().register(renewed);
    session.restore(old.snapshot());
    expect(session.get(renewed)).toEqual({ cents: 5 });
  });
});

describe("a session as text", () => {
  test("comes back with id, time, tags, state and logs", () => {
    const session = new Session({ id: "s", tags: { team: "search" }, clock });
    session.register(till).register(coins).dispatch(coin(5));
    const later: Clock = { ...clock, now: () => noon + 1000 };
    const back = Session.parse(session.serialize(), [till, coins], { clock: later });
    expect(back.id).toBe("s");
    expect(back.tags).toEqual({ team: "search" });
    expect(back.createdAt).toBe("2030-01-01T12:00:00.000Z");
    expect(back.get(till)).toEqual({ cents: 5 });
    expect(back.get(coins)).toEqual([coin(5)]);
    expect(back.serialize()).toBe(session.serialize());
  });

  test("goes on from there, on a bus of its own or the one it is given", () => {
    const session = new Session({ id: "s" }).register(till).register(coins);
    session.dispatch(coin(5));
    const bus = new InProcessEventBus();
    const text = session.serialize();
    const alone = Session.parse(text, [till, coins]);
    const shared = Session.parse(text, [till, coins], { bus });
    alone.dispatch(coin(1));
    bus.publish(coin(2, "s"));
    expect([alone.get(till), shared.get(till)]).toEqual([{ cents: 6 }, { cents: 7 }]);
    expect([alone.get(coins).length, shared.get(coins).length]).toEqual([2, 2]);
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("has frozen state and logs when it comes back", () => {
    const session = new Session().register(till).register(coins);
    session.dispatch(coin(5));
    const back = Session.parse(session.serialize(), [till, coins]);
    const [entry] = back.get(coins);
    expect([back.get(till), back.get(coins), entry].every(Object.isFrozen)).toBe(true);
  });

  test("leaves slices that are new to it as they start", () => {
    const text = new Session().serialize();
    expect(Session.parse(text, [till, coins]).get(till)).toBe(till.initial);
  });

  test("takes a slice called __proto__ for one like any other", () => {
    const odd = defineSlice("__proto__", { initial: 0, on: { CoinInserted: (n) => n + 1 } });
    const session = new Session().register(odd);
    session.dispatch(coin(5));
    expect(Session.parse(session.serialize(), [odd]).get(odd)).toBe(1);
    expect(() => Session.parse(session.serialize(), [])).toThrow('No slice is registered as "__proto__"');
  });

  test("is refused where the state cannot be text, saying what and where", () => {
    const dates = defineSlice<{ readonly at: Date | null }>("dates", {
      initial: { at: null },
      on: { CoinInserted: () => ({ at: new Date(0) }) },
    });
    const session = new Session().register(dates);
    session.dispatch(coin(5));
    expect(() => session.serialize()).toThrow(SnapshotError);
    expect(() => session.serialize()).toThrow('Slice "dates" cannot be written as text, its value.at');
  });
});

describe("a text that does not fit", () => {
  const text = (parts: object) =>
    JSON.stringify({
      version: 1,
      id: "s",
      createdAt: new Date(noon).toISOString(),
      tags: {},
      slices: {},
      ...parts,
    });

  test.each([
    ["is no JSON", "{", SnapshotRestoreError, "The text is not a session's"],
    ["lacks its tags", text({ tags: 1 }), SnapshotRestoreError, "lacks its id, createdAt, tags"],
    ["has an illegal id", text({ id: "a b" }), InvalidOptionError, "Session.id must be"],
    [
      "holds an unknown slice",
      text({ slices: { orders: [] } }),
      SnapshotRestoreError,
      'No slice is registered as "orders"',
    ],
    [
      "holds a slice of another kind",
      text({ slices: { till: [] } }),
      SnapshotRestoreError,
      'Slice "till" does not fit, it holds a list where the slice starts with an object',
    ],
    [
      "holds a log that is no list",
      text({ slices: { coins: {} } }),
      SnapshotRestoreError,
      'Slice "coins" does not fit, it is not a list of events',
    ],
  ])("because it %s is refused", (_why, wrong, kind, message) => {
    expect(() => Session.parse(wrong, [till, coins])).toThrow(kind);
    expect(() => Session.parse(wrong, [till, coins])).toThrow(message);
  });

  test("leaves nobody behind on the bus", () => {
    const bus = new CountingBus();
    const namesake = defineSlice("till", { initial: 0, on: {} });
    expect(() => Session.parse(text({ slices: { orders: [] } }), [till], { bus })).toThrow();
    expect(() => Session.parse(text({ slices: { till: [] } }), [till], { bus })).toThrow();
    expect(() => Session.parse(text({}), [till, namesake], { bus })).toThrow(InvalidOptionError);
    expect(bus.subscribers).toBe(0);
  });

  test("may be nested ever so deeply, and is read or refused", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const anything = defineSlice<unknown>("anything", { initial: null, on: {} });
    const session = Session.parse(text({ slices: { anything: 0 } }).replace("0}", `${deep}}`), [
      anything,
    ]);
    expect(session.get(anything)).toBeInstanceOf(Array);
    expect(() => session.serialize()).toThrow(SnapshotError);
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

class CountingBus implements EventBus {
  subscribers = 0;

  publish(): void {}

  subscribe(): Disposable {
    this.subscribers += 1;
    return {
      [Symbol.dispose]: () => {
        this.subscribers -= 1;
      },
    };
  }
}
