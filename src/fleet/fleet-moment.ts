import type { Barrier } from "../adapter/resume/barrier.ts";

/**
 * The moments of an attempt that are not barriers of its evaluation. A worker that is killed at any of them loses
 * nothing.
 *
 * - `job-fetched`: the queue has given the job to this worker; the run is not claimed
 * - `run-claimed`: the run and its session are claimed; nothing has been read
 * - `attempt-ended`: the outcome is known and not stored
 * - `end-written`: the outcome is written; its transaction is not committed
 * - `run-settled`: the outcome is stored
 */
export const FLEET_MOMENTS = [
  "job-fetched",
  "run-claimed",
  "attempt-ended",
  "end-written",
  "run-settled",
] as const;

/** The name of a moment of an attempt. */
export type FleetMoment = (typeof FLEET_MOMENTS)[number];

/** Key of the option that is called at each moment and barrier of each attempt. For tests. */
export const onFleetMoment = Symbol("fleetMoment");

/** Called at a moment or a barrier. The attempt waits for it. */
export type FleetMomentListener = (
  moment: FleetMoment | Barrier,
  runId: string,
) => void | Promise<void>;
