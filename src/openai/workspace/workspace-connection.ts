import { openAsBlob } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { AdapterEvent } from "../../adapter/events.ts";
import type { RetrySettings } from "../../adapter/throttle.ts";
import type { Clock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import { packToFile } from "../../files/archive/pack-to-file.ts";
import type { OpenAIClient } from "../http/client.ts";
import { ContainerCalls } from "../http/container-calls.ts";
import { createRetrySettings, withRetries } from "../http/retry.ts";
import type { Mirror } from "./mirror.ts";
import { type PythonSettings, runPython } from "./run-python.ts";

/** The container and abort signal of one transfer. */
export interface TransferStep {
  readonly containerId: string;
  readonly signal: AbortSignal;
}

/** The settings that a workspace uses from the adapter that evaluates its prompt. */
export interface WorkspaceBinding extends PythonSettings, RetrySettings {}

/**
 * A workspace's connection to the provider. It uses the section's client until an adapter evaluates
 * the prompt, and then the adapter's client and retries.
 */
export class WorkspaceConnection {
  #calls: ContainerCalls;
  #retry: RetrySettings;
  #adapter: WorkspaceBinding | null = null;
  #publish: (event: AdapterEvent) => void = () => {};
  #usage: TokenUsage = noUsage;

  constructor(client: OpenAIClient | null, clock: Clock) {
    this.#calls = new ContainerCalls(client ?? missingClient);
    this.#retry = createRetrySettings(clock);
  }

  /** Switches to an adapter's client, retries and events. */
  bind(adapter: WorkspaceBinding, publish: (event: AdapterEvent) => void): void {
    if (this.#adapter?.client !== adapter.client) this.#calls = new ContainerCalls(adapter.client);
    this.#adapter = adapter;
    this.#retry = adapter;
    this.#publish = publish;
  }

  get logger(): Logger {
    return this.#retry.logger;
  }

  /** Container requests without retries. */
  get calls(): ContainerCalls {
    return this.#calls;
  }

  /** Whether there is a model that can run Python. */
  get canRunPython(): boolean {
    return this.#adapter !== null;
  }

  /** Sends a request, and retries while the provider throttles it. */
  async send<Result>(
    request: (calls: ContainerCalls) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return await withRetries(() => request(this.#calls), this.#retry, signal);
  }

  /**
   * Packs a folder into one tar file, uploads it, and deletes the local tar file. Returns the modes of
   * packed files that are not 644.
   */
  async uploadArchive(
    folder: string,
    name: string,
    mirror: Mirror,
    { containerId, signal }: TransferStep,
  ): Promise<ReadonlyMap<string, number>> {
    // On disk, so that its size is known, retries can resend it, and it never has to fit in memory.
    const stage = await mirror.createStage();
    try {
      const path = join(stage, name);
      const modes = await packToFile(folder, path, { signal });
      const file = new File([await openAsBlob(path)], name);
      await this.send((calls) => calls.upload(containerId, file, { signal }), signal);
      return modes;
    } finally {
      await rm(stage, { recursive: true, force: true });
    }
  }

  /** Runs Python in a container. Returns its printed output. */
  async runPython(code: string, { containerId, signal }: TransferStep): Promise<string> {
    const adapter = this.#adapter;
    if (!adapter) throw new WinkError(NO_CLIENT);
    const run = () => runPython(adapter, { containerId, code, signal });
    const { output, usage } = await withRetries(run, this.#retry, signal);
    this.#usage = addUsage(this.#usage, usage);
    return output;
  }

  /** Returns the token usage of running Python since the last call. */
  takeUsage(): TokenUsage {
    const usage = this.#usage;
    this.#usage = noUsage;
    return usage;
  }

  /** Publishes an event to the evaluation, if one has been bound. */
  publish(event: AdapterEvent): void {
    this.#publish(event);
  }
}

const NO_CLIENT =
  "The workspace has no client yet. Evaluate its prompt first, or pass a client to the section.";

function throwNoClient(): never {
  throw new WinkError(NO_CLIENT);
}

const missingClient: OpenAIClient = {
  responses: { create: throwNoClient },
  containers: {
    create: throwNoClient,
    retrieve: throwNoClient,
    delete: throwNoClient,
    files: {
      create: throwNoClient,
      list: throwNoClient,
      delete: throwNoClient,
      content: { retrieve: throwNoClient },
    },
  },
  files: { create: throwNoClient, content: throwNoClient },
};
