import { expect, test } from "vitest";
import { defineSlice } from "./define-slice.ts";
import { logSlice } from "./log-slice.ts";
import { SliceStates } from "./slice-states.ts";

interface LidLifted {
  readonly type: "LidLifted";
  readonly by: number;
}

declare module "./event-map.ts" {
  interface EventMap {
    LidLifted: LidLifted;
  }
}

const createLidLifted = (by: number): LidLifted => ({ type: "LidLifted", by });
const width = defineSlice("width", {
  initial: { cm: 0 },
  on: { LidLifted: (state, { by }) => (by === 0 ? state : { cm: state.cm + by }) },
});
const broken = defineSlice("broken", {
  initial: 0,
  on: {
    LidLifted: () => {
      throw new Error("boom");
    },
  },
});
const openings = logSlice("openings", "LidLifted");

function createStates(...slices: Parameters<SliceStates["add"]>[0][]): SliceStates {
  const states = new SliceStates();
  for (const slice of slices) states.add(slice);
  return states;
}

test("SliceStates.add() returns false for a slice that was already added", () => {
  const states = new SliceStates();
  expect([states.add(width), states.add(width)]).toEqual([true, false]);
});

test("SliceStates.hasReducerFor() is false for events without a reducer", () => {
  const states = createStates(width);
  expect([states.hasReducerFor("LidLifted"), states.hasReducerFor("ReducerFailed")]).toEqual([
    true,
    false,
  ]);
});

test("SliceStates.reduce() reports whether a slice with marks changed", () => {
  const states = createStates({ ...width, marks: true });
  expect(states.reduce(createLidLifted(5))).toMatchObject({ changed: true, marked: true });
  expect(states.reduce(createLidLifted(5), ["width"])).toMatchObject({ marked: false });
});

test("SliceStates.reduce() reports whether the state changed and which reducers failed", () => {
  const states = createStates(width, broken);
  const failures = [{ sliceId: "broken", message: "boom" }];
  expect(states.reduce(createLidLifted(5))).toEqual({
    changed: true,
    marked: false,
    failures,
  });
  expect(states.reduce(createLidLifted(0))).toEqual({
    changed: false,
    marked: false,
    failures,
  });
  expect(states.reduce(createLidLifted(5), ["width", "broken"])).toEqual({
    changed: false,
    marked: false,
    failures: [],
  });
  expect(states.get(width)).toEqual({ cm: 5 });
  expect(states.isReducing).toBe(false);
});

test("SliceStates.findChanges() returns the changes without applying them", () => {
  const states = createStates(width, openings);
  const before = states.snapshot();
  expect(states.findChanges(before)).toEqual([]);
  states.reduce(createLidLifted(5));
  const changes = states.findChanges(before);
  expect(changes).toEqual([{ slice: width, now: { cm: 0 } }]);
  expect(states.get(width)).toEqual({ cm: 5 });
  states.apply(changes);
  expect([states.get(width), states.get(openings)]).toEqual([{ cm: 0 }, [createLidLifted(5)]]);
});

test("SliceStates.load() loads all states or none", () => {
  const states = createStates(width, openings);
  expect(() => states.load({ width: { cm: 1 }, openings: 5 })).toThrow('Slice "openings"');
  expect(() => states.load({ width: { cm: 1 }, gone: 5 })).toThrow(
    'No slice is registered as "gone"',
  );
  expect(states.get(width)).toEqual({ cm: 0 });
  states.load({ width: { cm: 1 } });
  expect(states.entries()).toEqual([
    ["width", { cm: 1 }],
    ["openings", []],
  ]);
});
