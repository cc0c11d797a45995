import type { Sandbox, SandboxOptions, SandboxProcess } from "../sandbox/sandbox.ts";

/** The sandbox processes of containers: one per container, opened on first use, one run at a time. */
export class ContainerProcesses implements AsyncDisposable {
  readonly #sandbox: Sandbox;
  readonly #queues = new Map<string, ProcessQueue>();
  #isClosed = false;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Runs `work` in the container's process, after all earlier work. */
  async run<Result>(
    containerId: string,
    options: SandboxOptions,
    work: (process: SandboxProcess) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isClosed) throw new Error("The containers are closed.");
    const open = (signal: AbortSignal) => this.#sandbox.open({ ...options, signal });
    const lane = this.#queues.get(containerId) ?? new ProcessQueue(open);
    this.#queues.set(containerId, lane);
    return await lane.run(work);
  }

  /** Kills the container's process, even while it runs. */
  async end(containerId: string): Promise<void> {
    const lane = this.#queues.get(containerId);
    this.#queues.delete(containerId);
    await lane?.end();
  }

  /** Kills all processes. No new one can be opened. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#queues.keys()].map((id) => this.end(id)));
  }
}

class ProcessQueue {
  readonly #open: (signal: AbortSignal) => Promise<SandboxProcess>;
  readonly #disposal = new AbortController();
  #process: Promise<SandboxProcess> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: (signal: AbortSignal) => Promise<SandboxProcess>) {
    this.#open = open;
  }

  run<Result>(work: (process: SandboxProcess) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(async () => work(await this.#ensureOpen()));
    this.#last = result.catch(() => undefined); // the caller gets the error
    return result;
  }

  /** Cancels an opening in progress and waits for it, then kills the process. */
  async end(): Promise<void> {
    this.#disposal.abort(new Error("The container has ended."));
    const process = await this.#process?.catch(() => undefined); // already reported to the caller
    await process?.[Symbol.asyncDispose]();
  }

  /** Opens the process on first use. After a failure the next call retries. */
  #ensureOpen(): Promise<SandboxProcess> {
    const { signal } = this.#disposal;
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#process ??= this.#open(signal).catch((error: unknown) => {
      this.#process = undefined;
      throw error;
    });
    return this.#process;
  }
}
