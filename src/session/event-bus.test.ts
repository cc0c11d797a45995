import { afterEach, describe, expect, test, vi } from "vitest";
import { InProcessEventBus, nullEventBus } from "./event-bus.ts";
import type { BusEvent } from "./event-map.ts";

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

const rang = (floor: number): BellRang => ({ type: "BellRang", floor });

afterEach(() => vi.restoreAllMocks());

describe("an event", () => {
  test("is heard by who asked for its type or for all, and by nobody else", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("BellRang", ({ floor }) => void heard.push(`bell ${floor}`));
    bus.subscribe("*", ({ type }) => void heard.push(`any ${type}`));
    bus.subscribe("DoorOpened", () => void heard.push("door"));
    bus.publish(rang(3));
    expect(heard).toEqual(["bell 3", "any BellRang"]);
  });

  test("reaches its subscribers in the order they came, before publish returns", () => {
    const bus = new InProcessEventBus();
    const order: number[] = [];
    bus.subscribe("*", () => void order.push(1));
    bus.subscribe("BellRang", () => void order.push(2));
    bus.subscribe("*", () => void order.push(3));
    bus.subscribe("BellRang", () => void order.push(4));
    bus.publish(rang(1));
    expect(order).toEqual([1, 2, 3, 4]);
  });

  test("arrives as the object that was published", () => {
    const bus = new InProcessEventBus();
    const heard: BusEvent[] = [];
    bus.subscribe("*", (event) => void heard.push(event));
    const event = rang(1);
    bus.publish(event);
    expect(heard[0]).toBe(event);
  });

  test("that nobody waits for does no harm", () => {
    expect(new InProcessEventBus().publish(rang(1))).toBeUndefined();
  });

  test("published by a handler is heard by all before the rest hear of the first", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("BellRang", () => bus.publish({ type: "DoorOpened" }));
    bus.subscribe("*", ({ type }) => void heard.push(type));
    bus.publish(rang(1));
    expect(heard).toEqual(["DoorOpened", "BellRang"]);
  });

  test("of a type named like a member of every object is an event like any other", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("*", ({ type }) => void heard.push(type));
    for (const type of ["toString", "__proto__", "constructor"]) bus.publish({ type } as never);
    expect(heard).toEqual(["toString", "__proto__", "constructor"]);
  });
});

describe("a handler that fails", () => {
  test("does not keep the event from the others, and is reported with it", () => {
    const reported: unknown[] = [];
    const bus = new InProcessEventBus({ onError: (...report) => void reported.push(report) });
    const heard: number[] = [];
    const error = new Error("boom");
    bus.subscribe("BellRang", () => {
      throw error;
    });
    bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
    const event = rang(1);
    bus.publish(event);
    expect(heard).toEqual([1]);
    expect(reported).toEqual([[error, event]]);
  });

  test("by a rejection is reported too", async () => {
    const onError = vi.fn();
    const bus = new InProcessEventBus({ onError });
    bus.subscribe("BellRang", async () => Promise.reject(new Error("late")));
    const event = rang(1);
    bus.publish(event);
    await vi.waitFor(() =>
      expect(onError).toHaveBeenCalledExactlyOnceWith(new Error("late"), event),
    );
  });

  test("is a process warning where nobody else wants to know", () => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const bus = new InProcessEventBus();
    bus.subscribe("BellRang", () => {
      throw new Error("boom");
    });
    bus.publish(rang(1));
    expect(warned).toHaveBeenCalledWith("A subscriber to BellRang failed: boom", "WinkWarning");
  });

  test("stays subscribed", () => {
    const onError = vi.fn();
    const bus = new InProcessEventBus({ onError });
    bus.subscribe("BellRang", () => {
      throw new Error("boom");
    });
    bus.publish(rang(1));
    bus.publish(rang(2));
    expect(onError).toHaveBeenCalledTimes(2);
  });
});

describe("an onError that fails itself", () => {
  const failing = [
    ["throws", () => fail()],
    ["rejects", async () => fail()],
  ] as const;

  test.each(failing)(
    "and %s is a process warning, and the event goes on",
    async (_how, onError) => {
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      const bus = new InProcessEventBus({ onError: () => onError() });
      const heard: number[] = [];
      bus.subscribe("BellRang", () => fail());
      bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
      bus.publish(rang(1));
      expect(heard).toEqual([1]);
      await vi.waitFor(() =>
        expect(warned).toHaveBeenCalledExactlyOnceWith(
          "onError of a bus failed on BellRang: boom",
          "WinkWarning",
        ),
      );
    },
  );

  function fail(): never {
    throw new Error("boom");
  }
});

describe("a subscription", () => {
  test("ends with its scope", () => {
    const bus = new InProcessEventBus();
    const heard: number[] = [];
    {
      using _watch = bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
      bus.publish(rang(1));
    }
    bus.publish(rang(2));
    expect(heard).toEqual([1]);
  });

  test("can be disposed of twice, and takes no other with it", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    const handler = () => void heard.push("both have this handler");
    const first = bus.subscribe("BellRang", handler);
    bus.subscribe("BellRang", handler);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    bus.publish(rang(1));
    expect(heard).toHaveLength(1);
  });

  test("that a handler ends during delivery hears no more of that event", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    bus.subscribe("BellRang", () => later[Symbol.dispose]());
    const later = bus.subscribe("BellRang", () => void heard.push("later"));
    bus.subscribe("BellRang", () => void heard.push("last"));
    bus.publish(rang(1));
    expect(heard).toEqual(["last"]);
  });

  test("that ends itself during delivery keeps nobody from the event", () => {
    const bus = new InProcessEventBus();
    const heard: string[] = [];
    const once = bus.subscribe("BellRang", () => {
      heard.push("once");
      once[Symbol.dispose]();
    });
    bus.subscribe("BellRang", () => void heard.push("each time"));
    bus.publish(rang(1));
    bus.publish(rang(2));
    expect(heard).toEqual(["once", "each time", "each time"]);
  });

  test("made during delivery hears the next event, not this one", () => {
    const bus = new InProcessEventBus();
    const heard: number[] = [];
    const first = bus.subscribe("BellRang", () => {
      first[Symbol.dispose]();
      bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
    });
    bus.publish(rang(1));
    bus.publish(rang(2));
    expect(heard).toEqual([2]);
  });

  test("made after events were published hears the next", () => {
    const bus = new InProcessEventBus();
    bus.publish(rang(1));
    const heard: number[] = [];
    bus.subscribe("BellRang", ({ floor }) => void heard.push(floor));
    bus.publish(rang(2));
    expect(heard).toEqual([2]);
  });
});

test("the null bus delivers nothing, and its subscriptions can be ended", () => {
  const handler = vi.fn();
  const subscription = nullEventBus.subscribe("*", handler);
  nullEventBus.publish(rang(1));
  subscription[Symbol.dispose]();
  expect(handler).not.toHaveBeenCalled();
  expect(nullEventBus).toSatisfy(Object.isFrozen);
});
