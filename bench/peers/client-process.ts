import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { clientEnvironment } from "./client-environment.ts";
import type { Client } from "./clients.ts";

/** Runs of one scenario, one after the other. */
export interface Batch {
  readonly scenario: string;
  /**
   * Repeats the scenario until the process has used so many milliseconds of CPU time. Elapsed time would make the batches of
   * a busy machine short, and the few runs in them would pay for the garbage of earlier ones. @default 0
   */
  readonly cpuMs?: number;
  /** The smallest number of runs. @default 1 */
  readonly minRuns?: number;
  /** The smallest number of model requests. @default 0 */
  readonly minRequests?: number;
  /** Runs at the same time. @default 1 */
  readonly concurrency?: number;
  /** Also measures the steps 10 to 60 of the first run, and its last 50. @default false */
  readonly isMarked?: boolean;
}

/** The cost of a batch. Times are per model request. */
export interface BatchCost {
  /** User and system time of all threads of the process. */
  readonly cpuUs: number;
  readonly wallUs: number;
  /** The largest memory of the process so far. */
  readonly maxRssMb: number;
  readonly earlyUs?: number;
  readonly lateUs?: number;
}

/** A client in its own process. It ends when it is disposed, or with this process. */
export class ClientProcess implements AsyncDisposable {
  readonly client: Client;
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  private constructor(client: Client, child: ChildProcess) {
    this.client = client;
    this.#child = child;
    this.#ended = once(child, "exit").then(([code, signal]) => {
      throw new Error(`The process of ${client.name} ended with ${code ?? signal}.`);
    });
    this.#ended.catch(() => {}); // it also ends when it is disposed
  }

  static async start(
    client: Client,
    origin: string,
    execArgv: readonly string[] = [],
  ): Promise<ClientProcess> {
    const child = fork(
      new URL("worker.mjs", import.meta.url),
      [JSON.stringify({ ...client, origin })],
      { execArgv: [...execArgv], env: clientEnvironment, cwd: client.folder },
    );
    const started = new ClientProcess(client, child);
    await started.#receive();
    return started;
  }

  /** Runs a batch. Rejects if an answer is wrong. */
  async measure(batch: Batch): Promise<BatchCost> {
    this.#child.send(batch);
    const answer = await this.#receive();
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer;
  }

  async #receive(): Promise<BatchCost & { readonly error?: string }> {
    const [answer] = await Promise.race([once(this.#child, "message"), this.#ended]);
    return answer;
  }

  /** Lets the process end by itself, so that it can write a profile. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#ended.catch(() => {});
  }
}
