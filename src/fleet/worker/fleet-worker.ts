import { hostname } from "node:os";
import { checkKnownKeys } from "../../base/errors.ts";
import { emitWarning, warn } from "../../base/warn.ts";
import type { Job } from "../dispatch.ts";
import { FleetError } from "../fleet-error.ts";
import type { FleetParts } from "../fleet-parts.ts";
import type { WorkerLoop } from "../loop/worker-loop.ts";
import { Attempt } from "./attempt.ts";
import { claimRun } from "./claim-run.ts";
import { enqueueDueSchedules } from "./enqueue-due-schedules.ts";
import { maintainFleet } from "./maintain-fleet.ts";
import { Presence } from "./presence.ts";
import { Reaper } from "./reaper.ts";
import { repeat } from "./repeat.ts";
import { RunningAttempts } from "./running-attempts.ts";
import { waitFor } from "./wait-for.ts";
import { notifyListener, type WorkerEvent, type WorkerListener } from "./worker-event.ts";
import {
  checkCount,
  checkListener,
  checkLoops,
  checkWorkerOptions,
  type WorkerHealth,
  type WorkerOptions,
} from "./worker-options.ts";

/** Runs the requests of some loops. Create one with `Fleet.worker`. */
export class FleetWorker {
  readonly #parts: FleetParts;
  readonly #loops: ReadonlyMap<string, WorkerLoop>;
  readonly #concurrency: number;
  readonly #perGroup: number | undefined;
  readonly #graceMs: number;
  readonly #onEvent: WorkerListener | undefined;
  readonly #attempts: RunningAttempts;
  readonly #reaper: Reaper;
  /** Queues, the next one to fetch from first. */
  readonly #queues: string[];
  #presence: Presence | null = null;
  /** Whether the lock was lost on a connection that still exists, so that it shows nothing. */
  #isPooled = false;
  #id: number | null = null;
  #state: WorkerHealth["state"] = "idle";
  #seenAt: string | null = null;
  /** Ends the loop that fetches. */
  #stop = new AbortController();
  /** Resolves after the last report that was started. */
  #reported: Promise<void> = Promise.resolve();

  /** Resolves when the current `run` has ended. */
  #ended: Promise<void> = Promise.resolve();

  /** Use `Fleet.worker`. */
  constructor(parts: FleetParts, loops: readonly WorkerLoop[], options: WorkerOptions = {}) {
    checkWorkerOptions(options);
    this.#parts = parts;
    this.#loops = checkLoops(loops);
    this.#queues = [...this.#loops.keys()];
    this.#concurrency = checkCount("concurrency", options.concurrency ?? 4);
    this.#perGroup =
      options.perGroup === undefined ? undefined : checkCount("perGroup", options.perGroup);
    this.#graceMs = checkCount("graceMs", options.graceMs ?? 60_000);
    this.#onEvent = checkListener(options.onEvent);
    this.#attempts = new RunningAttempts(parts);
    this.#reaper = new Reaper(parts);
  }

  /** Returns the state of the worker, for a health check. */
  health(): WorkerHealth {
    const [state, id, seenAt] = [this.#state, this.#id, this.#seenAt];
    return { state, id, running: this.#attempts.size, concurrency: this.#concurrency, seenAt };
  }

  /**
   * Runs requests until the signal aborts or the fleet asks the worker to drain, and resolves when it has ended its
   * runs or given them back. Rejects only if it cannot start.
   */
  async run(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    checkKnownKeys(options, "FleetWorker.run(options)", { signal: true });
    const { signal } = options;
    if (this.#state !== "idle") throw new FleetError("The worker is running. Create another one.");
    this.#state = "running";
    this.#parts.running.add(this);
    const running = this.#run(signal).finally(() => this.#parts.running.delete(this));
    this.#ended = running.catch(() => {}); // the caller of run has the error
    await running;
  }

  /** Stops the worker as the signal of `run` does. Resolves when it has ended. Does nothing if it is idle. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(signal: AbortSignal | undefined): Promise<void> {
    this.#stop = new AbortController();
    const stopFetching = () => this.#stop.abort();
    signal?.addEventListener("abort", stopFetching);
    if (signal?.aborted) stopFetching();
    const background = new AbortController();
    try {
      for (const queue of this.#queues) await this.#parts.dispatch.ensureQueue(queue);
      await this.#register();
      const tasks = this.#startTasks(background.signal);
      await this.#fetchUntilStopped();
      this.#state = "draining";
      this.#emit({ type: "WorkerDraining", running: this.#attempts.size });
      await this.#attempts.drain(this.#graceMs);
      background.abort();
      await tasks;
    } finally {
      background.abort();
      signal?.removeEventListener("abort", stopFetching);
      await this.#unregister();
      this.#state = "idle";
    }
  }

  async #register(): Promise<void> {
    const id = await this.#addWorker();
    const presence = this.#createPresence();
    this.#isPooled = false;
    this.#presence = presence;
    await presence.open(id);
    this.#seenAt = new Date().toISOString();
    this.#emitStarted();
  }

  #emitStarted(): void {
    const [loops, concurrency] = [[...this.#loops.keys()], this.#concurrency];
    this.#emit({ type: "WorkerStarted", loops, concurrency });
  }

  async #addWorker(): Promise<number> {
    const { database, workers } = this.#parts;
    const [loops, concurrency] = [this.#queues, this.#concurrency];
    const worker = { host: hostname(), pid: process.pid, loops, concurrency };
    const id = await workers.add(database, worker);
    this.#id = id;
    return id;
  }

  #createPresence(): Presence {
    const presence = new Presence(this.#parts, () => {
      this.#reportSoon(); // others may have taken over the runs
      void this.#replacePresence(presence);
    });
    return presence;
  }

  /** Takes the worker's lock on another connection, because that of `lost` has ended. Tries until it has it. */
  async #replacePresence(lost: Presence | null): Promise<void> {
    const id = this.#id;
    if (this.#presence !== lost || id === null || this.#isPooled) return;
    const presence = this.#createPresence();
    try {
      await presence.open(id);
    } catch {
      await presence.close();
      setTimeout(() => void this.#replacePresence(lost), RECONNECT_MS).unref();
      return;
    }
    if (this.#presence === lost && this.#id === id) this.#presence = presence;
    else await presence.close(); // the worker has ended, or has another number
    this.#reportSoon(); // the lock was free for a moment, and the database can be reached again
  }

  /** Gives the lock up if its connection leads to changing connections of a pooler: the heartbeat decides then. */
  async #checkPresence(): Promise<void> {
    const [id, presence] = [this.#id, this.#presence];
    if (this.#isPooled || id === null || !presence || (await presence.isHeld(id))) return;
    await this.#parts.workers.dropPresence(this.#parts.database, id);
    if (this.#presence !== presence || this.#isPooled) return; // another check was quicker
    this.#isPooled = true;
    emitWarning(POOLED);
    await presence.close();
  }

  async #unregister(): Promise<void> {
    const id = this.#id;
    this.#id = null;
    const presence = this.#presence;
    this.#presence = null;
    try {
      if (id !== null) await this.#parts.workers.declareGone(this.#parts.database, [id]);
      if (this.#attempts.size > 0) await this.#reaper.giveBackOrphans(); // they have not stopped in time
    } catch (error) {
      warn("A worker could not sign off", error); // the lock that it gives back says the same
    }
    await presence?.close();
  }

  async #startTasks(signal: AbortSignal): Promise<void> {
    const parts = this.#parts;
    const { database, dispatch } = parts;
    let scheduler: { close(): Promise<void> } | null = null;
    const enqueueSchedules = async () => {
      scheduler ??= await dispatch.startScheduler();
      await enqueueDueSchedules(parts);
    };
    const tasks = [
      { name: "report", everyMs: 2_500, run: () => this.#report() },
      { name: "supervise the queue", everyMs: 1_500, run: () => dispatch.supervise(this.#queues) },
      { name: "enqueue schedules", everyMs: 2_000, run: enqueueSchedules },
      { name: "delete old runs", everyMs: 3_600_000, run: () => maintainFleet(parts, signal) },
    ];
    if (database.isShared) {
      const look = async () => await this.#reaper.look(this.#id ?? 0);
      tasks.push({ name: "look for lost workers", everyMs: 300, run: look });
    }
    using _subscription = parts.notifications.subscribe((message) => {
      const isForThis = message?.["type"] === "drain" || this.#attempts.has(message?.["id"]);
      if (isForThis || message === null) this.#reportSoon();
    });
    await Promise.all(tasks.map((task) => repeat(task, signal)));
    await closeScheduler(scheduler);
  }

  /** Reports at once, without waiting for it. */
  #reportSoon(): void {
    void this.#report().catch(() => {}); // the task "report" warns about problems
  }

  /** Reports after the report in progress: two at once could both register a worker that was declared gone. */
  async #report(): Promise<void> {
    const report = this.#reported.then(() => this.#reportNow());
    this.#reported = report.catch(() => {}); // the caller has the error
    await report;
  }

  /** Tells the database that the worker lives, and reads its orders. */
  async #reportNow(): Promise<void> {
    const { database, workers } = this.#parts;
    if (this.#id === null) return;
    void this.#checkPresence().catch(() => {}); // its connection may hang, which must not stop the heartbeat
    await this.#attempts.beat();
    await this.#attempts.cancelRequested();
    const { isGone, isDraining } = await workers.report(database, this.#id);
    this.#seenAt = new Date().toISOString();
    if (isDraining) this.#stop.abort();
    if (isGone && this.#state === "running") await this.#registerAgain();
  }

  /** Others have declared this worker gone: it was paused, or could not reach the database. Its runs are theirs. */
  async #registerAgain(): Promise<void> {
    await this.#presence?.close();
    await this.#addWorker();
    this.#emitStarted();
    void this.#replacePresence(this.#presence);
  }

  /** Starts attempts while there are free slots. */
  async #fetchUntilStopped(): Promise<void> {
    const { signal } = this.#stop;
    let wake = () => {};
    using _subscription = this.#parts.notifications.subscribe((message) => {
      if (message === null || message["type"] === "wake") wake();
    });
    await repeat(
      {
        name: "fetch runs",
        everyMs: 1,
        run: async () => {
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          const hasStarted = await this.#fetchOnce(() => wake());
          if (!hasStarted) await waitFor(woken, POLL_MS, signal);
        },
      },
      signal,
    );
  }

  /** Fetches from the first queue that has a job. Returns whether it had one. */
  async #fetchOnce(onEnd: () => void): Promise<boolean> {
    for (let tried = 0; tried < this.#queues.length; tried++) {
      const free = this.#concurrency - this.#attempts.size;
      const queue = this.#queues.shift();
      if (queue !== undefined) this.#queues.push(queue);
      if (free <= 0 || queue === undefined || this.#stop.signal.aborted) return false;
      const jobs = await this.#parts.dispatch.fetch(queue, free, this.#perGroup);
      const started = await Promise.allSettled(jobs.map((job) => this.#start(job, onEnd)));
      for (const result of started) if (result.status === "rejected") throw result.reason;
      if (jobs.length > 0) return true;
    }
    return false;
  }

  async #start(job: Job, onEnd: () => void): Promise<void> {
    const loop = this.#loops.get(job.queue);
    const worker = this.#id;
    if (!loop || worker === null) return;
    const { onMoment } = this.#parts;
    await onMoment?.("job-fetched", job.runId);
    const claimed = await claimRun(this.#parts, job, { loop, worker });
    if (!claimed) return;
    await onMoment?.("run-claimed", job.runId);
    const { id: runId, loop: name } = claimed.run;
    const started = { runId, loop: name, attempt: claimed.attempt };
    const startedAt = performance.now();
    this.#emit({ type: "RunStarted", ...started }, worker);
    this.#attempts.start(new Attempt(this.#parts, loop, claimed), (report) => {
      const durationMs = Math.round(performance.now() - startedAt);
      this.#emit({ type: "RunEnded", ...started, ...report, durationMs }, worker);
      onEnd();
    });
  }

  #emit(event: Unstamped<WorkerEvent>, worker = this.#id ?? 0): void {
    notifyListener(this.#onEvent, { ...event, worker, createdAt: new Date().toISOString() });
  }
}

async function closeScheduler(scheduler: { close(): Promise<void> } | null): Promise<void> {
  try {
    await scheduler?.close();
  } catch (error) {
    warn("The scheduler of a fleet could not be closed", error);
  }
}

/** An event without the fields that all events have. */
type Unstamped<Event> = Event extends unknown ? Omit<Event, "worker" | "createdAt"> : never;

/** How long to wait for a job that was not announced, in milliseconds. */
const POLL_MS = 1_000;
const RECONNECT_MS = 250;

const POOLED =
  "A fleet's worker has lost its lock on a connection that still exists: the address of PostgreSQL seems to be a pooler " +
  "in transaction mode. The worker continues with heartbeats only. Pass PostgreSQL's own URL as `direct` to Fleet.open, " +
  "or `false`.";
