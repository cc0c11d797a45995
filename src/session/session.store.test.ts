import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { defineSlice } from "./define-slice.ts";
import { type EventBus, InProcessEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import { SnapshotError, SnapshotRestoreError } from "./snapshot-errors.ts";

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
const createTicketSold = (cents: number, sessionId?: string): TicketSold =>
  sessionId === undefined
    ? { type: "TicketSold", cents }
    : { type: "TicketSold", cents, sessionId };

const till = defineSlice("till", {
  initial: { cents: 0 },
  on: { TicketSold: (state, { cents }) => ({ cents: state.cents + cents }) },
});
const sales = logSlice("sales", "TicketSold");

describe("Session.restore()", () => {
  test("restores state slices, keeps logs and retracts no events", () => {
    const session = new Session().register(till).register(sales);
    const heard: BusEvent[] = [];
    session.bus.subscribe("*", (event) => void heard.push(event));
    session.dispatch(createTicketSold(5));
    const before = session.get(till);
    const snapshot = session.snapshot();
    session.dispatch(createTicketSold(7));
    session.restore(snapshot);
    expect(session.get(till)).toBe(before);
    expect(session.get(sales)).toEqual([createTicketSold(5), createTicketSold(7)]);
    expect(heard).toHaveLength(2);
  });

  test("keeps log slices defined with defineSlice()", () => {
    const count = defineSlice("count", {
      initial: 0,
      on: { TicketSold: (n) => n + 1 },
      policy: "log",
    });
    const session = new Session().register(count);
    const snapshot = session.snapshot();
    session.dispatch(createTicketSold(5));
    session.restore(snapshot);
    expect(session.get(count)).toBe(1);
  });

  test("can restore snapshots repeatedly and in any order", () => {
    const session = new Session({ id: "s" }).register(till);
    const empty = session.snapshot();
    session.dispatch(createTicketSold(5));
    const five = session.snapshot();
    const seen = [empty, five, empty].map((snapshot) => {
      session.restore(snapshot);
      session.dispatch(createTicketSold(1));
      return session.get(till).cents;
    });
    expect(seen).toEqual([1, 6, 1]);
    expect(five).toMatchObject({ sessionId: "s" });
    expect(five).toSatisfy(Object.isFrozen);
  });

  test("resets slices that were registered after the snapshot", () => {
    const session = new Session();
    const snapshot = session.snapshot();
    session.register(till).register(sales).dispatch(createTicketSold(5));
    session.restore(snapshot);
    expect(session.get(till)).toBe(till.initial);
    expect(session.get(sales)).toHaveLength(1);
  });

  test("rejects a snapshot with unregistered slices and changes nothing", () => {
    const rich = new Session()
      .register(till)
      .register(defineSlice("note", { initial: "", on: {} }));
    const session = new Session().register(till);
    session.dispatch(createTicketSold(5));
    expect(() => session.restore(rich.snapshot())).toThrow(SnapshotRestoreError);
    expect(() => session.restore(rich.snapshot())).toThrow(
      'No slice is registered as "note". Register the slices first, or pass them to Session.parse.',
    );
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("rejects a snapshot whose slice has a different type and changes nothing", () => {
    const old = new Session().register(till).register(defineSlice("n", { initial: "", on: {} }));
    const session = new Session().register(till).register(defineSlice("n", { initial: 0, on: {} }));
    session.dispatch(createTicketSold(5));
    expect(() => session.restore(old.snapshot())).toThrow(SnapshotRestoreError);
    expect(() => session.restore(old.snapshot())).toThrow(
      'Slice "n" cannot be restored: its state is a string, but the slice starts with a number. ' +
        "Migrate or discard state that another version of the slice wrote.",
    );
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("accepts a snapshot of a slice that was redefined with the same type", () => {
    const old = new Session().register(till);
    old.dispatch(createTicketSold(5));
    const renewed = defineSlice("till", { initial: { cents: 0 }, on: {} });
    const session = new Session().register(renewed);
    session.restore(old.snapshot());
    expect(session.get(renewed)).toEqual({ cents: 5 });
  });
});

describe("Session.parse()", () => {
  test("restores id, creation time, tags, state and logs", () => {
    const session = new Session({ id: "s", tags: { team: "search" }, clock });
    session.register(till).register(sales).dispatch(createTicketSold(5));
    const later: Clock = { ...clock, now: () => noon + 1000 };
    const back = Session.parse(session.serialize(), [till, sales], { clock: later });
    expect(back.id).toBe("s");
    expect(back.tags).toEqual({ team: "search" });
    expect(back.createdAt).toBe("2030-01-01T12:00:00.000Z");
    expect(back.get(till)).toEqual({ cents: 5 });
    expect(back.get(sales)).toEqual([createTicketSold(5)]);
    expect(back.serialize()).toBe(session.serialize());
  });

  test("continues on a new bus or on the given one", () => {
    const session = new Session({ id: "s" }).register(till).register(sales);
    session.dispatch(createTicketSold(5));
    const bus = new InProcessEventBus();
    const text = session.serialize();
    const alone = Session.parse(text, [till, sales]);
    const shared = Session.parse(text, [till, sales], { bus });
    alone.dispatch(createTicketSold(1));
    bus.publish(createTicketSold(2, "s"));
    expect([alone.get(till), shared.get(till)]).toEqual([{ cents: 6 }, { cents: 7 }]);
    expect([alone.get(sales).length, shared.get(sales).length]).toEqual([2, 2]);
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test("freezes the restored state and logs", () => {
    const session = new Session().register(till).register(sales);
    session.dispatch(createTicketSold(5));
    const back = Session.parse(session.serialize(), [till, sales]);
    const [entry] = back.get(sales);
    expect([back.get(till), back.get(sales), entry].every(Object.isFrozen)).toBe(true);
  });

  test("leaves slices missing from the text in their initial state", () => {
    const text = new Session().serialize();
    expect(Session.parse(text, [till, sales]).get(till)).toBe(till.initial);
  });

  test("accepts a slice named __proto__", () => {
    const odd = defineSlice("__proto__", { initial: 0, on: { TicketSold: (n) => n + 1 } });
    const session = new Session().register(odd);
    session.dispatch(createTicketSold(5));
    expect(Session.parse(session.serialize(), [odd]).get(odd)).toBe(1);
    expect(() => Session.parse(session.serialize(), [])).toThrow(
      'No slice is registered as "__proto__"',
    );
  });

  test("Session.serialize() rejects state that is not JSON, naming the slice and path", () => {
    const dates = defineSlice<{ readonly at: Date | null }>("dates", {
      initial: { at: null },
      on: { TicketSold: () => ({ at: new Date(0) }) },
    });
    const session = new Session().register(dates);
    session.dispatch(createTicketSold(5));
    expect(() => session.serialize()).toThrow(SnapshotError);
    expect(() => session.serialize()).toThrow('Slice "dates" cannot be serialized: value.at');
  });
});

describe("Session.parse() with invalid text", () => {
  const createText = (parts: object) =>
    JSON.stringify({
      version: 1,
      id: "s",
      createdAt: new Date(noon).toISOString(),
      tags: {},
      slices: {},
      ...parts,
    });

  test.each([
    ["is not JSON", "{", SnapshotRestoreError, "The text is not a serialized session"],
    [
      "has invalid tags",
      createText({ tags: 1 }),
      SnapshotRestoreError,
      "has a missing or invalid id, createdAt, tags",
    ],
    ["has an invalid id", createText({ id: "a b" }), InvalidOptionError, "Session.id must be"],
    [
      "has an unknown slice",
      createText({ slices: { orders: [] } }),
      SnapshotRestoreError,
      'No slice is registered as "orders"',
    ],
    [
      "has a slice of a different type",
      createText({ slices: { till: [] } }),
      SnapshotRestoreError,
      'Slice "till" cannot be restored: its state is an array, but the slice starts with an object',
    ],
    [
      "has a log that is not an array",
      createText({ slices: { sales: {} } }),
      SnapshotRestoreError,
      'Slice "sales" cannot be restored: its state is not an array of events',
    ],
  ])("rejects text that %s", (_why, wrong, kind, message) => {
    expect(() => Session.parse(wrong, [till, sales])).toThrow(kind);
    expect(() => Session.parse(wrong, [till, sales])).toThrow(message);
  });

  test("leaves no subscription on the bus", () => {
    const bus = new CountingBus();
    const namesake = defineSlice("till", { initial: 0, on: {} });
    expect(() => Session.parse(createText({ slices: { orders: [] } }), [till], { bus })).toThrow();
    expect(() => Session.parse(createText({ slices: { till: [] } }), [till], { bus })).toThrow();
    expect(() => Session.parse(createText({}), [till, namesake], { bus })).toThrow(
      InvalidOptionError,
    );
    expect(bus.subscribers).toBe(0);
  });

  test("handles any depth of nesting", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
    const anything = defineSlice<unknown>("anything", { initial: null, on: {} });
    const session = Session.parse(
      createText({ slices: { anything: 0 } }).replace("0}", `${deep}}`),
      [anything],
    );
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
