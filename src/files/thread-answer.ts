import { parentPort, workerData } from "node:worker_threads";
import type { ThreadAnswer } from "./thread-task.ts";
import { toFailure } from "./worker-failure.ts";

/** Does the one task that this thread was started for. */
export function answerTask<Task, Result>(work: (task: Task) => Result): void {
  parentPort?.postMessage(answerOf(() => work(workerData as Task)));
}

function answerOf<Result>(work: () => Result): ThreadAnswer<Result> {
  try {
    return { type: "done", result: work() };
  } catch (error) {
    return { type: "failed", failure: toFailure(error) };
  }
}
