import { type Clock, systemClock } from "../../base/clock.ts";
import { SECRETS } from "../secrets.ts";
import type { WireContainerOptions } from "../wire.ts";
import { type ClientSettings, clientSettings, type OpenAIClientConfig } from "./client-config.ts";
import { Http, pathPart } from "./http.ts";
import { containersOver } from "./http-containers.ts";
import { type Posted, withRequestId } from "./result.ts";
import type { Multipart } from "./transport.ts";

export { type Posted, requestIdOf } from "./result.ts";

/** The part of the official `openai` client that is called here, so that it and any like it fit. */
export interface OpenAIClient {
  readonly responses: {
    create(body: object, options?: CallOptions): PromiseLike<unknown>;
    /** Only compaction needs it. */
    compact?(body: object, options?: CallOptions): PromiseLike<unknown>;
    /** Only compaction needs it. */
    readonly inputTokens?: {
      count(body: object, options?: CallOptions): PromiseLike<unknown>;
    };
  };
  readonly containers: {
    create(body: NewContainer, options?: CallOptions): PromiseLike<unknown>;
    retrieve(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    delete(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    readonly files: ContainerFilesClient;
  };
  readonly files: {
    create(body: NewFile, options?: CallOptions): PromiseLike<unknown>;
    content(fileId: string, options?: CallOptions): PromiseLike<BinaryAnswer>;
  };
}

/** The part of a client that deals with the files in containers. */
export interface ContainerFilesClient {
  create(containerId: string, body: { file: File }, options?: CallOptions): PromiseLike<unknown>;
  /** One page, which has `data` and `has_more`. */
  list(containerId: string, query: PageQuery, options?: CallOptions): PromiseLike<unknown>;
  delete(
    fileId: string,
    params: { container_id: string },
    options?: CallOptions,
  ): PromiseLike<unknown>;
  readonly content: {
    retrieve(
      fileId: string,
      params: { container_id: string },
      options?: CallOptions,
    ): PromiseLike<BinaryAnswer>;
  };
}

/** How one call is made; `timeout` is in milliseconds. */
export interface CallOptions {
  maxRetries?: number;
  signal?: AbortSignal | undefined;
  timeout?: number;
}

/** The bytes of a file; a `Response` fits. They are there once; who does not read them cancels `body`. */
export interface BinaryAnswer {
  /** The bytes as they come, however many. */
  readonly body?: ReadableStream<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A container that is to be made. */
export interface NewContainer extends WireContainerOptions {
  name: string;
  /** How long it lives after it was last used. */
  expires_after?: { anchor: "last_active_at"; minutes: number };
}

/** Which page of a list is asked for. */
export interface PageQuery {
  limit?: number;
  order?: "asc" | "desc";
  /** The id that the page begins behind. */
  after?: string;
}

/** What a file is kept for. */
export type FilePurpose = "assistants" | "batch" | "fine-tune" | "vision" | "user_data" | "evals";

/** A file on its way to the provider. */
export interface NewFile {
  file: File;
  purpose: FilePurpose;
  expires_after?: { anchor: "created_at"; seconds: number };
}

/** A thin client of OpenAI's API: one request a call, no retries, errors that say what to do. */
export function openAIClient(config: OpenAIClientConfig = {}): OpenAIClient {
  return new HttpClient(config);
}

/** Our own client, which takes a request's text as well: history is then written only once. */
export class HttpClient implements OpenAIClient {
  readonly #settings: ClientSettings;
  readonly #http: Http;
  readonly responses: OpenAIClient["responses"];
  readonly containers: OpenAIClient["containers"];
  readonly files: OpenAIClient["files"];

  constructor(config: OpenAIClientConfig = {}, { clock = systemClock }: { clock?: Clock } = {}) {
    this.#settings = clientSettings(config);
    this.#http = new Http(this.#settings, clock);
    this.responses = Object.freeze({
      create: async (body: object, options?: CallOptions) =>
        withRequestId(await this.post("/responses", JSON.stringify(body), options)),
      compact: async (body: object, options?: CallOptions) =>
        withRequestId(await this.post("/responses/compact", JSON.stringify(body), options)),
      inputTokens: Object.freeze({
        count: async (body: object, options?: CallOptions) =>
          withRequestId(await this.post("/responses/input_tokens", JSON.stringify(body), options)),
      }),
    });
    this.containers = containersOver(this.#http);
    this.files = this.#files();
    Object.freeze(this);
  }

  [SECRETS](): readonly string[] {
    return this.#settings.secrets;
  }

  /** Sends JSON that is already text. */
  async post(path: string, body: string | Uint8Array, options?: CallOptions): Promise<Posted> {
    return await this.#http.post(path, body, options);
  }

  #files(): OpenAIClient["files"] {
    return Object.freeze({
      create: async (file: NewFile, options?: CallOptions) => {
        const call = { method: "POST", path: "/files", body: formOf(file) } as const;
        return withRequestId(await this.#http.json(call, options));
      },
      content: async (fileId: string, options?: CallOptions) =>
        await this.#http.binary(`/files/${pathPart(fileId, "fileId")}/content`, options),
    });
  }
}

function formOf({ file, purpose, expires_after: expiry }: NewFile): Multipart {
  const expires: Multipart = expiry
    ? [
        ["expires_after[anchor]", expiry.anchor],
        ["expires_after[seconds]", String(expiry.seconds)],
      ]
    : [];
  return [["purpose", purpose], ...expires, ["file", file]];
}
