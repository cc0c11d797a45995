/** Entry file of the thread that searches files. */
import { parentPort, workerData } from "node:worker_threads";
import { toFailure } from "../../../host/threads/worker-failure.ts";
import { type SearchTask, searchFiles } from "./search-files.ts";
import type { SearchMessage } from "./search-in-thread.ts";

try {
  const task = workerData as SearchTask;
  const omissions = await searchFiles(task, (matches) => post({ type: "matches", matches }));
  post({ type: "done", omissions });
} catch (error) {
  post({ type: "failed", failure: toFailure(error) });
}

function post(message: SearchMessage): void {
  parentPort?.postMessage(message);
}
