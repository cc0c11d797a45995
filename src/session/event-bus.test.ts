import { afterEach, describe, expect, test, vi } from "vitest";
import { InProcessEventBus, nullEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";
import { Session } from "./session.ts";

interface BellRang {
  readonly type: "BellRang";
  readonly floor: number;
}

declare module "./event-map.ts" {
  interface EventMap {
    BellRang: BellRang;
    DoorOpened: { readonly type: "DoorOpened" };
  }
}

const createBellRang = (floor: number): BellRang => ({ type: "BellRang", floor });

afterEach(() => vi.restoreAllMocks());

describe("InProcessEventBus.publish()", () => {
  test("delivers an event only to subscribers of its type and of all types", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("BellRang", ({ floor }) => void heard.push(`bell ${floor}`));
    bus.subscribe("*", ({ type }) => void heard.push(`any ${type}`));
    bus.subscribe("DoorOpened", () => void heard.push("door"));
    bus.publish(createBellRang(3));
    expect(heard).toEqual(["bell 3", "any BellRang"]);
  });

  test.each(["HistoryAdvanced", "CompactionKept"] as const)(
    "delivers %s, which stores a conversation, only to subscribers of its type",
    (type) => {
      const bus = new InProcessEventBus();
      const heard: string[] = [];
      bus.subscribe("*", () => void heard.push("any"));
      bus.subscribe(type as never, () => void heard.push("named"));
      bus.publish({ type } as never);
      expect(heard).toEqual(["named"]);
    },
  );

  test("delivers to subscribers in the order they subscribed, before it returns", () => {
    const bus = new InProcessEventBus();
    const order: number[] = [];
    bus.subscribe("*", () => void order.push(1));
    bus.subscribe("BellRang", () => void order.push(2));
    bus.subscribe("*", () => void order.push(3));
    bus.subscribe("BellRang", () => void order.push(4));
    bus.publish(createBellRang(1));
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test("delivers the published object itself", () => {
    const bus = new InProcessEventBus();
    const heard: BusEvent[] = [];
    bus.subscribe("*", (event) => void heard.push(event));
    const event = createBellRang(1);
    bus.publish(event);
    expect(heard[0]).toBe(event);
  });

  test("accepts an event without subscribers", () => {
    expect(new InProcessEventBus().publish(createBellRang(1))).toBeUndefined();
  });

  test("delivers an event published by a handler before the rest of the first event", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("BellRang", () => bus.publish({ type: "DoorOpened" }));
    bus.subscribe("*", ({ type }) => void heard.push(type));
    bus.publish(createBellRang(1));
    expect(heard).toEqual(["DoorOpened", "BellRang"]);
  });

  test("accepts event types named like members of Object.prototype", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("*", ({ type }) => void heard.push(type));
    for (const type of ["toString", "__proto__", "constructor"]) bus.publish({ type } as never);
    expect(heard).toEqual(["toString", "__proto__", "constructor"]);
  });
});

describe("InProcessEventBus with a failing handler", () => {
  test("delivers to the other handlers and reports the error with the event", () => {
    const reported: unknown[] = [];
    const bus = new InProcessEventBus({ onError: (...report) => void reported.push(report) });
    const heard: number[] = [];
    const error = new Error("boom");
    bus.subscribe("BellRang", () => {
      throw error;
    });
    bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
    const event = createBellRang(1);
    bus.publish(event);
    expect(heard).toEqual([1]);
    expect(reported).toEqual([[error, event]]);
  });

  test("reports a rejected promise", async () => {
    const onError = vi.fn();
    const bus = new InProcessEventBus({ onError });
    bus.subscribe("BellRang", async () => Promise.reject(new Error("late")));
    const event = createBellRang(1);
    bus.publish(event);
    await vi.waitFor(() =>
      expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("late"), event),
    );
  });

  test("emits a process warning without onError", () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const bus = new InProcessEventBus();
    bus.subscribe("BellRang", () => {
      throw new Error("boom");
    });
    bus.publish(createBellRang(1));
    expect(warned).toHaveBeenCalledWith("A subscriber to BellRang failed: boom", "WinkWarning");
  });

  test("keeps the handler subscribed", () => {
    const onError = vi.fn();
    const bus = new InProcessEventBus({ onError });
    bus.subscribe("BellRang", () => {
      throw new Error("boom");
    });
    bus.publish(createBellRang(1));
    bus.publish(createBellRang(2));
    expect(onError).toHaveBeenCalledTimes(2);
  });
});

describe("InProcessEventBus with a failing onError", () => {
  const failing = [
    ["throws", () => fail()],
    ["rejects", async () => fail()],
  ] as const;

  test.each(failing)(
    "emits a process warning if it %s, and continues delivery",
    async (_how, onError) => {
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      const bus = new InProcessEventBus({ onError: () => onError() });
      const heard: number[] = [];
      bus.subscribe("BellRang", () => fail());
      bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
      bus.publish(createBellRang(1));
      expect(heard).toEqual([1]);
      await vi.waitFor(() =>
        expect(warned).toHaveBeenCalledExactlyOnceWith(
          "The event bus's onError failed for BellRang: boom",
          "WinkWarning",
        ),
      );
    },
  );

  function fail(): never {
    throw new Error("boom");
  }
});

describe("InProcessEventBus.subscribe()", () => {
  test("ends the subscription with its scope", () => {
    const bus = new InProcessEventBus();
    const heard: number[] = [];
    {
      using _watch = bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
      bus.publish(createBellRang(1));
    }
    bus.publish(createBellRang(2));
    expect(heard).toEqual([1]);
  });

  test("allows disposing twice and affects no other subscription", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    const handler = () => void heard.push("both have this handler");
    const first = bus.subscribe("BellRang", handler);
    bus.subscribe("BellRang", handler);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    bus.publish(createBellRang(1));
    expect(heard).toHaveLength(1);
  });

  test("stops delivery to a subscription that a handler disposed during delivery", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("BellRang", () => later[Symbol.dispose]());
    const later = bus.subscribe("BellRang", () => void heard.push("later"));
    bus.subscribe("BellRang", () => void heard.push("last"));
    bus.publish(createBellRang(1));
    expect(heard).toEqual(["last"]);
  });

  test("lets a handler unsubscribe itself during delivery", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    const once = bus.subscribe("BellRang", () => {
      heard.push("once");
      once[Symbol.dispose]();
    });
    bus.subscribe("BellRang", () => void heard.push("each time"));
    bus.publish(createBellRang(1));
    bus.publish(createBellRang(2));
    expect(heard).toEqual(["once", "each time", "each time"]);
  });

  test("delivers only later events to a subscription made during delivery", () => {
    const bus = new InProcessEventBus();
    const heard: number[] = [];
    const first = bus.subscribe("BellRang", () => {
      first[Symbol.dispose]();
      bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
    });
    bus.publish(createBellRang(1));
    bus.publish(createBellRang(2));
    expect(heard).toEqual([2]);
  });

  test("delivers only later events to a subscription made after others", () => {
    const bus = new InProcessEventBus();
    bus.publish(createBellRang(1));
    const heard: number[] = [];
    bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
    bus.publish(createBellRang(2));
    expect(heard).toEqual([2]);
  });
});

test("nullEventBus discards events, and its subscriptions can be disposed", () => {
  const handler = vi.fn();
  const subscription = nullEventBus.subscribe("*", handler);
  nullEventBus.publish(createBellRang(1));
  subscription[Symbol.dispose]();
  expect(handler).not.toHaveBeenCalled();
  expect(nullEventBus).toSatisfy(Object.isFrozen);
});

describe("EventBus.hears()", () => {
  test("is true for types with a subscriber, and for all types with a subscriber of all", () => {
    const bus = new InProcessEventBus();
    const listHeard = () => ["BellRang", "DoorOpened", "Unknown"].map((type) => bus.hears(type));
    expect(listHeard()).toEqual([false, false, false]);
    const bell = bus.subscribe("BellRang", () => {});
    expect(listHeard()).toEqual([true, false, false]);
    const all = bus.subscribe("*", () => {});
    expect(listHeard()).toEqual([true, true, true]);
    bell[Symbol.dispose]();
    all[Symbol.dispose]();
    expect(listHeard()).toEqual([false, false, false]);
  });

  test("is false for events that store a conversation if only a subscriber of all listens", () => {
    const bus = new InProcessEventBus();
    bus.subscribe("*", () => {});
    expect(bus.hears("HistoryAdvanced")).toBe(false);
    bus.subscribe("HistoryAdvanced" as never, () => {});
    expect(bus.hears("HistoryAdvanced")).toBe(true);
  });

  test("does not count sessions, which subscribe to their bus themselves", () => {
    const bus = new InProcessEventBus();
    const session = new Session({ bus });
    expect(bus.hears("BellRang")).toBe(false);
    session.bus.subscribe("BellRang", () => {});
    expect(bus.hears("BellRang")).toBe(true);
  });

  test("is always false on nullEventBus", () => {
    expect(nullEventBus.hears?.("BellRang")).toBe(false);
  });
});
