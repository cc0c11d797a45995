import type { Worker } from "node:worker_threads";
import { orAborted } from "../base/abort.ts";
import { startWorker } from "./worker.ts";
import { fromFailure, type WorkerFailure } from "./worker-failure.ts";

/** What a thread says when its one task is over. */
export type ThreadAnswer<Result> =
  | { readonly type: "done"; readonly result: Result }
  | { readonly type: "failed"; readonly failure: WorkerFailure };

/** What may end the thread, and what to throw if something else does. */
export interface ThreadTaskOptions {
  readonly signal?: AbortSignal | undefined;
  endedEarly(cause: unknown): Error;
}

/**
 * What a thread of its own gives for a task; `file` is one beside this that calls `answerTask`.
 * Throws what the task threw, and the signal's reason.
 */
export async function runInThread<Result>(
  file: string,
  task: unknown,
  { endedEarly, signal }: ThreadTaskOptions,
): Promise<Result> {
  const worker = startWorker(file, task);
  try {
    const answer = await orAborted(answerOf<Result>(worker, endedEarly), signal);
    if (answer.type === "failed") throw fromFailure(answer.failure);
    return answer.result;
  } finally {
    await worker.terminate(); // it does nothing from here on
  }
}

function answerOf<Result>(
  worker: Worker,
  endedEarly: (cause: unknown) => Error,
): Promise<ThreadAnswer<Result>> {
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer<Result>>();
  worker.once("message", resolve);
  worker.once("error", (cause) => reject(endedEarly(cause)));
  worker.once("exit", (code) => reject(endedEarly(new Error(`Its exit code was ${code}`))));
  return promise;
}
