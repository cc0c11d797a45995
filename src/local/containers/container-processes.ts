import type { Sandbox, SandboxOptions, SandboxProcess } from "../sandbox/sandbox.ts";
import { ProcessSlots, type SlotHolder } from "./process-slots.ts";

/** Options of {@link ContainerProcesses}. */
export interface ContainerProcessesOptions {
  readonly sandbox: Sandbox;
  /** The most processes that are open at the same time. */
  readonly maxOpen: number;
  /** Called when an idle container's process is ended for another container. Its files are kept. */
  readonly onEvict: (containerId: string) => void;
}

/** Options of one run in a container's process. */
export interface ContainerRunOptions {
  /** Ends the wait for a process that may be opened. */
  readonly signal: AbortSignal | undefined;
  /** Creates the options of the process. Called when the container has no open process. */
  readonly createOptions: () => SandboxOptions;
}

/**
 * The sandbox processes of containers: one per container, opened on first use, one run at a time. Only so many are open
 * at the same time; the least recently used idle one is ended for another container.
 */
export class ContainerProcesses implements AsyncDisposable {
  readonly #options: ContainerProcessesOptions;
  readonly #slots: ProcessSlots;
  readonly #queues = new Map<string, ProcessQueue>();
  #isClosed = false;

  constructor(options: ContainerProcessesOptions) {
    this.#options = options;
    this.#slots = new ProcessSlots(options.maxOpen);
  }

  /** Runs `work` in the container's process, after all earlier work. */
  async run<Result>(
    containerId: string,
    { signal, createOptions }: ContainerRunOptions,
    work: (process: SandboxProcess) => Promise<Result>,
  ): Promise<Result> {
    if (this.#isClosed) throw new Error("The containers are closed.");
    const { sandbox, onEvict } = this.#options;
    const create = () =>
      new ProcessQueue({
        slots: this.#slots,
        open: (ending) => sandbox.open({ ...createOptions(), signal: ending }),
        onEvict: () => onEvict(containerId),
      });
    const lane = this.#queues.get(containerId) ?? create();
    this.#queues.set(containerId, lane);
    return await lane.run(work, signal);
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

interface QueueOptions {
  readonly slots: ProcessSlots;
  readonly open: (signal: AbortSignal) => Promise<SandboxProcess>;
  readonly onEvict: () => void;
}

class ProcessQueue implements SlotHolder {
  readonly #options: QueueOptions;
  readonly #disposal = new AbortController();
  #process: Promise<SandboxProcess> | undefined;
  #eviction: Promise<void> = Promise.resolve();
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  run<Result>(
    work: (process: SandboxProcess) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    this.#pending += 1;
    this.#options.slots.markBusy(this);
    const result = this.#last
      .then(async () => work(await this.#ensureOpen(signal)))
      .finally(() => this.#onRunEnd());
    this.#last = result.catch(() => undefined); // the caller gets the error
    return result;
  }

  /** Cancels an opening in progress and waits for it, then kills the process. */
  async end(): Promise<void> {
    this.#disposal.abort(new Error("The container has ended."));
    this.#options.slots.markBusy(this);
    await this.#eviction;
    const opening = this.#process;
    const process = await opening?.catch(() => undefined); // already reported to the caller
    try {
      await process?.[Symbol.asyncDispose]();
    } finally {
      if (process) this.#options.slots.release();
    }
  }

  evict(): Promise<void> {
    const opening = this.#process;
    this.#process = undefined;
    this.#options.onEvict();
    this.#eviction = (async () => {
      const process = await opening;
      await process?.[Symbol.asyncDispose]();
    })().catch(() => undefined); // the slot is free as far as this process can tell
    return this.#eviction;
  }

  /** Opens the process on first use and after an eviction. After a failure the next call retries. */
  #ensureOpen(runSignal: AbortSignal | undefined): Promise<SandboxProcess> {
    const { signal } = this.#disposal;
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#process ??= this.#openInSlot(runSignal).catch((error: unknown) => {
      this.#process = undefined;
      throw error;
    });
    return this.#process;
  }

  async #openInSlot(runSignal: AbortSignal | undefined): Promise<SandboxProcess> {
    const { slots, open } = this.#options;
    const { signal } = this.#disposal;
    await this.#eviction;
    await slots.take(runSignal ? AbortSignal.any([runSignal, signal]) : signal);
    try {
      return await open(signal);
    } catch (error) {
      slots.release();
      throw error;
    }
  }

  #onRunEnd(): void {
    this.#pending -= 1;
    const isIdle = this.#pending === 0 && this.#process !== undefined;
    if (isIdle && !this.#disposal.signal.aborted) this.#options.slots.markIdle(this);
  }
}
