import * as z from "zod";
import type { FleetOptions } from "../../../../src/fleet/index.ts";
import type { CrashOrder } from "../../crash/crash-order.ts";

/**
 * The task of a worker of a crash test's fleet. Its point is a `CrashPoint`, or `fleet NAME` for a moment of
 * `FLEET_MOMENTS`. Passed to it as JSON.
 */
export interface FleetCrashOrder extends CrashOrder {
  readonly fleet: FleetOptions;
}

/** The schema of the requests of crash tests. */
export const crashRequest = z.object({});
