import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";

/** What happens to a slice when a tool call fails: `"state"` is rolled back, `"log"` is not. */
export type SlicePolicy = "state" | "log";

/** A named part of a session's state and its reducers. Create one with `defineSlice`. */
export interface Slice<State = unknown> {
  /** Identifies the slice within a session. */
  readonly id: string;
  /** Whether a failed tool call rolls the slice back. */
  readonly policy: SlicePolicy;
  /** The state before the first event. */
  readonly initial: State;
  /** Types of the events that change the slice. */
  readonly events: readonly string[];
  /** The session's internal representation of `initial`. */
  readonly first: unknown;
  /** Computes the next internal representation from an event. */
  reduce(kept: unknown, event: BusEvent): unknown;
  /** Converts the internal representation to state. */
  read(kept: unknown): State;
  /** Converts parsed state to the internal representation, or returns the reason why it cannot. */
  load(state: unknown): { readonly kept: unknown } | string;
}

/** Options of {@link defineSlice}. */
export interface SliceOptions<State> {
  /** The state before the first event. */
  readonly initial: State;
  /** Pure, synchronous reducers by event type. Other events leave the state unchanged. */
  readonly on: Reducers<State>;
  /** Whether a failed tool call rolls the slice back. @default "state" */
  readonly policy?: SlicePolicy | undefined;
}

const sliceKeys: KnownKeys<SliceOptions<unknown>> = {
  initial: true,
  on: true,
  policy: true,
};

/** Reducers by event type. */
export type Reducers<State> = {
  readonly [Type in EventType]?: (state: State, event: EventOf<Type>) => NoInfer<State>;
};

/**
 * Defines a slice. `State` is inferred from `initial`; pass it explicitly if that is too narrow.
 *
 * @example
 * ```ts
 * import { defineSlice, Session } from "weakincentives";
 *
 * const failures = defineSlice<readonly string[]>("failures", {
 *   initial: [],
 *   on: { ToolInvoked: (names, e) => (e.result.success ? names : [...names, e.name]) },
 * });
 * const session = new Session();
 * session.register(failures);
 * const names = session.get(failures);
 * ```
 */
export function defineSlice<State>(id: string, options: SliceOptions<State>): Slice<State> {
  checkSlice(id, options);
  const initial = copyAndFreeze(options.initial);
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
      isCompatible(state, initial)
        ? { kept: copyAndFreeze(state) }
        : `its state is ${describeType(state)}, but the slice starts with ${describeType(initial)}`,
  });
}

/**
 * Returns whether `state` has the type of `initial`. A slice that starts with `null` accepts any
 * state.
 */
function isCompatible(state: unknown, initial: unknown): boolean {
  return initial === null || state === null || describeType(state) === describeType(initial);
}

function describeType(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return isPlainObject(value) ? "an object" : `a ${typeof value}`;
}

function checkSlice<State>(id: string, options: SliceOptions<State>): void {
  if (typeof id !== "string" || !/^[\w.:/-]{1,128}$/.test(id)) {
    const rule = "must be 1-128 letters, digits, _ . : / and -";
    throw new InvalidOptionError({
      field: "defineSlice(id)",
      value: id,
      rule,
      remedy: 'use a name such as "shop.orders"',
    });
  }
  checkKnownKeys(options, `Slice "${id}"`, sliceKeys);
  const { on, policy, initial } = options;
  if (initial === undefined) {
    const rule = "must not be omitted";
    throw new InvalidOptionError({
      field: `Slice "${id}" initial`,
      value: initial,
      rule,
      remedy: "use null for a slice without an initial state",
    });
  }
  if (policy !== undefined && policy !== "state" && policy !== "log") {
    const rule = `must be one of ${quoteNames(["state", "log"])}`;
    throw new InvalidOptionError({
      field: `Slice "${id}" policy`,
      value: policy,
      rule,
      remedy: 'use "state" to roll it back with a failed tool call, or "log" to keep it',
    });
  }
  if (!isPlainObject(on)) {
    const rule = "must be an object of reducers";
    throw new InvalidOptionError({
      field: `Slice "${id}" on`,
      value: on,
      rule,
      remedy: "use { ToolInvoked: (state, event) => … }, or {} for none",
    });
  }
  for (const [type, reducer] of Object.entries(on)) {
    if (typeof reducer === "function") continue;
    const rule = "must be a function";
    throw new InvalidOptionError({
      field: `Slice "${id}" on.${type}`,
      value: reducer,
      rule,
      remedy: "use (state, event) => nextState",
    });
  }
}

/** The effect of an event. */
export interface Reduction {
  /** Whether any state changed. */
  readonly changed: boolean;
  /** Slices that kept their state because their reducers failed. */
  readonly failures: readonly { readonly sliceId: string; readonly message: string }[];
}

/** A slice and its new state. */
export interface StateChange {
  readonly slice: Slice;
  readonly now: unknown;
}
