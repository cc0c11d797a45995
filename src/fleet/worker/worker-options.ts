import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../base/errors.ts";
import { runRequest, type WorkerLoop } from "../loop/worker-loop.ts";
import { getQueueName } from "../tables/run-table.ts";
import type { WorkerListener } from "./worker-event.ts";

/** Options of `Fleet.worker`. */
export interface WorkerOptions {
  /** How many runs the worker runs at once. @default 4 */
  readonly concurrency?: number | undefined;
  /**
   * How many runs of one group run at once, on all workers together, for each version of a loop. Set the same number on
   * every worker. It may be exceeded for moments. @default no limit
   */
  readonly perGroup?: number | undefined;
  /**
   * Milliseconds from the signal to stop until the worker ends. Runs stop at their next barrier; runs that have not
   * stopped shortly before the end are aborted. @default 60_000
   */
  readonly graceMs?: number | undefined;
  /** Called when the worker starts and drains, and when its runs start and end. @default none */
  readonly onEvent?: WorkerListener | undefined;
}

/** The state of a worker, as `FleetWorker.health` returns it. */
export interface WorkerHealth {
  /** `"idle"` before `run` and after it has ended. */
  readonly state: "idle" | "running" | "draining";
  /** Number of the worker; `null` while it is idle. */
  readonly id: number | null;
  /** Number of runs it has now. */
  readonly running: number;
  /** How many runs it runs at once. */
  readonly concurrency: number;
  /** When it last reached the database, in ISO 8601; `null` before. */
  readonly seenAt: string | null;
}

const workerKeys: KnownKeys<WorkerOptions> = {
  concurrency: true,
  graceMs: true,
  onEvent: true,
  perGroup: true,
};

/** Refuses unknown options. */
export function checkWorkerOptions(options: WorkerOptions): void {
  checkKnownKeys(options, "Fleet.worker(options)", workerKeys);
}

const refuse = InvalidOptionError.at((name) => `Fleet.worker(${name})`);

/** Returns the loops of a worker by their queues. Throws `InvalidOptionError`. */
export function checkLoops(loops: readonly WorkerLoop[]): ReadonlyMap<string, WorkerLoop> {
  const byQueue = new Map<string, WorkerLoop>();
  for (const loop of Array.isArray(loops) ? loops : []) {
    if (typeof loop?.[runRequest] !== "function") {
      throw refuse("loops", loop, "must be AgentLoops", "pass new AgentLoop({ … })");
    }
    const queue = getQueueName({ loop: loop.name, version: loop.version });
    if (byQueue.has(queue)) {
      const rule = "must not have the same name and version twice";
      throw refuse("loops", queue, rule, "change the version of one of them");
    }
    byQueue.set(queue, loop);
  }
  if (byQueue.size > 0) return byQueue;
  throw refuse("loops", loops, "must be a list of at least one AgentLoop", "pass [loop]");
}

/** Returns the listener. Throws `InvalidOptionError` unless it is a function or omitted. */
export function checkListener(listener: WorkerListener | undefined): WorkerListener | undefined {
  if (listener === undefined || typeof listener === "function") return listener;
  throw refuse("onEvent", listener, "must be a function", "use (event) => console.log(event)");
}

/** Returns a positive integer that a timer can wait. Throws `InvalidOptionError`. */
export function checkCount(name: keyof WorkerOptions, value: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value <= MAX_COUNT) return value;
  const rule = `must be an integer from 1 to ${MAX_COUNT}`;
  throw refuse(name, value, rule, "omit it for the default");
}

/** The longest that a timer can wait, in milliseconds. */
const MAX_COUNT = 2 ** 31 - 1;
