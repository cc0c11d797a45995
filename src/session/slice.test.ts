import { describe, expect, test } from "vitest";
import type { ReducerFailed } from "./event-map.ts";
import { defineSlice } from "./slice.ts";

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

describe("a slice", () => {
  test("says what it is called, what it hears and that it is rolled back", () => {
    expect(failures).toMatchObject({
      id: "shop.failures",
      policy: "state",
      initial: [],
      events: ["ReducerFailed"],
    });
    expect([failures, failures.events, failures.initial].every(Object.isFrozen)).toBe(true);
  });

  test("is a log if asked to be", () => {
    expect(defineSlice("a", { initial: 0, on: {}, policy: "log" }).policy).toBe("log");
    expect(defineSlice("a", { initial: 0, on: {}, policy: undefined }).policy).toBe("state");
  });

  test("makes the next state of an event", () => {
    const next = failures.reduce(failures.first, failed);
    expect(failures.read(next)).toEqual(["boom"]);
    expect(failures.read(failures.first)).toEqual([]);
  });

  test("is left untouched by an event without a reducer, whatever that is called", () => {
    const slice = defineSlice("count", { initial: { n: 0 }, on: {} });
    for (const type of ["ReducerFailed", "toString", "__proto__", "constructor"]) {
      expect(slice.reduce(slice.first, { ...failed, type } as never)).toBe(slice.first);
    }
  });

  test("keeps a frozen copy of how it starts, and leaves the caller's object alone", () => {
    const initial = { list: [1] };
    const slice = defineSlice("a", { initial, on: {} });
    initial.list.push(2);
    expect(slice.initial).toEqual({ list: [1] });
    expect([slice.initial, slice.initial.list].every(Object.isFrozen)).toBe(true);
  });

  test("does not see reducers added to the caller's object later", () => {
    const on: Record<string, () => number> = {};
    const slice = defineSlice<number>("a", { initial: 0, on });
    on["ReducerFailed"] = () => 1;
    expect(slice.reduce(slice.first, failed)).toBe(0);
    expect(slice.events).toEqual([]);
  });

  test.each([null, false, 0, ""])("may start with %j", (initial) => {
    expect(defineSlice<unknown>("a", { initial, on: {} }).initial).toBe(initial);
  });

  test.each(["a", "shop.orders", "wink/visibility:1", "A_b-c", "x".repeat(128)])(
    "may be called %j",
    (id) => {
      expect(defineSlice(id, { initial: 0, on: {} }).id).toBe(id);
    },
  );
});

describe("saved state", () => {
  test("of the kind the slice starts with is loaded, as a frozen copy", () => {
    const saved = ["boom"];
    const loaded = failures.load(saved);
    saved.push("later");
    expect(loaded).toEqual({ kept: ["boom"] });
    expect(typeof loaded === "object" && loaded.kept).toSatisfy(Object.isFrozen);
  });

  test("of another kind is refused, saying both", () => {
    const states = [
      defineSlice<unknown>("a", { initial: [], on: {} }).load({}),
      defineSlice<unknown>("a", { initial: {}, on: {} }).load([]),
      defineSlice<unknown>("a", { initial: 0, on: {} }).load("0"),
      defineSlice<unknown>("a", { initial: "", on: {} }).load(true),
    ];
    expect(states).toEqual([
      "it holds an object where the slice starts with a list",
      "it holds a list where the slice starts with an object",
      "it holds a string where the slice starts with a number",
      "it holds a boolean where the slice starts with a string",
    ]);
  });

  test("may be anything where the slice starts with nothing, and nothing where it does not", () => {
    const empty = defineSlice<unknown>("a", { initial: null, on: {} });
    for (const state of [1, [], {}, null]) expect(empty.load(state)).toEqual({ kept: state });
    expect(failures.load(null)).toEqual({ kept: null });
  });
});

describe("a refusal", () => {
  test.each(["", " ", "two words", "x".repeat(129), "größe", "a\n", undefined, 5])(
    "of %j for an id names it and shows one that is fine",
    (id) => {
      expect(() => defineSlice(id as never, { initial: 0, on: {} })).toThrow(
        expect.objectContaining({
          name: "InvalidOptionError",
          field: "defineSlice(id)",
          value: id,
          message: expect.stringContaining('name it like "shop.orders"'),
        }),
      );
    },
  );

  test("of a missing initial state says to use null", () => {
    expect(() => defineSlice<unknown>("a", { initial: undefined, on: {} })).toThrow(
      'Slice "a" initial must be given, got undefined. Use null for a slice that starts with nothing',
    );
  });

  test("of an unknown policy says which there are", () => {
    expect(() => defineSlice("a", { initial: 0, on: {}, policy: "none" as never })).toThrow(
      expect.objectContaining({
        field: 'Slice "a" policy',
        value: "none",
        message: expect.stringContaining('must be one of "state", "log", got "none": "state" is'),
      }),
    );
  });

  test.each([undefined, null, "on", [], () => 1])("of %o for its reducers shows how", (on) => {
    expect(() => defineSlice("a", { initial: 0, on: on as never })).toThrow(
      expect.objectContaining({
        name: "InvalidOptionError",
        field: 'Slice "a" on',
        value: on,
        message: expect.stringContaining("(state, event) => …"),
      }),
    );
  });

  test("of a reducer that is no function names its event", () => {
    expect(() => defineSlice("a", { initial: 0, on: { ReducerFailed: 5 as never } })).toThrow(
      'Slice "a" on.ReducerFailed must be a function, got 5: (state, event) => the next state',
    );
  });
});
