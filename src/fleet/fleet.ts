import { randomUUID } from "node:crypto";
import { checkKnownKeys, InvalidOptionError } from "../base/errors.ts";
import { quoteNames } from "../base/quote-value.ts";
import type { SqlClient } from "../stores/postgres/sql-client.ts";
import { type EnqueueOptions, enqueueRun } from "./enqueue-run.ts";
import { RunNotFoundError } from "./errors/run-not-found-error.ts";
import { FleetError } from "./fleet-error.ts";
import type { FleetParts } from "./fleet-parts.ts";
import type { AgentLoop } from "./loop/agent-loop.ts";
import type { WorkerLoop } from "./loop/worker-loop.ts";
import { closeFleet, type FleetOptions, openFleet } from "./open-fleet.ts";
import { type EnqueuedRun, isOver, RUN_STATES, type Run, type RunId } from "./run.ts";
import { type Schedule, type ScheduleOptions, Schedules } from "./schedules.ts";
import { parseApprovals, parseDecisions } from "./tables/run-row.ts";
import { getQueueName, type LockedRun, type RunFilter } from "./tables/run-table.ts";
import type { WorkerInfo } from "./tables/worker-table.ts";
import { awaitResult } from "./watch/await-result.ts";
import { type FollowedEvent, type FollowOptions, followRun } from "./watch/follow-run.ts";
import { FleetWorker } from "./worker/fleet-worker.ts";
import type { WorkerOptions } from "./worker/worker-options.ts";

/**
 * Runs the requests of agents on many workers, in one database: PostgreSQL, or PGlite in a folder for one process. A
 * run whose worker is lost continues on another one where it stopped.
 *
 * @example
 * ```ts
 * import { type AgentLoop, Fleet, stopOn } from "weakincentives/fleet";
 *
 * declare const review: AgentLoop<{ repo: string }, string>;
 *
 * const fleet = await Fleet.open({ folder: ".wink/fleet" });
 * const run = await fleet.enqueue(review, { repo: "docs" }, { key: "docs" });
 * const working = fleet.worker([review], { concurrency: 8 }).run({ signal: stopOn("SIGTERM", "SIGINT") });
 * console.log(await fleet.result(run.id));
 * await working;
 * await fleet.close();
 * ```
 */
export class Fleet implements AsyncDisposable {
  readonly #parts: FleetParts;
  readonly #maxWaiting: number | undefined;
  readonly #schedules: Schedules;

  private constructor(parts: FleetParts, maxWaiting: number | undefined) {
    this.#parts = parts;
    this.#maxWaiting = maxWaiting;
    this.#schedules = new Schedules(parts.dispatch);
  }

  /** Opens a fleet: creates or updates its tables, and connects to its queue. */
  static async open(options: FleetOptions): Promise<Fleet> {
    const maxWaiting = options?.maxWaiting;
    return new Fleet(await openFleet(options), maxWaiting);
  }

  /**
   * Enqueues a request. Resolves when it is stored. Throws `InvalidOptionError` if it does not match the loop's schema,
   * and `FleetFullError` if too many runs of the loop wait.
   */
  async enqueue<Request, Output, Result, Input>(
    loop: AgentLoop<Request, Output, Result, Input>,
    request: Input,
    options: EnqueueOptions = {},
  ): Promise<EnqueuedRun<Result>> {
    await loop.parseRequest(request);
    const { name, version } = loop;
    const { deadlineMs } = loop.limits;
    const parts = { ...this.#parts, maxWaiting: this.#maxWaiting };
    const requested = { loop: name, version, deadlineMs, request };
    const { id, isNew } = await enqueueRun(parts, requested, options);
    return { id: id as RunId<Result>, loop: name, isNew };
  }

  /**
   * Creates the queues of loops. Only needed in a folder, before the first `enqueue` of a loop with `in`: everything else
   * creates them.
   */
  async register(...loops: readonly WorkerLoop[]): Promise<void> {
    for (const { name: loop, version } of loops) {
      await this.#parts.dispatch.ensureQueue(getQueueName({ loop, version }));
    }
  }

  /**
   * Enqueues a request at the times of a cron expression. A schedule with the same name is replaced. The workers of the
   * fleet create one run per time, however many there are; while no worker is running, times are skipped.
   */
  async schedule<Request, Output, Result, Input>(
    loop: AgentLoop<Request, Output, Result, Input>,
    cron: string,
    request: Input,
    options: ScheduleOptions = {},
  ): Promise<void> {
    await this.#schedules.add(loop, cron, request, options);
  }

  /** Removes a schedule. Does nothing if there is none with this name. */
  async unschedule(name: string): Promise<void> {
    await this.#schedules.remove(name);
  }

  /** Returns all schedules. */
  async schedules(): Promise<readonly Schedule[]> {
    return await this.#schedules.list();
  }

  /** Creates a worker for some loops. It does nothing until its `run` is called. */
  worker(loops: readonly WorkerLoop[], options: WorkerOptions = {}): FleetWorker {
    return new FleetWorker(this.#parts, loops, options);
  }

  /**
   * Waits until a run has ended. Returns its result, or throws its error: an instance of the class that the evaluation
   * threw, `RunCancelledError` or `RunDeadLetteredError`.
   */
  async result<Result>(id: RunId<Result>, options: ResultOptions = {}): Promise<Result> {
    checkKnownKeys(options, "Fleet.result(options)", { signal: true });
    const signal = options.signal ?? new AbortController().signal;
    return (await awaitResult(this.#parts, id, signal)) as Result;
  }

  /** Yields the events of a run as they are stored, and ends with the run. */
  follow(id: RunId, options: FollowOptions = {}): AsyncGenerator<FollowedEvent, void> {
    checkKnownKeys(options, "Fleet.follow(options)", { from: true, signal: true, wait: true });
    const { from = 0 } = options;
    if (!Number.isSafeInteger(from) || from < 0) {
      const rule = "must be the number of a record";
      const remedy = "omit it for the first record";
      throw new InvalidOptionError({ field: "Fleet.follow(from)", value: from, rule, remedy });
    }
    return followRun(this.#parts, id, options);
  }

  /** Returns a run, or `null` if the fleet does not have it. */
  async find(id: RunId): Promise<Run | null> {
    return await this.#parts.runs.find(this.#parts.database, id);
  }

  /** Yields runs, the newest first. */
  async *runs(filter: RunFilter = {}): AsyncGenerator<Run, void> {
    checkKnownKeys(filter, "Fleet.runs(filter)", {
      group: true,
      key: true,
      loop: true,
      state: true,
    });
    const { state } = filter;
    if (state !== undefined && !RUN_STATES.includes(state)) {
      const rule = `must be one of ${quoteNames(RUN_STATES)}`;
      throw new InvalidOptionError({
        field: "Fleet.runs(state)",
        value: state,
        rule,
        remedy: "omit it for all runs",
      });
    }
    const { database, runs } = this.#parts;
    for (let last: Run | null = null; ; ) {
      const page: readonly Run[] = await runs.list(database, filter, last);
      yield* page;
      last = page.at(-1) ?? null;
      if (!last) return;
    }
  }

  /**
   * Cancels a run. One that waits ends at once; one that runs is aborted by its worker. Does nothing if it has ended.
   * Throws `RunNotFoundError` if the fleet does not have it.
   */
  async cancel(id: RunId, reason = "no reason was given"): Promise<void> {
    if (typeof reason !== "string" || !/^[^\0]{1,2000}$/s.test(reason)) {
      const rule = "must be 1-2000 characters without NUL";
      const remedy = "omit it for none";
      throw new InvalidOptionError({ field: "Fleet.cancel(reason)", value: reason, rule, remedy });
    }
    const { runs, dispatch } = this.#parts;
    await this.#change(id, async (sql, { run, queue, job }) => {
      if (isOver(run.state)) return;
      if (run.state === "running") await runs.requestCancel(sql, id, reason);
      else {
        await runs.cancelNow(sql, id, reason);
        if (job !== null) await dispatch.remove(sql, queue, job);
      }
    });
  }

  /**
   * Starts a run again that has failed, was cancelled or was dead-lettered. It continues where it stopped. Does nothing
   * if it is not over. Throws `FleetError` if it is done.
   */
  async retry(id: RunId): Promise<void> {
    await this.#change(id, async (sql, locked) => {
      const { state } = locked.run;
      if (state === "done") {
        throw new FleetError(`Run ${id} is done. Enqueue the request again for another result.`);
      }
      if (isOver(state)) await this.#makeWaiting(sql, locked);
    });
  }

  /**
   * Decides about a call that waits for approval. A parked run goes back to the queue. Does nothing if the same was
   * decided before. Throws `FleetError` if the run does not wait for this call, or the other decision was made.
   */
  async approve(id: RunId, key: string, decision: "approve" | "deny"): Promise<void> {
    if (decision !== "approve" && decision !== "deny") {
      const remedy = "approve the call or deny it";
      const rule = 'must be "approve" or "deny"';
      throw new InvalidOptionError({
        field: "Fleet.approve(decision)",
        value: decision,
        rule,
        remedy,
      });
    }
    await this.#change(id, async (sql, locked) => {
      const { run, approvals, decisions } = locked;
      if (!parseApprovals(approvals).some((request) => request.key === key)) {
        const what = `Run ${id} is ${run.state} and does not wait for the approval of ${JSON.stringify(key)}`;
        throw new FleetError(`${what}. Use a key of its approvals.`);
      }
      const earlier = parseDecisions(decisions);
      if (earlier.get(key) === decision) return;
      if (earlier.has(key)) {
        const what = `The call ${JSON.stringify(key)} of run ${id} is decided: "${earlier.get(key)}"`;
        throw new FleetError(`${what}. Cancel the run if the decision was wrong.`);
      }
      const decided = { ...Object.fromEntries(earlier), [key]: decision };
      await this.#parts.runs.storeDecisions(sql, id, JSON.stringify(decided));
      if (run.state === "parked") await this.#makeWaiting(sql, locked);
    });
  }

  /** Returns the workers that are running. */
  async workers(): Promise<readonly WorkerInfo[]> {
    return await this.#parts.workers.list(this.#parts.database);
  }

  /**
   * Asks one worker, by its number in `workers`, or all of them to stop fetching, to give their runs back and to end.
   * Returns the number of workers that will.
   */
  async drain(worker?: number): Promise<number> {
    const { database, workers, runs } = this.#parts;
    return await database.transact(async (sql) => {
      const count = await workers.requestDrain(sql, worker ?? null);
      await runs.notify(sql, { type: "drain" });
      return count;
    });
  }

  /**
   * Runs `work` in a transaction of the fleet's database, for `enqueue` with `in`: runs and your own rows are stored
   * together, or not at all if `work` throws.
   */
  async transact<Result>(work: (sql: SqlClient) => Promise<Result>): Promise<Result> {
    return await this.#parts.database.transact(work);
  }

  /** Stops the workers of this object and closes the fleet. A pool that you passed stays open. */
  async close(): Promise<void> {
    await Promise.all([...this.#parts.running].map((worker) => worker.stop()));
    await closeFleet(this.#parts);
  }

  /** Closes the fleet. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Changes a run in a transaction, and notifies its watchers. */
  async #change(
    id: string,
    work: (sql: SqlClient, locked: LockedRun) => Promise<void>,
  ): Promise<void> {
    const { database, runs, dispatch } = this.#parts;
    const known = await runs.find(database, id);
    if (!known) throw new RunNotFoundError(id);
    await dispatch.ensureQueue(getQueueName(known)); // not within the transaction
    await database.transact(async (sql) => {
      const locked = await runs.lock(sql, id);
      if (!locked) throw new RunNotFoundError(id);
      await work(sql, locked);
      await runs.notify(sql, { type: "run", id });
    });
  }

  /** Puts a locked run into the queue again. */
  async #makeWaiting(sql: SqlClient, { run, queue, job, priority }: LockedRun): Promise<void> {
    const { runs, dispatch } = this.#parts;
    if (job !== null) await dispatch.remove(sql, queue, job); // it was parked until a point in time
    const next = randomUUID();
    await runs.makeWaiting(sql, run.id, next);
    const { group } = run;
    await dispatch.send(sql, { queue, id: next, runId: run.id, priority, group, startAfter: null });
    await runs.notify(sql, { type: "wake" });
  }
}

/** Options of `Fleet.result`. */
export interface ResultOptions {
  /** Ends the wait with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}
