import { rmSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { copyFiles } from "./copy-files.ts";
import type { MaterialiseTask } from "./materialise.ts";
import { toFailure, type WorkerFailure } from "./worker-failure.ts";

function run(task: MaterialiseTask): WorkerFailure | null {
  try {
    if (task.type === "copy") copyFiles(task.order, task.folder);
    else rmSync(task.folder, { recursive: true, force: true });
    return null;
  } catch (error) {
    return toFailure(error);
  }
}

parentPort?.postMessage(run(workerData as MaterialiseTask));
