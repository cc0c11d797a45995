import { expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { defineSlice } from "./define-slice.ts";
import { InProcessEventBus } from "./event-bus.ts";
import { hearsEvent, Session } from "./session.ts";

declare module "./event-map.ts" {
  interface EventMap {
    GongStruck: { readonly type: "GongStruck"; readonly sessionId: string };
  }
}

const strikes = defineSlice<number>("strikes", {
  initial: 0,
  on: { GongStruck: (count) => count + 1 },
});

test("an event is heard by a reducer of the session", () => {
  const session = new Session();
  expect(session[hearsEvent]("GongStruck")).toBe(false);
  session.register(strikes);
  expect(session[hearsEvent]("GongStruck")).toBe(true);
});

test("an event is heard by subscribers, as long as they are subscribed", () => {
  const session = new Session();
  for (const type of ["GongStruck", "*"] as const) {
    const subscription = session.bus.subscribe(type, () => {});
    expect(session[hearsEvent]("GongStruck")).toBe(true);
    subscription[Symbol.dispose]();
    expect(session[hearsEvent]("GongStruck")).toBe(false);
  }
});

test("an event is heard by another session on the bus, which may have the same id", () => {
  const bus = new InProcessEventBus();
  const session = new Session({ bus, id: "s" });
  const twin = new Session({ bus, id: "s" }).register(strikes);
  expect(session[hearsEvent]("GongStruck")).toBe(true);
  session.dispatch({ type: "GongStruck", sessionId: "s" });
  expect(twin.get(strikes)).toBe(1);
  twin[Symbol.dispose]();
  expect(session[hearsEvent]("GongStruck")).toBe(false);
});

test("every event of a stored session is heard", async () => {
  const session = new Session({ store: new MemorySessionStore() });
  expect(session[hearsEvent]("GongStruck")).toBe(true);
  await session.close();
});

test("a bus of the user's own hears everything, unless it says otherwise", () => {
  const subscribe = () => ({ [Symbol.dispose]() {} });
  const bus = { publish() {}, subscribe };
  expect(new Session({ bus })[hearsEvent]("GongStruck")).toBe(true);
  const deaf = { ...bus, hears: () => false };
  expect(new Session({ bus: deaf })[hearsEvent]("GongStruck")).toBe(false);
});
