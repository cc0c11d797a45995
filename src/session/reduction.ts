import type { Slice } from "./slice.ts";

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
