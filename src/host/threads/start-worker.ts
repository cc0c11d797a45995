import { Worker } from "node:worker_threads";

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
