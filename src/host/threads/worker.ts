/**
 * Entry file of every thread that `runInThread` starts. Imports the job's module and runs the job.
 */
import { parentPort, workerData } from "node:worker_threads";
import type { ThreadAnswer, ThreadJob, ThreadOrder } from "./thread-job.ts";
import { toFailure } from "./worker-failure.ts";

const { module, name, task } = workerData as ThreadOrder;

parentPort?.postMessage(await runJob());

async function runJob(): Promise<ThreadAnswer<unknown>> {
  try {
    const { [name]: run }: Record<string, ThreadJob<unknown, unknown>["run"]> = await import(
      module
    );
    if (run === undefined) throw new Error(`${module} does not export ${name}`);
    return { type: "done", result: await run(task) };
  } catch (error) {
    return { type: "failed", failure: toFailure(error) };
  }
}
