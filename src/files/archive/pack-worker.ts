import { parentPort, workerData } from "node:worker_threads";
import { toFailure } from "../../host/threads/worker-failure.ts";
import { acquireSlot } from "./backpressure.ts";
import type { PackMessage, PackTask } from "./pack-thread.ts";
import { writeTar } from "./tar/write-tar.ts";

const { folder, backpressure } = workerData as PackTask;

try {
  writeTar(folder, (chunk) => {
    acquireSlot(backpressure);
    post({ type: "chunk", chunk }, [chunk.buffer]);
  });
  post({ type: "end" });
} catch (error) {
  post({ type: "failed", failure: toFailure(error) });
}

function post(message: PackMessage, transfer: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}
