import type { AdapterEvent } from "../../adapter/events.ts";
import { maxThrottleWaitMs, type RetrySettings } from "../../adapter/throttle.ts";
import type { Clock } from "../../base/clock.ts";
import { WinkError } from "../../base/errors.ts";
import type { Logger } from "../../base/logger.ts";
import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import type { OpenAIClient } from "../http/client.ts";
import { ContainerCalls, type ContainerFile } from "../http/container-calls.ts";
import type { EgressNote } from "../http/egress-log.ts";
import { createRetrySettings, withRetries } from "../http/retry.ts";
import { deleteStoredFile, storeFile } from "../http/stored-files.ts";
import type { Mirror } from "./mirror.ts";
import { type PythonSettings, runPython } from "./run-python.ts";
import { trackUpload } from "./track-upload.ts";

/** The container and abort signal of one transfer. */
export interface TransferStep {
  readonly containerId: string;
  readonly signal: AbortSignal;
}

/** The mirror and connection that a strategy uses. */
export interface StrategyParts {
  readonly mirror: Mirror;
  readonly connection: WorkspaceConnection;
}

/** How long the provider keeps a stored file that no process deletes: a day. */
const STORED_SECONDS = 24 * 60 * 60;

/** The settings that a workspace uses from the adapter that evaluates its prompt. */
export interface WorkspaceBinding extends PythonSettings, RetrySettings {}

/** An upload of a workspace's files. */
export interface UploadedFile {
  readonly file: File;
  /** Computes the file's SHA-256, when the report of what was sent is read. */
  readonly digest: () => string;
  /** Returns the digests of the workspace's files in it, by path, when the report is read. */
  readonly contents: () => ReadonlyMap<string, string>;
  readonly mirror: Mirror;
}

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
  /** The longest wait of a throttled request; `undefined` for no limit. */
  #maxWaitMs: number | undefined;
  #isTransient = false;

  constructor(client: OpenAIClient | null, clock: Clock) {
    this.#calls = new ContainerCalls(client ?? missingClient);
    this.#retry = createRetrySettings(clock);
  }

  /** Switches to an adapter's client, retries and events. `isTransient`: the provider must retain nothing. */
  bind(
    adapter: WorkspaceBinding,
    publish: (event: AdapterEvent) => void,
    { isTransient = false }: { readonly isTransient?: boolean } = {},
  ): void {
    this.#isTransient = isTransient;
    if (this.#adapter?.client !== adapter.client) this.#calls = new ContainerCalls(adapter.client);
    this.#adapter = adapter;
    this.#retry = adapter;
    this.#publish = publish;
  }

  /**
   * Runs `work`, in which no throttled request waits longer than this for its next attempt. Other requests wait as
   * long as the provider asks: the files that they download would be lost.
   */
  async limitWaits<Result>(
    milliseconds: number | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    this.#maxWaitMs = milliseconds;
    try {
      return await work();
    } finally {
      this.#maxWaitMs = undefined;
    }
  }

  get logger(): Logger {
    return this.#retry.logger;
  }

  /** Container requests without retries. */
  get calls(): ContainerCalls {
    return this.#calls;
  }

  /** Whether an adapter evaluates the prompt: its model can run Python, and its report lists what is sent. */
  get isBound(): boolean {
    return this.#adapter !== null;
  }

  /** Sends a request, and retries while the provider throttles it. */
  async send<Result>(
    request: (calls: ContainerCalls) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    return await this.#retryThrottled(() => request(this.#calls), signal);
  }

  /** Whether files may be stored at the provider outside containers. */
  get canStoreFiles(): boolean {
    return this.#adapter?.client.files.delete !== undefined && !this.#isTransient;
  }

  /** Uploads a file to the container. */
  async upload(
    upload: UploadedFile,
    { containerId, signal }: TransferStep,
  ): Promise<ContainerFile> {
    const options = { signal, note: toNote(upload) };
    return await trackUpload(upload.mirror.progress, upload.file, (tracked) =>
      this.send((calls) => calls.upload(containerId, tracked, options), signal),
    );
  }

  /** Stores a file at the provider, apart from containers. Returns its id. */
  async store(upload: UploadedFile, { signal }: TransferStep): Promise<string> {
    const client = this.#adapter?.client ?? missingClient;
    const expires_after = { anchor: "created_at", seconds: STORED_SECONDS } as const;
    const note = toNote(upload);
    return await trackUpload(upload.mirror.progress, upload.file, (tracked) => {
      const body = { file: tracked, purpose: "user_data", expires_after } as const;
      return this.send(() => storeFile(client, body, signal, note), signal);
    });
  }

  /** Copies a stored file into the container. */
  async attach(fileId: string, { containerId, signal }: TransferStep): Promise<ContainerFile> {
    return await this.send((calls) => calls.attach(containerId, fileId, { signal }), signal);
  }

  /** Deletes a stored file. */
  async deleteStored(fileId: string): Promise<void> {
    const client = this.#adapter?.client ?? missingClient;
    const { signal } = new AbortController();
    await this.send(() => deleteStoredFile(client, fileId), signal);
  }

  /** Runs Python in a container. Returns its printed output. */
  async runPython(code: string, { containerId, signal }: TransferStep): Promise<string> {
    const adapter = this.#adapter;
    if (!adapter) throw new WinkError(NO_CLIENT);
    const run = () => runPython(adapter, { containerId, code, signal });
    const { output, usage } = await this.#retryThrottled(run, signal);
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

  async #retryThrottled<Result>(
    request: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const retry = { ...this.#retry, [maxThrottleWaitMs]: this.#maxWaitMs };
    return await withRetries(request, retry, signal);
  }
}

/** Describes an upload in the report. */
function toNote({ file, digest, contents, mirror }: UploadedFile): EgressNote {
  const files = () =>
    Array.from(contents(), ([path, sha256]) => ({ ...mirror.locate(path), sha256 }));
  return { bytes: file.size, digest, files };
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
