import { approveCall } from "../../../src/cli/fleet/approve-call.ts";
import { cancelRun } from "../../../src/cli/fleet/cancel-run.ts";
import { drainWorkers } from "../../../src/cli/fleet/drain-workers.ts";
import type { FleetActions } from "../../../src/cli/fleet/fleet-actions.ts";
import { listRuns } from "../../../src/cli/fleet/list-runs.ts";
import { retryRuns } from "../../../src/cli/fleet/retry-runs.ts";
import { runWorker } from "../../../src/cli/fleet/run-worker.ts";
import { showRun } from "../../../src/cli/fleet/show-run.ts";
import { runWink } from "../cli/run-wink.ts";

const fleet: FleetActions = {
  ls: listRuns,
  show: showRun,
  cancel: cancelRun,
  retry: retryRuns,
  approve: approveCall,
  worker: runWorker,
  drain: drainWorkers,
};

/** Runs a command of `wink fleet` in this process. Returns its output and its exit code. */
export async function runFleetCommand(...args: readonly string[]) {
  return await runWink({ fleet }, ["fleet", ...args]);
}
