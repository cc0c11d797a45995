import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { type EventBus, InProcessEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { defineSlice } from "./slice.ts";
import { SnapshotError, SnapshotRestoreError } from "./snapshot.ts";

interface TicketSold {
  readonly type: "TicketSold";
  readonly sessionId?: string;
  readonly cents: number;
}

declare module "./event-map.ts" {
  interface EventMap {
    TicketSold: TicketSold;
  }
}

const noon = Date.UTC(2030, 0, 1, 12);
const clock: Clock = { now: () => noon, sleep: async () => {} };
const sold = (cents: number, sessionId?: string): TicketSold =>
  sessionId === undefined
    ? { type: "TicketSold", cents }
    : { type: "TicketSold", cents, sessionId };

const till = defineSlice("till", {
  initial: { cents: 0 },
  on: { TicketSold: (state, { cents }) => ({ cents: state.cents + cents }) },
});
const sales = logSlice("sales", "TicketSold");

describe("a snapshot", () => {
  test("sets state back, keeps logs, and unpublishes nothing", () => {
    const session = new Session().register(till).register(sales);
    const heard: BusEvent[] = [];
    session.bus.subscribe("*", (event) => void heard.push(event));
    session.dispatch(sold(5));
    const before = session.get(till);
    const snapshot = session.snapshot();
    session.dispatch(sold(7));
    session.restore(snapshot);
    expect(session.get(till)).toBe(before);
    expect(session.get(sales)).toEqual([sold(5), sold(7)]);
    expect(heard).toHaveLength(2);
  });

  test("keeps log slices that were defined by hand, too", () => {
    const count = defineSlice("count", {
      initial: 0,
      on: { TicketSold: (n) => n + 1 },
      policy: "log",
    });
    const session = new Session().register(count);
    const snapshot = session.snapshot();
    session.dispatch(sold(5));
    session.restore(snapshot);
    expect(session.get(count)).toBe(1);
  });

  test("can be restored as often as one likes, in any order", () => {
    const session = new Session({ id: "s" }).register(till);
    const empty = session.snapshot();
    session.dispatch(sold(5));
    const five = session.snapshot();
    const seen = [empty, five, empty].map((snapshot) => {
      session.restore(snapshot);
      session.dispatch(sold(1));
      return session.get(till).cents;
    });
    expect(seen).toEqual([1, 6, 1]);
    expect(five).toMatchObject({ sessionId: "s" });
    expect(five).toSatisfy(Object.isFrozen);
  });

  test("sets slices that were registered after it back to how they start", () => {
    const session = new Session();
    const snapshot = session.snapshot();
    session.register(till).register(sales).dispatch(sold(5));
    session.restore(snapshot);
    expect(session.get(till)).toBe(till.initial);
    expect(session.get(sales)).toHaveLength(1);
  });

  test("of slices that are not registered is refused, and nothing is changed", () => {
    const rich = new Session()
      .register(till)
      .register(defineSlice("note", { initial: "", on: {} }));
    const session = new Session().register(till);
    session.dispatch(sold(5));
    expect(() => session.restore(rich.snapshot())).toThrow(SnapshotRestoreError);
    expect(() => session.restore(rich.snapshot())).toThrow(
      'No slice is registered as "note": register them first, or pass them to Session.parse',
    );
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("of a slice that has become another kind is refused, and nothing is changed", () => {
    const old = new Session().register(till).register(defineSlice("n", { initial: "", on: {} }));
    const session = new Session().register(till).register(defineSlice("n", { initial: 0, on: {} }));
    session.dispatch(sold(5));
    expect(() => session.restore(old.snapshot())).toThrow(SnapshotRestoreError);
    expect(() => session.restore(old.snapshot())).toThrow(
      'Slice "n" does not fit, it holds a string where the slice starts with a number: it was ' +
        "written by another version of the slice; migrate it or drop it",
    );
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("of the same kind goes into a session whose slice was defined anew", () => {
    const old = new Session().register(till);
    old.dispatch(sold(5));
    const renewed = defineSlice("till", { initial: { cents: 0 }, on: {} });
    const session = new Session().register(renewed);
    session.restore(old.snapshot());
    expect(session.get(renewed)).toEqual({ cents: 5 });
  });
});

describe("a session as text", () => {
  test("comes back with id, time, tags, state and logs", () => {
    const session = new Session({ id: "s", tags: { team: "search" }, clock });
    session.register(till).register(sales).dispatch(sold(5));
    const later: Clock = { ...clock, now: () => noon + 1000 };
    const back = Session.parse(session.serialize(), [till, sales], { clock: later });
    expect(back.id).toBe("s");
    expect(back.tags).toEqual({ team: "search" });
    expect(back.createdAt).toBe("2030-01-01T12:00:00.000Z");
    expect(back.get(till)).toEqual({ cents: 5 });
    expect(back.get(sales)).toEqual([sold(5)]);
    expect(back.serialize()).toBe(session.serialize());
  });

  test("goes on from there, on a bus of its own or the one it is given", () => {
    const session = new Session({ id: "s" }).register(till).register(sales);
    session.dispatch(sold(5));
    const bus = new InProcessEventBus();
    const text = session.serialize();
    const alone = Session.parse(text, [till, sales]);
    const shared = Session.parse(text, [till, sales], { bus });
    alone.dispatch(sold(1));
    bus.publish(sold(2, "s"));
    expect([alone.get(till), shared.get(till)]).toEqual([{ cents: 6 }, { cents: 7 }]);
    expect([alone.get(sales).length, shared.get(sales).length]).toEqual([2, 2]);
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("has frozen state and logs when it comes back", () => {
    const session = new Session().register(till).register(sales);
    session.dispatch(sold(5));
    const back = Session.parse(session.serialize(), [till, sales]);
    const [entry] = back.get(sales);
    expect([back.get(till), back.get(sales), entry].every(Object.isFrozen)).toBe(true);
  });

  test("leaves slices that are new to it as they start", () => {
    const text = new Session().serialize();
    expect(Session.parse(text, [till, sales]).get(till)).toBe(till.initial);
  });

  test("takes a slice called __proto__ for one like any other", () => {
    const odd = defineSlice("__proto__", { initial: 0, on: { TicketSold: (n) => n + 1 } });
    const session = new Session().register(odd);
    session.dispatch(sold(5));
    expect(Session.parse(session.serialize(), [odd]).get(odd)).toBe(1);
    expect(() => Session.parse(session.serialize(), [])).toThrow(
      'No slice is registered as "__proto__"',
    );
  });

  test("is refused where the state cannot be text, saying what and where", () => {
    const dates = defineSlice<{ readonly at: Date | null }>("dates", {
      initial: { at: null },
      on: { TicketSold: () => ({ at: new Date(0) }) },
    });
    const session = new Session().register(dates);
    session.dispatch(sold(5));
    expect(() => session.serialize()).toThrow(SnapshotError);
    expect(() => session.serialize()).toThrow(
      'Slice "dates" cannot be written as text, its value.at',
    );
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
      text({ slices: { sales: {} } }),
      SnapshotRestoreError,
      'Slice "sales" does not fit, it is not a list of events',
    ],
  ])("because it %s is refused", (_why, wrong, kind, message) => {
    expect(() => Session.parse(wrong, [till, sales])).toThrow(kind);
    expect(() => Session.parse(wrong, [till, sales])).toThrow(message);
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
