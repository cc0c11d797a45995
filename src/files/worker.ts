import { Worker } from "node:worker_threads";

/** Starts a file beside this one in a thread: `.ts` where we run from source, `.js` where built. */
export function startWorker(file: string, workerData: unknown): Worker {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const url = new URL(`./${file}.${extension}`, import.meta.url);
  // Options of the process, such as --input-type or --test, are not meant for this file.
  return new Worker(url, { workerData, execArgv: [], name: `wink-${file}` });
}
