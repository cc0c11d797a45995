import { describe, expectTypeOf, test } from "vitest";
import type { ToolInvoked } from "../adapter/events.ts";
import { defineSlice } from "./define-slice.ts";
import type { BusEvent, EventOf, ReducerFailed } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import type { Slice } from "./slice.ts";

/** A user-defined event. Outside this repository the module is "weakincentives". */
interface OrderPlaced {
  readonly type: "OrderPlaced";
  readonly total: number;
}

declare module "./event-map.ts" {
  interface EventMap {
    OrderPlaced: OrderPlaced;
  }
}

const session = new Session();

describe("EventBus", () => {
  test("types the library's events by name", () => {
    session.bus.subscribe("ReducerFailed", (event) => {
      expectTypeOf(event).toEqualTypeOf<ReducerFailed>();
    });
    session.bus.subscribe("ToolInvoked", (event) => {
      expectTypeOf(event).toEqualTypeOf<ToolInvoked>();
    });
  });

  test("types events that a user added", () => {
    session.bus.subscribe("OrderPlaced", ({ total }) => {
      expectTypeOf(total).toEqualTypeOf<number>();
    });
    session.bus.publish({ type: "OrderPlaced", total: 1 });
    expectTypeOf<EventOf<"OrderPlaced">>().toEqualTypeOf<OrderPlaced>();
  });

  test('types the events of a "*" subscription as any event', () => {
    session.bus.subscribe("*", (event) => {
      expectTypeOf(event).toEqualTypeOf<BusEvent>();
      if (event.type === "OrderPlaced") expectTypeOf(event.total).toEqualTypeOf<number>();
    });
  });

  test("rejects an unknown event name and an incomplete event", () => {
    // @ts-expect-error Argument of type '"OrderPlacd"' is not assignable to parameter
    session.bus.subscribe("OrderPlacd", () => {});
    // @ts-expect-error Property 'total' is missing
    session.bus.publish({ type: "OrderPlaced" });
  });
});

describe("Session", () => {
  test("dispatches only complete, declared events", () => {
    session.dispatch({ type: "OrderPlaced", total: 1 });
    // @ts-expect-error Type '"OrderPlacd"' is not assignable
    session.dispatch({ type: "OrderPlacd", total: 1 });
    // @ts-expect-error Property 'total' is missing
    session.dispatch({ type: "OrderPlaced" });
  });

  test("has string tags and read-only properties", () => {
    expectTypeOf(session.tags).toEqualTypeOf<Readonly<Record<string, string>>>();
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    new Session({ tags: { team: 5 } });
    // @ts-expect-error Cannot assign to 'id' because it is a read-only property
    session.id = "other";
    // @ts-expect-error Cannot assign to 'createdAt' because it is a read-only property
    session.createdAt = "now";
  });

  test("accepts any store with append, read, list and delete", () => {
    const store = {
      append: async (_id: string, _record: object) => {},
      read: async function* (_id: string) {
        yield {};
      },
      list: async () => [""],
      delete: async (_id: string) => {},
    };
    expectTypeOf(store).toExtend<SessionStore>();
    new Session({ store, id: "s" });
    expectTypeOf(Session.open(store, "s", [])).toEqualTypeOf<Promise<Session>>();
    expectTypeOf(session.flush()).toEqualTypeOf<Promise<void>>();
    // @ts-expect-error a stored session has its own id and tags
    void Session.open(store, "s", [], { id: "t" });
  });

  test("accepts undefined for omitted options", () => {
    new Session({ id: undefined, bus: undefined, tags: undefined, clock: undefined });
  });
});

describe("Slice", () => {
  const spent = defineSlice("shop.spent", {
    initial: { total: 0 },
    on: {
      OrderPlaced: (state, { total }) => ({ total: state.total + total }),
      ToolInvoked: (state, { result }) => (result.success ? state : { total: 0 }),
    },
  });

  test("has the type of its initial state", () => {
    expectTypeOf(spent).toEqualTypeOf<Slice<{ total: number }>>();
    expectTypeOf(session.register(spent).get(spent)).toEqualTypeOf<{ total: number }>();
  });

  test("accepts an explicit state type", () => {
    const names = defineSlice<readonly string[]>("names", {
      initial: [],
      on: { ToolInvoked: (all, { name }) => [...all, name] },
    });
    expectTypeOf(session.get(names)).toEqualTypeOf<readonly string[]>();
  });

  test("has an array of events if it is a log", () => {
    const orders = logSlice("orders", "OrderPlaced");
    expectTypeOf(session.get(orders)).toEqualTypeOf<readonly OrderPlaced[]>();
  });

  test("rejects reducers of a different state type or unknown event", () => {
    // @ts-expect-error Property 'n' is missing in type '{ m: number; }'
    defineSlice("a", { initial: { n: 0 }, on: { OrderPlaced: () => ({ m: 1 }) } });
    // @ts-expect-error 'Tick' does not exist in type 'Reducers<{ n: number; }>'
    defineSlice("a", { initial: { n: 0 }, on: { Tick: () => ({ n: 1 }) } });
    // @ts-expect-error Type 'Promise<{ n: number; }>' is not assignable
    defineSlice("a", { initial: { n: 0 }, on: { OrderPlaced: async () => ({ n: 1 }) } });
  });

  test("accepts a slice of any state", () => {
    expectTypeOf([spent, logSlice("orders", "OrderPlaced")]).toExtend<readonly Slice[]>();
  });
});
