import { Worker } from "node:worker_threads";
import { orAborted } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import type { ThreadAnswer, ThreadJob, ThreadOrder } from "./thread-job.ts";
import { fromFailure } from "./worker-failure.ts";

/** Stops a thread, and words the error if the thread ends before its job has. */
export interface RunInThreadOptions {
  readonly signal?: AbortSignal | undefined;
  /** The job, as it completes "The thread that …", for example "packs the folder". */
  readonly job: string;
  /** What the caller can do if the thread dies, for example "pack it again". */
  readonly remedy: string;
}

/**
 * Runs one job in a new thread and returns its result. Throws what the job threw, the signal's reason,
 * and a `WinkError` if the thread ends early.
 */
export async function runInThread<Task, Result>(
  { module, name }: ThreadJob<Task, Result>,
  task: NoInfer<Task>,
  { signal, job, remedy }: RunInThreadOptions,
): Promise<Result> {
  const order: ThreadOrder = { module, name, task };
  const worker = startWorker(import.meta.url, "worker", order);
  const endedEarly = (cause: unknown) =>
    new WinkError(`The thread that ${job} ended before it was done: ${remedy}`, { cause });
  try {
    const answer = await orAborted(waitForAnswer<Result>(worker, endedEarly), signal);
    if (answer.type === "failed") throw fromFailure(answer.failure);
    return answer.result;
  } finally {
    await worker.terminate(); // stops the job if it was aborted
  }
}

/**
 * Starts a worker file in a thread. `beside` is the caller's `import.meta.url`, and `file` a file in the
 * same folder without its extension: it is `.ts` when running from source and `.js` when built.
 */
export function startWorker(beside: string, file: string, workerData: unknown): Worker {
  const extension = beside.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./${file}.${extension}`, beside);
  // Options of the process, such as --input-type or --test, are not meant for this file.
  return new Worker(url, { workerData, execArgv: [], name: `wink-${file}` });
}

function waitForAnswer<Result>(
  worker: Worker,
  endedEarly: (cause: unknown) => Error,
): Promise<ThreadAnswer<Result>> {
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer<Result>>();
  const onExit = (code: number) => reject(endedEarly(new Error(`Its exit code was ${code}`)));
  worker.once("exit", onExit);
  worker.once("error", (cause) => reject(endedEarly(cause)));
  worker.once("message", (answer: ThreadAnswer<Result>) => {
    worker.off("exit", onExit);
    resolve(answer);
  });
  return promise;
}
