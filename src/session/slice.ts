import type { BusEvent } from "./event-map.ts";

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
  /** Types of the events that change the slice only in sessions that earlier releases stored. @default none */
  readonly earlierEvents?: readonly string[] | undefined;
  /**
   * Whether an interrupted session can be restored to its state at the slice's last change.
   * @default false
   */
  readonly marks?: boolean | undefined;
  /** The session's internal representation of `initial`. */
  readonly first: unknown;
  /** Computes the next internal representation from an event. */
  reduce(kept: unknown, event: BusEvent): unknown;
  /** Converts the internal representation to state. */
  read(kept: unknown): State;
  /** Converts parsed state to the internal representation, or returns the reason why it cannot. */
  load(state: unknown): { readonly kept: unknown } | string;
  /**
   * Returns a text that differs if the slice would reduce the same events to another state. A stored
   * checkpoint is used only if the text is the same.
   * @default sessions with this slice have no checkpoints
   */
  describe?(): string;
}

/** The effect of an event. */
export interface Reduction {
  /** Whether any state changed. */
  readonly changed: boolean;
  /** Whether a slice with `marks` changed. */
  readonly marked: boolean;
  /** Slices that kept their state because their reducers failed. */
  readonly failures: readonly { readonly sliceId: string; readonly message: string }[];
}

/** A slice and its new state. */
export interface StateChange {
  readonly slice: Slice;
  readonly now: unknown;
}
