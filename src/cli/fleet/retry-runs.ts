import { WinkError } from "../../base/errors.ts";
import { RunNotFoundError } from "../../fleet/errors/run-not-found-error.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import { isOver } from "../../fleet/run.ts";
import { pluralize } from "../pluralize.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import { findRun } from "./find-run.ts";
import type { RetryOptions } from "./fleet-actions.ts";
import { useFleet } from "./use-fleet.ts";

/** Starts runs again that have ended without a result. Prints how many. */
export async function retryRuns(choice: FleetChoice, options: RetryOptions): Promise<void> {
  const { json } = options;
  await useFleet(choice, async (opened) => {
    const { fleet } = opened;
    if ("run" in options) {
      const { id, state } = await findRun(opened, options.run);
      if (!isOver(state)) {
        throw new WinkError(`Run ${id} is ${state}. Only a run that has ended can be tried again.`);
      }
      await fleet.retry(id);
      if (json) printJson([id]);
      else console.log(`Run ${id} was ${state}, and waits for a worker again.`);
      return;
    }
    const { state, loop } = options;
    const retried: string[] = [];
    try {
      for await (const { id } of fleet.runs({ state, loop })) {
        if (await tryAgain(fleet, id)) retried.push(id);
      }
    } finally {
      const verb = retried.length === 1 ? "waits" : "wait";
      if (json) printJson(retried);
      else console.log(`${pluralize(retried.length, `${state} run`)} ${verb} for a worker again.`);
    }
  });
}

function printJson(retried: readonly string[]): void {
  console.log(JSON.stringify({ retried }));
}

/** Returns `false` if the run was deleted in the meantime. */
async function tryAgain(fleet: Fleet, id: string): Promise<boolean> {
  try {
    await fleet.retry(id);
    return true;
  } catch (error) {
    if (error instanceof RunNotFoundError) return false;
    throw error;
  }
}
