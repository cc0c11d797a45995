import { InvalidOptionError } from "../base/errors.ts";
import { frozenCopy, isPlainObject } from "../base/freeze.ts";
import { list } from "../base/show.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";

/** `"state"` is rolled back with a failed tool call, `"log"` is not. */
export type SlicePolicy = "state" | "log";

/** A named part of a session's state, and how each event changes it. Made by `defineSlice`. */
export interface Slice<State = unknown> {
  readonly id: string;
  readonly policy: SlicePolicy;
  readonly initial: State;
  /** The types of the events that change it. */
  readonly events: readonly string[];
  /** What a session keeps of it at first. */
  readonly first: unknown;
  /** What a session keeps of it after an event. */
  reduce(kept: unknown, event: BusEvent): unknown;
  /** What a session keeps of it, as state. */
  read(kept: unknown): State;
  /** State that was text, as what a session keeps; a string says why it cannot be. */
  load(state: unknown): { readonly kept: unknown } | string;
}

/** What a slice is made from. */
export interface SliceOptions<State> {
  readonly initial: State;
  /** Reducers are pure and synchronous. An event that has none leaves the state as it was. */
  readonly on: Reducers<State>;
  /** @default "state" */
  readonly policy?: SlicePolicy | undefined;
}

export type Reducers<State> = {
  readonly [Type in EventType]?: (state: State, event: EventOf<Type>) => NoInfer<State>;
};

/**
 * Makes a slice. `State` is read off `initial`; where that says too little, it is written out.
 *
 * @example
 * const failures = defineSlice<readonly string[]>("failures", {
 *   initial: [],
 *   on: { ToolInvoked: (names, e) => (e.result.success ? names : [...names, e.name]) },
 * });
 */
export function defineSlice<State>(id: string, options: SliceOptions<State>): Slice<State> {
  checkSlice(id, options);
  const initial = frozenCopy(options.initial);
  const reducers = new Map<string, (kept: never, event: never) => unknown>(
    Object.entries(options.on),
  );
  return Object.freeze({
    id,
    policy: options.policy ?? "state",
    initial,
    events: Object.freeze([...reducers.keys()]),
    first: initial,
    reduce(kept: unknown, event: BusEvent) {
      const reducer = reducers.get(event.type);
      return reducer ? reducer(kept as never, event as never) : kept;
    },
    read: (kept: unknown) => kept as State,
    load: (state: unknown) =>
      fits(state, initial)
        ? { kept: frozenCopy(state) }
        : `it holds ${kindOf(state)} where the slice starts with ${kindOf(initial)}`,
  });
}

/** Whether `state` may follow `initial`: a slice that starts with nothing may hold anything. */
function fits(state: unknown, initial: unknown): boolean {
  return initial === null || state === null || kindOf(state) === kindOf(initial);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return isPlainObject(value) ? "an object" : `a ${typeof value}`;
}

function checkSlice<State>(id: string, { on, policy, initial }: SliceOptions<State>): void {
  if (typeof id !== "string" || !/^[\w.:/-]{1,128}$/.test(id)) {
    const rule = "must be 1-128 of letters, digits, _ . : / and -";
    throw new InvalidOptionError({
      field: "defineSlice(id)",
      value: id,
      rule,
      remedy: 'name it like "shop.orders"',
    });
  }
  if (initial === undefined) {
    const rule = "must be given";
    throw new InvalidOptionError({
      field: `Slice "${id}" initial`,
      value: initial,
      rule,
      remedy: "use null for a slice that starts with nothing",
    });
  }
  if (policy !== undefined && policy !== "state" && policy !== "log") {
    const rule = `must be one of ${list(["state", "log"])}`;
    throw new InvalidOptionError({
      field: `Slice "${id}" policy`,
      value: policy,
      rule,
      remedy: '"state" is rolled back with a failed tool call, "log" is not',
    });
  }
  if (!isPlainObject(on)) {
    const rule = "must be an object of reducers";
    throw new InvalidOptionError({
      field: `Slice "${id}" on`,
      value: on,
      rule,
      remedy: "write { ToolInvoked: (state, event) => … }, or {} for none",
    });
  }
  for (const [type, reducer] of Object.entries(on)) {
    if (typeof reducer === "function") continue;
    const rule = "must be a function";
    throw new InvalidOptionError({
      field: `Slice "${id}" on.${type}`,
      value: reducer,
      rule,
      remedy: "(state, event) => the next state",
    });
  }
}

/** What an event did. */
export interface Reduction {
  /** Whether any state is another than before. */
  readonly changed: boolean;
  /** Slices that stayed as they were because their reducers failed. */
  readonly failures: readonly { readonly sliceId: string; readonly message: string }[];
}

/** A slice's state that is to be another. */
export interface StateChange {
  readonly slice: Slice;
  readonly now: unknown;
}
