import type { Worker } from "node:worker_threads";
import { WinkError } from "../../base/errors.ts";
import { startWorker } from "../../host/threads/run-in-thread.ts";
import { fromFailure, type WorkerFailure } from "../../host/threads/worker-failure.ts";
import { type Credits, giveCredit, newCredits } from "./credits.ts";

/** What the thread is given. */
export interface PackTask {
  readonly folder: string;
  readonly credits: Credits;
}

/** What the thread says. */
export type PackMessage =
  | { readonly type: "chunk"; readonly chunk: Uint8Array<ArrayBuffer> }
  | { readonly type: "end" }
  | { readonly type: "failed"; readonly failure: WorkerFailure };

/** So many chunks may be made before somebody wants them. */
const CHUNKS_AHEAD = 4;

/** A thread that packs a folder, and waits when its chunks are not taken. */
export class PackThread {
  readonly #worker: Worker;
  readonly #credits = newCredits(CHUNKS_AHEAD);
  readonly #messages: PackMessage[] = [];
  #wake: (() => void) | null = null;

  constructor(folder: string) {
    const task: PackTask = { folder, credits: this.#credits };
    this.#worker = startWorker(import.meta.url, "pack-worker", task);
    this.#worker.on("message", (message: PackMessage) => this.#receive(message));
    this.#worker.on("error", (cause) => this.#receive(endedEarly(cause)));
    this.#worker.on("exit", (code) => {
      this.#receive(endedEarly(new Error(`Its exit code was ${code}`)));
    });
  }

  /** The next chunk, or `null` after the last one. */
  async next(): Promise<Uint8Array<ArrayBuffer> | null> {
    this.#worker.ref();
    let message = this.#messages.shift();
    while (!message) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      message = this.#messages.shift();
    }
    this.#worker.unref(); // a tar that nobody reads on does not keep the process alive
    if (message.type === "failed") throw fromFailure(message.failure);
    if (message.type === "end") return null;
    giveCredit(this.#credits);
    return message.chunk;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #receive(message: PackMessage): void {
    this.#messages.push(message);
    this.#wake?.();
  }
}

function endedEarly(cause: unknown): PackMessage {
  const problem = "The thread that packs the folder ended before it was done: pack it again";
  return { type: "failed", failure: { type: "other", error: new WinkError(problem, { cause }) } };
}
