import { Worker } from "node:worker_threads";
import { raceAbort } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import { toSentence } from "../../base/to-sentence.ts";
import type { ThreadAnswer, ThreadJob, ThreadOrder } from "./thread-job.ts";
import { fromFailure } from "./worker-failure.ts";

/**
 * Options of {@link runInThread}: a signal, and the wording of the error if the thread ends early.
 */
export interface RunInThreadOptions {
  /** Stops the thread when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** The job, completing "The thread that …", for example "packs the folder". */
  readonly job: string;
  /** The remedy if the thread ends early, for example "pack it again". */
  readonly remedy: string;
}

/**
 * Runs one job in a new thread and returns its result. Throws the job's error, the signal's reason,
 * or a `WinkError` if the thread ends early.
 */
export async function runInThread<Task, Result>(
  { module, name }: ThreadJob<Task, Result>,
  task: NoInfer<Task>,
  { signal, job, remedy }: RunInThreadOptions,
): Promise<Result> {
  const order: ThreadOrder = { module, name, task };
  const worker = startWorker(import.meta.url, "worker", order);
  const createEarlyEndError = (cause: unknown) =>
    new WinkError(`The thread that ${job} ended early. ${toSentence(remedy)}`, { cause });
  try {
    const answer = await raceAbort(waitForAnswer<Result>(worker, createEarlyEndError), signal);
    if (answer.type === "failed") throw fromFailure(answer.failure);
    return answer.result;
  } finally {
    await worker.terminate(); // Stops the job if it was aborted.
  }
}

/**
 * Starts a worker file in a thread. `beside` is the caller's `import.meta.url`, and `file` is a
 * file in the same folder without its extension, which is `.ts` when running from source and `.js`
 * when built.
 */
export function startWorker(beside: string, file: string, workerData: unknown): Worker {
  const extension = beside.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./${file}.${extension}`, beside);
  // Process options such as --input-type or --test do not apply to this file.
  return new Worker(url, { workerData, execArgv: [], name: `wink-${file}` });
}

function waitForAnswer<Result>(
  worker: Worker,
  createEarlyEndError: (cause: unknown) => Error,
): Promise<ThreadAnswer<Result>> {
  const { promise, resolve, reject } = Promise.withResolvers<ThreadAnswer<Result>>();
  const onExit = (code: number) =>
    reject(createEarlyEndError(new Error(`Its exit code was ${code}`)));
  worker.once("exit", onExit);
  worker.once("error", (cause) => reject(createEarlyEndError(cause)));
  worker.once("message", (answer: ThreadAnswer<Result>) => {
    worker.off("exit", onExit);
    resolve(answer);
  });
  return promise;
}
