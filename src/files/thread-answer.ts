import { parentPort, workerData } from "node:worker_threads";
import type { ThreadAnswer } from "./thread-task.ts";
import { toFailure } from "./worker-failure.ts";

/** Does the one task that this thread was started for. */
export function answerTask<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  void answerOf(() => work(workerData as Task)).then((answer) => parentPort?.postMessage(answer));
}

async function answerOf<Result>(
  work: () => Result | Promise<Result>,
): Promise<ThreadAnswer<Result>> {
  try {
    return { type: "done", result: await work() };
  } catch (error) {
    return { type: "failed", failure: toFailure(error) };
  }
}
