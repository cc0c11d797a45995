import { describe, expect, test } from "vitest";
import type { Clock } from "../base/clock.ts";
import { defineSlice } from "./define-slice.ts";
import type { BusEvent } from "./event-map.ts";
import { logSlice } from "./log-slice.ts";
import { Session } from "./session.ts";

interface CoinRefunded {
  readonly type: "CoinRefunded";
  readonly sessionId?: string;
  readonly cents: number;
}

declare module "./event-map.ts" {
  interface EventMap {
    CoinRefunded: CoinRefunded;
  }
}

const noon = Date.UTC(2030, 0, 1, 12);
const clock: Clock = { now: () => noon, sleep: async () => {} };
const createCoinRefunded = (cents: number, sessionId?: string): CoinRefunded =>
  sessionId === undefined
    ? { type: "CoinRefunded", cents }
    : { type: "CoinRefunded", cents, sessionId };

const till = defineSlice("till", {
  initial: { cents: 0 },
  on: { CoinRefunded: (state, { cents }) => ({ cents: state.cents + cents }) },
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
      "by throwing a string",
      () => {
        throw "boom" as unknown;
      },
      '"boom"',
    ],
    [
      "by returning undefined",
      () => undefined as never,
      "The reducer returned undefined. Return the next state.",
    ],
    [
      "by returning a promise",
      () => Promise.resolve({ cents: 1 }) as never,
      "The reducer returned a promise. Reducers must be synchronous.",
    ],
    [
      "by returning a promise that fails later",
      () => Promise.reject(new Error("late")) as never,
      "The reducer returned a promise. Reducers must be synchronous.",
    ],
  ];

  test.each(failing)("%s leaves its slice unchanged while other slices change", (_how, reducer) => {
    const broken = defineSlice("broken", { initial: { n: 1 }, on: { CoinRefunded: reducer } });
    const session = new Session().register(broken).register(till);
    session.dispatch(createCoinRefunded(5));
    expect(session.get(broken)).toBe(broken.initial);
    expect(session.get(till)).toEqual({ cents: 5 });
  });

  test.each(failing)(
    "%s is published as ReducerFailed before the event",
    (_how, reducer, message) => {
      const broken = defineSlice("broken", { initial: { n: 1 }, on: { CoinRefunded: reducer } });
      const session = new Session({ id: "s", clock }).register(broken);
      const heard: BusEvent[] = [];
      session.bus.subscribe("*", (event) => void heard.push(event));
      session.dispatch(createCoinRefunded(5));
      expect(heard).toEqual([
        {
          type: "ReducerFailed",
          sessionId: "s",
          sliceId: "broken",
          eventType: "CoinRefunded",
          message,
          createdAt: "2030-01-01T12:00:00.000Z",
        },
        createCoinRefunded(5),
      ]);
      expect(heard[0]).toSatisfy(Object.isFrozen);
    },
  );

  const thrower = defineSlice("thrower", {
    initial: 0,
    on: {
      CoinRefunded: () => {
        throw new Error("boom");
      },
    },
  });

  test("on an event of another publisher is reported too", () => {
    const session = new Session({ id: "s" }).register(thrower);
    const heard: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ sliceId }) => void heard.push(sliceId));
    session.bus.publish(createCoinRefunded(5, "s"));
    expect(heard).toEqual(["thrower"]);
  });

  test("is reported once per failure in an event that slices can log", () => {
    const failures = logSlice("failures", "ReducerFailed");
    const twin = defineSlice("twin", {
      initial: 0,
      on: {
        CoinRefunded: () => {
          throw new Error("boom too");
        },
      },
    });
    const session = new Session().register(thrower).register(twin).register(failures);
    session.dispatch(createCoinRefunded(5));
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
    session.dispatch(createCoinRefunded(5));
    expect(heard).toEqual(["ReducerFailed", "CoinRefunded"]);
  });

  test("because it dispatched gets an error that reducers only compute", () => {
    const session = new Session();
    const eager = defineSlice("eager", {
      initial: 0,
      on: {
        CoinRefunded: (state) => {
          session.dispatch(createCoinRefunded(1));
          return state + 1;
        },
      },
    });
    const messages: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ message }) => void messages.push(message));
    session.register(eager).register(till).dispatch(createCoinRefunded(5));
    expect(messages).toEqual([
      'Session.dispatch must not be called by a reducer, got "CoinRefunded". Dispatch from a ' +
        "subscriber or a tool; a reducer only computes the next state.",
    ]);
    expect([session.get(eager), session.get(till).cents]).toEqual([0, 5]);
    session.dispatch(createCoinRefunded(1, "t"));
    expect(session.get(till).cents).toBe(6); // later events work as before
  });

  test("because it mutated the state has changed nothing", () => {
    const list: readonly number[] = [];
    const careless = defineSlice<readonly number[]>("careless", {
      initial: list,
      on: {
        CoinRefunded: (state, { cents }) => {
          (state as number[]).push(cents);
          return state;
        },
      },
    });
    const session = new Session().register(careless);
    const failed: string[] = [];
    session.bus.subscribe("ReducerFailed", ({ message }) => void failed.push(message));
    session.dispatch(createCoinRefunded(5));
    expect(session.get(careless)).toEqual([]);
    expect(failed).toEqual([expect.stringContaining("not extensible")]);
  });
});
