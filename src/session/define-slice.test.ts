import { describe, expect, test } from "vitest";
import { defineSlice } from "./define-slice.ts";
import type { ReducerFailed } from "./event-map.ts";

const failed: ReducerFailed = {
  type: "ReducerFailed",
  sessionId: "s",
  sliceId: "other",
  eventType: "DoorOpened",
  message: "boom",
  createdAt: "2030-01-01T12:00:00.000Z",
};

const failures = defineSlice<readonly string[]>("shop.failures", {
  initial: [],
  on: { ReducerFailed: (messages, { message }) => [...messages, message] },
});

describe("defineSlice()", () => {
  test("returns a frozen slice with its id, events and default policy", () => {
    expect(failures).toMatchObject({
      id: "shop.failures",
      policy: "state",
      initial: [],
      events: ["ReducerFailed"],
    });
    expect([failures, failures.events, failures.initial].every(Object.isFrozen)).toBe(true);
  });

  test("accepts the log policy", () => {
    expect(defineSlice("a", { initial: 0, on: {}, policy: "log" }).policy).toBe("log");
    expect(defineSlice("a", { initial: 0, on: {}, policy: undefined }).policy).toBe("state");
  });

  test("reduces an event to the next state", () => {
    const next = failures.reduce(failures.first, failed);
    expect(failures.read(next)).toEqual(["boom"]);
    expect(failures.read(failures.first)).toEqual([]);
  });

  test("leaves the state unchanged for an event without a reducer", () => {
    const slice = defineSlice("count", { initial: { n: 0 }, on: {} });
    for (const type of ["ReducerFailed", "toString", "__proto__", "constructor"]) {
      expect(slice.reduce(slice.first, { ...failed, type } as never)).toBe(slice.first);
    }
  });

  test("copies and freezes the initial state and leaves the caller's object unchanged", () => {
    const initial = { list: [1] };
    const slice = defineSlice("a", { initial, on: {} });
    initial.list.push(2);
    expect(slice.initial).toEqual({ list: [1] });
    expect([slice.initial, slice.initial.list].every(Object.isFrozen)).toBe(true);
  });

  test("ignores reducers added to the caller's object later", () => {
    const on: Record<string, () => number> = {};
    const slice = defineSlice<number>("a", { initial: 0, on });
    on["ReducerFailed"] = () => 1;
    expect(slice.reduce(slice.first, failed)).toBe(0);
    expect(slice.events).toEqual([]);
  });

  test.each([null, false, 0, ""])("accepts %j as the initial state", (initial) => {
    expect(defineSlice<unknown>("a", { initial, on: {} }).initial).toBe(initial);
  });

  test.each(["a", "shop.orders", "wink/visibility:1", "A_b-c", "x".repeat(128)])(
    "accepts the id %j",
    (id) => {
      expect(defineSlice(id, { initial: 0, on: {} }).id).toBe(id);
    },
  );
});

describe("Slice.load()", () => {
  test("accepts state of the initial state's type, as a frozen copy", () => {
    const saved = ["boom"];
    const loaded = failures.load(saved);
    saved.push("later");
    expect(loaded).toEqual({ kept: ["boom"] });
    expect(typeof loaded === "object" && loaded.kept).toSatisfy(Object.isFrozen);
  });

  test("rejects state of a different type, naming both types", () => {
    const states = [
      defineSlice<unknown>("a", { initial: [], on: {} }).load({}),
      defineSlice<unknown>("a", { initial: {}, on: {} }).load([]),
      defineSlice<unknown>("a", { initial: 0, on: {} }).load("0"),
      defineSlice<unknown>("a", { initial: "", on: {} }).load(true),
    ];
    expect(states).toEqual([
      "its state is an object, but the slice starts with an array",
      "its state is an array, but the slice starts with an object",
      "its state is a string, but the slice starts with a number",
      "its state is a boolean, but the slice starts with a string",
    ]);
  });

  test("accepts any state if the slice starts with null, and null for any slice", () => {
    const empty = defineSlice<unknown>("a", { initial: null, on: {} });
    for (const state of [1, [], {}, null]) expect(empty.load(state)).toEqual({ kept: state });
    expect(failures.load(null)).toEqual({ kept: null });
  });
});

describe("defineSlice() with invalid options", () => {
  test.each(["", " ", "two words", "x".repeat(129), "größe", "a\n", undefined, 5])(
    "rejects the id %j and suggests a valid one",
    (id) => {
      expect(() => defineSlice(id as never, { initial: 0, on: {} })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: "defineSlice(id)",
          value: id,
          message: expect.stringContaining('Use a name such as "shop.orders".'),
        }),
      );
    },
  );

  test("rejects a missing initial state and suggests null", () => {
    expect(() => defineSlice<unknown>("a", { initial: undefined, on: {} })).toThrow(
      'Slice "a" initial must not be omitted, got undefined. Use null for a slice without an initial state.',
    );
  });

  test("rejects an unknown policy and lists the valid ones", () => {
    expect(() => defineSlice("a", { initial: 0, on: {}, policy: "none" as never })).toThrow(
      expect.objectContaining({
        field: 'Slice "a" policy',
        value: "none",
        message: expect.stringContaining(
          'must be one of "state", "log", got "none". Use "state" to roll it back with a failed tool call, or "log" to keep it.',
        ),
      }),
    );
  });

  test.each([undefined, null, "on", [], () => 1])(
    "rejects %o as reducers and shows an example",
    (on) => {
      expect(() => defineSlice("a", { initial: 0, on: on as never })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: 'Slice "a" on',
          value: on,
          message: expect.stringContaining("(state, event) => …"),
        }),
      );
    },
  );

  test("rejects a reducer that is not a function, naming its event", () => {
    expect(() => defineSlice("a", { initial: 0, on: { ReducerFailed: 5 as never } })).toThrow(
      'Slice "a" on.ReducerFailed must be a function, got 5. Use (state, event) => nextState.',
    );
  });
});
