import type { Sandbox, SandboxOptions, SandboxProcess } from "../sandbox/sandbox.ts";

/** The sandbox processes of containers: one each, opened when first needed, used by one at a time. */
export class ContainerProcesses implements AsyncDisposable {
  readonly #sandbox: Sandbox;
  readonly #lanes = new Map<string, Lane>();
  #isOver = false;

  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Does `work` in the container's process, after what was asked for before. */
  async run<Result>(
    containerId: string,
    options: SandboxOptions,
    work: (process: SandboxProcess) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isOver) throw new Error("The containers are closed.");
    const open = (signal: AbortSignal) => this.#sandbox.open({ ...options, signal });
    const lane = this.#lanes.get(containerId) ?? new Lane(open);
    this.#lanes.set(containerId, lane);
    return await lane.run(work);
  }

  /** Kills the container's process, even while it runs. */
  async end(containerId: string): Promise<void> {
    const lane = this.#lanes.get(containerId);
    this.#lanes.delete(containerId);
    await lane?.end();
  }

  /** Kills all; none is opened any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#lanes.keys()].map((id) => this.end(id)));
  }
}

class Lane {
  readonly #open: (signal: AbortSignal) => Promise<SandboxProcess>;
  readonly #over = new AbortController();
  #process: Promise<SandboxProcess> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(open: (signal: AbortSignal) => Promise<SandboxProcess>) {
    this.#open = open;
  }

  run<Result>(work: (process: SandboxProcess) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(async () => work(await this.#opened()));
    this.#last = result.catch(() => undefined); // a failure is for who asked
    return result;
  }

  /** An opening is called off; a sandbox that goes on with it is waited for. */
  async end(): Promise<void> {
    this.#over.abort(new Error("The container has ended."));
    const process = await this.#process?.catch(() => undefined); // who opened it was told
    await process?.[Symbol.asyncDispose]();
  }

  /** A failure is forgotten, so that the next one tries again. */
  #opened(): Promise<SandboxProcess> {
    const { signal } = this.#over;
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#process ??= this.#open(signal).catch((error: unknown) => {
      this.#process = undefined;
      throw error;
    });
    return this.#process;
  }
}
