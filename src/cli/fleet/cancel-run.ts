import { WinkError } from "../../base/errors.ts";
import { isOver } from "../../fleet/run.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import { findRun } from "./find-run.ts";
import type { CancelOptions } from "./fleet-actions.ts";
import { useFleet } from "./use-fleet.ts";

/** Cancels a run, and prints its state. */
export async function cancelRun(choice: FleetChoice, options: CancelOptions): Promise<void> {
  await useFleet(choice, async (opened) => {
    const { fleet } = opened;
    const { id } = await findRun(opened, options.run);
    await fleet.cancel(id, options.reason);
    const run = await findRun(opened, id);
    if (isOver(run.state) && run.state !== "cancelled") {
      throw new WinkError(
        `Run ${id} is ${run.state}. Only a run that has not ended can be cancelled.`,
      );
    }
    if (options.json) console.log(JSON.stringify({ id, state: run.state, worker: run.worker }));
    else if (run.state === "cancelled") console.log(`Run ${id} is cancelled.`);
    else console.log(`Run ${id} is running: worker ${run.worker} will abort it.`);
  });
}
