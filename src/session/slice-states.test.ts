import { expect, test } from "vitest";
import { logSlice } from "./log-slice.ts";
import { defineSlice } from "./slice.ts";
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

const opened = (by: number): LidLifted => ({ type: "LidLifted", by });
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

function statesOf(...slices: Parameters<SliceStates["add"]>[0][]): SliceStates {
  const states = new SliceStates();
  for (const slice of slices) states.add(slice);
  return states;
}

test("a slice is new once", () => {
  const states = new SliceStates();
  expect([states.add(width), states.add(width)]).toEqual([true, false]);
});

test("events that no slice has a reducer for are not heard", () => {
  const states = statesOf(width);
  expect([states.hears("LidLifted"), states.hears("ReducerFailed")]).toEqual([true, false]);
});

test("an event tells whether it changed anything, and who failed", () => {
  const states = statesOf(width, broken);
  const failures = [{ sliceId: "broken", message: "boom" }];
  expect(states.reduce(opened(5))).toEqual({ changed: true, failures });
  expect(states.reduce(opened(0))).toEqual({ changed: false, failures });
  expect(states.reduce(opened(5), ["width", "broken"])).toEqual({ changed: false, failures: [] });
  expect(states.get(width)).toEqual({ cm: 5 });
  expect(states.reducing).toBe(false);
});

test("what must change is worked out before anything does", () => {
  const states = statesOf(width, openings);
  const before = states.snapshot();
  expect(states.changesTo(before)).toEqual([]);
  states.reduce(opened(5));
  const changes = states.changesTo(before);
  expect(changes).toEqual([{ slice: width, now: { cm: 0 } }]);
  expect(states.get(width)).toEqual({ cm: 5 });
  states.apply(changes);
  expect([states.get(width), states.get(openings)]).toEqual([{ cm: 0 }, [opened(5)]]);
});

test("states of text are taken over all or not at all", () => {
  const states = statesOf(width, openings);
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
