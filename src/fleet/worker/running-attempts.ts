import { setTimeout as sleep } from "node:timers/promises";
import { warn } from "../../base/warn.ts";
import type { FleetParts } from "../fleet-parts.ts";
import type { Attempt } from "./attempt.ts";
import { createReport } from "./settle-attempt.ts";
import type { AttemptReport } from "./worker-event.ts";

/** The attempts that a worker runs now. */
export class RunningAttempts {
  readonly #parts: Pick<FleetParts, "database" | "dispatch" | "attempts">;
  readonly #running = new Map<Attempt, Promise<void>>();
  #isDraining = false;

  constructor(parts: Pick<FleetParts, "database" | "dispatch" | "attempts">) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Runs an attempt. `onEnd` is called when it has ended. */
  start(attempt: Attempt, onEnd: (report: AttemptReport) => void): void {
    const runToEnd = async () => {
      let report = createReport(null, null);
      try {
        report = await attempt.run();
      } catch (error) {
        // The database could not be reached. The queue gives the job to another attempt when its heartbeat stops.
        warn(`Run ${attempt.claimed.run.id} could not be settled, and is tried again`, error);
      } finally {
        this.#running.delete(attempt);
        onEnd(report);
      }
    };
    if (this.#isDraining) attempt.drain();
    this.#running.set(attempt, runToEnd());
  }

  /** Tells the queue and the sessions' leases that the attempts are alive. Stops those that others have taken over. */
  async beat(): Promise<void> {
    const attempts = [...this.#running.keys()];
    for (const queue of new Set(attempts.map(({ claimed }) => claimed.job.queue))) {
      const some = attempts.filter(({ claimed }) => claimed.job.queue === queue);
      const jobs = some.map(({ claimed }) => claimed.job);
      const held = await this.#parts.dispatch.touch(queue, jobs);
      for (const attempt of some) if (!held.has(attempt.claimed.job.id)) this.#lose(attempt);
    }
    const held = attempts.map(({ claimed }) => ({ runId: claimed.run.id, fence: claimed.fence }));
    if (held.length > 0) await this.#parts.attempts.renew(this.#parts.database, held);
  }

  /** Returns whether one of the attempts is at a run. */
  has(runId: unknown): boolean {
    return [...this.#running.keys()].some(({ claimed }) => claimed.run.id === runId);
  }

  /** Aborts the attempts whose runs were cancelled. */
  async cancelRequested(): Promise<void> {
    if (this.#running.size === 0) return;
    const ids = [...this.#running.keys()].map(({ claimed }) => claimed.run.id);
    const reasons = await this.#parts.attempts.listCancelled(this.#parts.database, ids);
    for (const attempt of this.#running.keys()) {
      const reason = reasons.get(attempt.claimed.run.id);
      if (reason !== undefined) attempt.cancel(reason);
    }
  }

  /**
   * Lets each attempt continue to its next barrier, where its run is given back. Aborts attempts that have not stopped
   * shortly before the end of `graceMs`, and resolves at its end at the latest. Attempts that start later are not
   * affected.
   */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    for (const attempt of this.#running.keys()) attempt.drain();
    const reserve = Math.min(MAX_RESERVE_MS, graceMs / 4);
    await this.#awaitEnd(graceMs - reserve);
    for (const attempt of this.#running.keys()) attempt.abort();
    await this.#awaitEnd(reserve);
    for (const attempt of this.#running.keys()) attempt.lose();
    this.#isDraining = false;
  }

  /** Resolves when no attempt is running, or after `milliseconds`. */
  async #awaitEnd(milliseconds: number): Promise<void> {
    if (this.#running.size === 0) return;
    const controller = new AbortController();
    const { signal } = controller;
    const timeout = sleep(milliseconds, undefined, { signal }).catch(() => {});
    await Promise.race([Promise.all(this.#running.values()), timeout]);
    controller.abort();
  }

  /** An attempt that is being settled has left the queue, but not this map. */
  #lose(attempt: Attempt): void {
    if (this.#running.has(attempt)) attempt.lose();
  }
}

/** Time for aborted attempts to end, in milliseconds. */
const MAX_RESERVE_MS = 3_000;
