import { describe, expectTypeOf, test } from "vitest";
import type { ToolInvoked } from "../adapter/events.ts";
import type { BusEvent, EventOf, ReducerFailed } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";
import { defineSlice, type Slice } from "./slice.ts";

/** An event of a user's own. Outside this repository the module is "weakincentives". */
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

describe("the bus", () => {
  test("knows the events of the library by name", () => {
    session.bus.subscribe("ReducerFailed", (event) => {
      expectTypeOf(event).toEqualTypeOf<ReducerFailed>();
    });
    session.bus.subscribe("ToolInvoked", (event) => {
      expectTypeOf(event).toEqualTypeOf<ToolInvoked>();
    });
  });

  test("knows those a user added", () => {
    session.bus.subscribe("OrderPlaced", ({ total }) => {
      expectTypeOf(total).toEqualTypeOf<number>();
    });
    session.bus.publish({ type: "OrderPlaced", total: 1 });
    expectTypeOf<EventOf<"OrderPlaced">>().toEqualTypeOf<OrderPlaced>();
  });

  test("gives every event to who asks for all", () => {
    session.bus.subscribe("*", (event) => {
      expectTypeOf(event).toEqualTypeOf<BusEvent>();
      if (event.type === "OrderPlaced") expectTypeOf(event.total).toEqualTypeOf<number>();
    });
  });

  test("refuses a name nobody publishes, and an event that lacks a field", () => {
    // @ts-expect-error Argument of type '"OrderPlacd"' is not assignable to parameter
    session.bus.subscribe("OrderPlacd", () => {});
    // @ts-expect-error Property 'total' is missing
    session.bus.publish({ type: "OrderPlaced" });
  });
});

describe("a session", () => {
  test("dispatches events there are, whole", () => {
    session.dispatch({ type: "OrderPlaced", total: 1 });
    // @ts-expect-error Type '"OrderPlacd"' is not assignable
    session.dispatch({ type: "OrderPlacd", total: 1 });
    // @ts-expect-error Property 'total' is missing
    session.dispatch({ type: "OrderPlaced" });
  });

  test("has tags that are text, and changes nothing that it shows", () => {
    expectTypeOf(session.tags).toEqualTypeOf<Readonly<Record<string, string>>>();
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    new Session({ tags: { team: 5 } });
    // @ts-expect-error Cannot assign to 'id' because it is a read-only property
    session.id = "other";
    // @ts-expect-error Cannot assign to 'createdAt' because it is a read-only property
    session.createdAt = "now";
  });

  test("can be kept by any store that can append, read, list and delete", () => {
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

  test("takes options that are undefined for those left out", () => {
    new Session({ id: undefined, bus: undefined, tags: undefined, clock: undefined });
  });
});

describe("a slice", () => {
  const spent = defineSlice("shop.spent", {
    initial: { total: 0 },
    on: {
      OrderPlaced: (state, { total }) => ({ total: state.total + total }),
      ToolInvoked: (state, { result }) => (result.success ? state : { total: 0 }),
    },
  });

  test("has the state it starts with, and is how a session is read", () => {
    expectTypeOf(spent).toEqualTypeOf<Slice<{ total: number }>>();
    expectTypeOf(session.register(spent).get(spent)).toEqualTypeOf<{ total: number }>();
  });

  test("says its state where the first one says too little", () => {
    const names = defineSlice<readonly string[]>("names", {
      initial: [],
      on: { ToolInvoked: (all, { name }) => [...all, name] },
    });
    expectTypeOf(session.get(names)).toEqualTypeOf<readonly string[]>();
  });

  test("that is a log has the events it keeps", () => {
    const orders = logSlice("orders", "OrderPlaced");
    expectTypeOf(session.get(orders)).toEqualTypeOf<readonly OrderPlaced[]>();
  });

  test("is held to its state and to events there are", () => {
    // @ts-expect-error Property 'n' is missing in type '{ m: number; }'
    defineSlice("a", { initial: { n: 0 }, on: { OrderPlaced: () => ({ m: 1 }) } });
    // @ts-expect-error 'Tick' does not exist in type 'Reducers<{ n: number; }>'
    defineSlice("a", { initial: { n: 0 }, on: { Tick: () => ({ n: 1 }) } });
    // @ts-expect-error Type 'Promise<{ n: number; }>' is not assignable
    defineSlice("a", { initial: { n: 0 }, on: { OrderPlaced: async () => ({ n: 1 }) } });
  });

  test("of any state is a Slice", () => {
    expectTypeOf([spent, logSlice("orders", "OrderPlaced")]).toExtend<readonly Slice[]>();
  });
});
