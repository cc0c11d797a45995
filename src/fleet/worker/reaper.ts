import type { FleetParts } from "../fleet-parts.ts";

/** Gives the jobs of lost workers back to the queue. Any worker does it; several at once do no harm. */
export class Reaper {
  readonly #parts: Pick<FleetParts, "database" | "dispatch" | "runs" | "workers">;
  /** Workers whose lock was free at the last look. A worker that reconnects takes its lock again by the next. */
  #suspects: ReadonlySet<number> = new Set();
  /** Whether workers were declared gone whose jobs may not all have been given back. */
  #isUnfinished = false;

  constructor(parts: Pick<FleetParts, "database" | "dispatch" | "runs" | "workers">) {
    this.#parts = parts;
  }

  /** Looks for lost workers. `self` is this worker. */
  async look(self: number): Promise<void> {
    const { database, workers } = this.#parts;
    const free = await workers.findGone(database, self);
    const gone = free.filter((id) => this.#suspects.has(id));
    this.#suspects = new Set(free);
    if (gone.length === 0 && !this.#isUnfinished) return;
    this.#isUnfinished = true;
    await workers.declareGone(database, gone);
    await this.giveBackOrphans();
    this.#isUnfinished = false;
  }

  /** Gives back the jobs of all workers that were declared gone. */
  async giveBackOrphans(): Promise<void> {
    const { database, dispatch, runs, workers } = this.#parts;
    const orphans = await workers.listOrphans(database);
    if (orphans.length === 0) return;
    for (const job of orphans) {
      await dispatch.ensureQueue(job.queue);
      await dispatch.giveBack(job);
    }
    for (const { queue, id, runId } of await workers.makeOrphansWait(database, orphans)) {
      await dispatch.remove(database, queue, id);
      await runs.notify(database, { type: "run", id: runId });
    }
    await runs.notify(database, { type: "wake" });
  }
}
