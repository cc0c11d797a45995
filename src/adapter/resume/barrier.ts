import { raceAbort } from "../../base/clock.ts";
import type { Session } from "../../session/session.ts";
import { storedSession } from "../../session/stored-session.ts";

/**
 * The places where an evaluation waits until everything so far is stored, because something outside the
 * process happens next. A process that is killed there continues from there.
 *
 * - `claimed`: the session is claimed; the first request is next
 * - `turn-submitted`: the provider has accepted a response in the background
 * - `turn-completed`: a response has arrived; its calls are next
 * - `calls-started`: calls of `once` tools are recorded as started; their handlers are next
 * - `workspace-kept`: the workspace's files are kept
 * - `parked`: calls wait for approval; the evaluation ends next
 * - `executed`: the answer is stored; the caller gets it next
 */
export const BARRIERS = [
  "claimed",
  "turn-submitted",
  "turn-completed",
  "calls-started",
  "workspace-kept",
  "parked",
  "executed",
] as const;

/** The name of a barrier. */
export type Barrier = (typeof BARRIERS)[number];

/** Key of the option that is called at each barrier, after the session is stored. For fleets and tests. */
export const onBarrier = Symbol("barrier");

/** Called at a barrier. */
export type BarrierListener = (barrier: Barrier) => void | Promise<void>;

/** The part of an evaluation that {@link passBarrier} needs. */
export interface BarrierScope {
  readonly session: Session;
  /** A nested evaluation has no barriers: its outer call is the unit that is stored. */
  readonly isNested: boolean;
  /** Ends the wait when the evaluation is aborted. @default waits for the store */
  readonly guard?: { readonly signal: AbortSignal } | undefined;
  readonly [onBarrier]?: BarrierListener | undefined;
}

/** Waits until everything so far is stored. Throws `SessionStoreError` if that failed. */
export async function passBarrier(scope: BarrierScope, barrier: Barrier): Promise<void> {
  if (scope.isNested || !scope.session.isStored) return;
  const store = async () => {
    await scope.session.flush();
    await scope.session[storedSession]?.checkpointIfDue();
  };
  await raceAbort(store(), scope.guard?.signal);
  await scope[onBarrier]?.(barrier);
}
