import { type Clock, systemClock } from "../base/clock.ts";
import { type ClientSettings, clientSettings, type OpenAIClientConfig } from "./client-config.ts";
import { type Call, Http } from "./http.ts";
import { pathPart } from "./path-part.ts";
import { resultIn } from "./result.ts";
import { SECRETS } from "./secrets.ts";
import type { Multipart } from "./transport.ts";
import type { WireItem } from "./wire.ts";

/** The part of the official `openai` client that is called here, so that it and any like it fit. */
export interface OpenAIClient {
  readonly responses: {
    create(body: object, options?: CallOptions): PromiseLike<unknown>;
  };
  readonly containers: {
    retrieve(containerId: string, options?: CallOptions): PromiseLike<unknown>;
    readonly files: {
      readonly content: {
        retrieve(
          fileId: string,
          params: { container_id: string },
          options?: CallOptions,
        ): PromiseLike<BinaryAnswer>;
      };
    };
  };
  readonly files: {
    create(body: NewFile, options?: CallOptions): PromiseLike<unknown>;
    content(fileId: string, options?: CallOptions): PromiseLike<BinaryAnswer>;
  };
}

/** How one call is made; `timeout` is in milliseconds. */
export interface CallOptions {
  maxRetries?: number;
  signal?: AbortSignal | undefined;
  timeout?: number;
}

/** The bytes of a file; a `Response` fits. */
export interface BinaryAnswer {
  arrayBuffer(): Promise<ArrayBuffer>;
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
    });
    this.containers = this.#containers();
    this.files = this.#files();
    Object.freeze(this);
  }

  [SECRETS](): readonly string[] {
    return this.#settings.secrets;
  }

  /** Sends JSON that is already text. */
  async post(path: string, body: string | Uint8Array, options?: CallOptions): Promise<Posted> {
    return await this.#json({ method: "POST", path, body, type: "application/json" }, options);
  }

  #containers(): OpenAIClient["containers"] {
    return Object.freeze({
      retrieve: async (containerId: string, options?: CallOptions) => {
        const path = `/containers/${pathPart(containerId, "containerId")}`;
        return withRequestId(await this.#json({ method: "GET", path }, options));
      },
      files: Object.freeze({
        content: Object.freeze({
          retrieve: async (
            fileId: string,
            { container_id }: { container_id: string },
            options?: CallOptions,
          ) => {
            const files = `/containers/${pathPart(container_id, "containerId")}/files`;
            const path = `${files}/${pathPart(fileId, "fileId")}/content`;
            return await this.#binary(path, options);
          },
        }),
      }),
    });
  }

  #files(): OpenAIClient["files"] {
    return Object.freeze({
      create: async (file: NewFile, options?: CallOptions) => {
        const call: Call = { method: "POST", path: "/files", body: formOf(file) };
        return withRequestId(await this.#json(call, options));
      },
      content: async (fileId: string, options?: CallOptions) =>
        await this.#binary(`/files/${pathPart(fileId, "fileId")}/content`, options),
    });
  }

  async #json(call: Call, { signal, timeout }: CallOptions = {}): Promise<Posted> {
    const answer = await this.#http.exchange({ ...call, signal, timeoutMs: timeout });
    const { bytes, contentType, requestId, context } = answer;
    const text = new TextDecoder().decode(bytes);
    return { value: resultIn({ contentType, text }, context), requestId };
  }

  async #binary(path: string, { signal, timeout }: CallOptions = {}): Promise<BinaryAnswer> {
    const call: Call = { method: "GET", path, signal, timeoutMs: timeout };
    const { bytes } = await this.#http.exchange(call);
    return { arrayBuffer: async () => new Uint8Array(bytes).buffer };
  }
}

/** An answer's object, and the id that it came with. */
export interface Posted {
  readonly value: WireItem;
  readonly requestId: string | null;
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

/** The id that an answer came with: ours and the official client's results carry it unseen. */
export function requestIdOf(result: unknown): string | null {
  const isObject = typeof result === "object" && result !== null;
  if (!isObject || !("_request_id" in result)) return null;
  return typeof result._request_id === "string" ? result._request_id : null;
}

/** What is enumerated stays the same. */
function withRequestId({ value, requestId }: Posted): WireItem {
  if (Object.hasOwn(value, "_request_id")) return value;
  return Object.defineProperty(value, "_request_id", { value: requestId });
}
