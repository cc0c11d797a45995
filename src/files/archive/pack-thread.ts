import type { Worker } from "node:worker_threads";
import { WinkError } from "../../base/errors.ts";
import { startWorker } from "../../host/threads/run-in-thread.ts";
import { fromFailure, type WorkerFailure } from "../../host/threads/worker-failure.ts";
import { type Backpressure, createBackpressure, releaseSlot } from "./backpressure.ts";

/** The `workerData` of the packing thread. */
export interface PackTask {
  readonly folder: string;
  readonly backpressure: Backpressure;
}

/** A message from the packing thread. */
export type PackMessage =
  | { readonly type: "chunk"; readonly chunk: Uint8Array<ArrayBuffer> }
  | { readonly type: "end" }
  | { readonly type: "failed"; readonly failure: WorkerFailure };

/** How many chunks the thread may produce before they are read. */
const CHUNKS_AHEAD = 4;

/** A thread that packs a folder. It pauses while its chunks are not read. */
export class PackThread {
  readonly #worker: Worker;
  readonly #backpressure = createBackpressure(CHUNKS_AHEAD);
  readonly #messages: PackMessage[] = [];
  #wake: (() => void) | null = null;

  constructor(folder: string) {
    const task: PackTask = { folder, backpressure: this.#backpressure };
    this.#worker = startWorker(import.meta.url, "pack-worker", task);
    this.#worker.on("message", (message: PackMessage) => this.#receive(message));
    this.#worker.on("error", (cause) => this.#receive(createEarlyEndMessage(cause)));
    this.#worker.on("exit", (code) => {
      this.#receive(createEarlyEndMessage(new Error(`Its exit code was ${code}`)));
    });
  }

  /** Returns the next chunk, or `null` after the last one. */
  async next(): Promise<Uint8Array<ArrayBuffer> | null> {
    this.#worker.ref();
    let message = this.#messages.shift();
    while (!message) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      message = this.#messages.shift();
    }
    this.#worker.unref(); // an abandoned stream must not keep the process alive
    if (message.type === "failed") throw fromFailure(message.failure);
    if (message.type === "end") return null;
    releaseSlot(this.#backpressure);
    return message.chunk;
  }

  /** Stops the thread. */
  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #receive(message: PackMessage): void {
    this.#messages.push(message);
    this.#wake?.();
  }
}

function createEarlyEndMessage(cause: unknown): PackMessage {
  const problem = "The thread that packs the folder ended early. Pack it again.";
  return { type: "failed", failure: { type: "other", error: new WinkError(problem, { cause }) } };
}
