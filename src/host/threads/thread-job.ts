import type { WorkerFailure } from "./worker-failure.ts";

/** A function that {@link runInThread} can run: an export of the module at `module`. */
export interface ThreadJob<Task, Result> {
  readonly module: string;
  readonly name: string;
  /** The function, which runs in the thread. */
  readonly run: (task: Task) => Result | Promise<Result>;
}

/**
 * Declares an exported function as a job for a thread. Call it in the module that exports the
 * function: `export const packJob = threadJob(import.meta.url, pack)`. Task and result are cloned
 * between threads.
 */
export function threadJob<Task, Result>(
  module: string,
  run: (task: Task) => Result | Promise<Result>,
): ThreadJob<Task, Result> {
  return { module, name: run.name, run };
}

/** The `workerData` of a thread that runs one job. */
export interface ThreadOrder {
  readonly module: string;
  readonly name: string;
  readonly task: unknown;
}

/** The single message that a thread posts when its job has ended. */
export type ThreadAnswer<Result> =
  | { readonly type: "done"; readonly result: Result }
  | { readonly type: "failed"; readonly failure: WorkerFailure };
