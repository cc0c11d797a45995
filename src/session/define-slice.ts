import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../base/errors.ts";
import { copyAndFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames } from "../base/quote-value.ts";
import type { BusEvent, EventOf, EventType } from "./event-map.ts";
import type { Slice, SlicePolicy } from "./slice.ts";

/** Options of {@link defineSlice}. */
export interface SliceOptions<State> {
  /** The state before the first event. */
  readonly initial: State;
  /** Pure, synchronous reducers by event type. Other events leave the state unchanged. */
  readonly on: Reducers<State>;
  /** Whether a failed tool call rolls the slice back. @default "state" */
  readonly policy?: SlicePolicy | undefined;
  /**
   * Change it if a function that the reducers call has changed, but not the reducers themselves. Stored
   * sessions are then restored from their events instead of a checkpoint.
   * @default the reducers do not depend on other functions
   */
  readonly version?: string | number | undefined;
}

const sliceKeys: KnownKeys<SliceOptions<unknown>> = {
  initial: true,
  on: true,
  policy: true,
  version: true,
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
    describe: () =>
      JSON.stringify([
        options.version,
        initial,
        [...reducers].map(([type, one]) => [type, `${one}`]),
      ]),
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
