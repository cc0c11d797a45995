import { setTimeout as sleep } from "node:timers/promises";
import { WinkError } from "../../base/errors.ts";
import type { Fleet } from "../../fleet/fleet.ts";
import type { WorkerInfo } from "../../fleet/tables/worker-table.ts";
import { pluralize } from "../pluralize.ts";
import { ProgressLine } from "../progress-line.ts";
import type { FleetChoice } from "./add-fleet-options.ts";
import type { DrainOptions } from "./fleet-actions.ts";
import { useFleet } from "./use-fleet.ts";

/** Asks workers to drain. Prints their number. */
export async function drainWorkers(choice: FleetChoice, options: DrainOptions): Promise<void> {
  await useFleet(choice, async ({ fleet }) => {
    const workers = await fleet.workers();
    const asked = workers.filter(({ id }) => id === (options.worker ?? id));
    const count = await fleet.drain(options.worker);
    if (options.worker !== undefined && count === 0)
      throw createWorkerError(options.worker, workers);
    const what =
      options.worker === undefined ? pluralize(count, "worker") : `Worker ${options.worker}`;
    const print = options.json ? () => {} : console.log;
    const ids = asked.map(({ id }) => id);
    if (count === 0) print("No worker is running.");
    else print(`${what} ${count === 1 ? "was" : "were"} asked to drain.`);
    const mustWait = options.wait && count > 0;
    if (mustWait) await waitForEnd(fleet, new Set(ids), options);
    if (mustWait) print(`${what} ${count === 1 ? "has" : "have"} ended.`);
    if (options.json) console.log(JSON.stringify({ drained: ids, haveEnded: options.wait }));
  });
}

/** Waits until workers have ended. Throws if none of them reports any more. */
async function waitForEnd(
  fleet: Fleet,
  ids: ReadonlySet<number>,
  { terminal = process.stderr, maxSilenceMs = 30_000 }: DrainOptions,
): Promise<void> {
  const progress = new ProgressLine(terminal);
  const reports = new Map<number, { readonly seenAt: string; readonly since: number }>();
  try {
    for (;;) {
      const left = (await fleet.workers()).filter(({ id }) => ids.has(id));
      if (left.length === 0) return;
      for (const { id, seenAt } of left) {
        // Compared with the last report, not with this machine's clock, which may differ.
        if (reports.get(id)?.seenAt !== seenAt)
          reports.set(id, { seenAt, since: performance.now() });
      }
      const silent = left.filter(({ id }) => {
        return performance.now() - (reports.get(id)?.since ?? 0) > maxSilenceMs;
      });
      if (silent.length === left.length) throw createLostError(silent);
      const running = left.reduce((sum, worker) => sum + worker.running, 0);
      progress.show(
        `Waiting for ${pluralize(left.length, "worker")} with ${pluralize(running, "run")} …`,
      );
      await sleep(POLL_MS);
    }
  } finally {
    progress.clear();
  }
}

const POLL_MS = 500;

function createWorkerError(worker: number, workers: readonly WorkerInfo[]): WinkError {
  const others =
    workers.length === 0
      ? "No worker is running."
      : `Use one of ${workers.map(({ id }) => id).join(", ")}.`;
  return new WinkError(`There is no worker ${worker}. ${others}`);
}

function createLostError(workers: readonly WorkerInfo[]): WinkError {
  const names = workers.map(({ id, host, pid }) => `worker ${id} (process ${pid} on ${host})`);
  const what = `${names.join(", ")} stopped reporting, and probably does not exist any more`;
  return new WinkError(
    `${what}. Check its machine; the next worker that starts takes over its runs.`,
  );
}
