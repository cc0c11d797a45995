import type { StateChange } from "./slice.ts";

/** The state of a session's `"state"` slices at one point in time. */
export interface Snapshot {
  /** Id of the session from which the snapshot was taken. */
  readonly sessionId: string;
  /** States by slice id, each with the slice that can read it. */
  readonly states: ReadonlyMap<string, StateChange>;
}
