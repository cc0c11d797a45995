import { type Clock, systemClock } from "../../base/clock.ts";
import { SECRETS } from "../secrets.ts";
import type { CallOptions, NewFile, OpenAIClient } from "./client.ts";
import {
  type ClientSettings,
  type OpenAIClientConfig,
  resolveClientSettings,
} from "./client-config.ts";
import type { EgressLog } from "./egress-log.ts";
import { Http, type SendOptions, toUrlSegment } from "./http.ts";
import { attachRequestId, type JsonResponse } from "./json-response.ts";
import type { StreamReceiver } from "./read-events.ts";
import type { Multipart } from "./transport.ts";

/**
 * Creates a thin client for OpenAI's API: one request per call, no retries. Failures throw an
 * `OpenAIRequestError` with a remedy.
 */
export function openAIClient(config: OpenAIClientConfig = {}): OpenAIClient {
  return new HttpClient(config);
}

/** Options of an {@link HttpClient}. */
interface HttpClientOptions {
  readonly clock?: Clock;
  /** The connections of another client, whose config is used. @default its own */
  readonly shared?: { readonly settings: ClientSettings; readonly http: Http };
}

/**
 * The built-in client. It also accepts serialized JSON, so that the history is serialized only
 * once.
 */
export class HttpClient implements OpenAIClient {
  readonly #settings: ClientSettings;
  readonly #http: Http;
  // Created when they are first used: each evaluation has a client, which usually needs none of them.
  #responses: OpenAIClient["responses"] | null = null;
  #containers: OpenAIClient["containers"] | null = null;
  #files: OpenAIClient["files"] | null = null;

  constructor(config: OpenAIClientConfig = {}, options: HttpClientOptions = {}) {
    const { clock = systemClock, shared } = options;
    this.#settings = shared?.settings ?? resolveClientSettings(config);
    this.#http = shared?.http ?? new Http(this.#settings, clock);
    Object.freeze(this);
  }

  get responses(): OpenAIClient["responses"] {
    this.#responses ??= this.#createResponsesClient();
    return this.#responses;
  }

  get containers(): OpenAIClient["containers"] {
    this.#containers ??= createContainersClient(this.#http);
    return this.#containers;
  }

  get files(): OpenAIClient["files"] {
    this.#files ??= this.#createFilesClient();
    return this.#files;
  }

  [SECRETS](): readonly string[] {
    return this.#settings.secrets;
  }

  /** Returns a client that uses the same connections, and records its requests. */
  record(log: EgressLog): HttpClient {
    const shared = { settings: this.#settings, http: this.#http.record(log) };
    return new HttpClient({}, { shared });
  }

  /** Posts serialized JSON. */
  post(path: string, body: string | Uint8Array, options?: CallOptions): Promise<JsonResponse> {
    return this.#http.post(path, body, options);
  }

  /** Posts serialized JSON that asks for a stream, and passes the events to `receiver`. */
  postStreamed(
    path: string,
    body: string | Uint8Array,
    receiver: StreamReceiver,
    options?: CallOptions,
  ): Promise<JsonResponse> {
    const call = { method: "POST", path, body, type: "application/json" } as const;
    return this.#http.requestStream(call, receiver, options);
  }

  /** Passes the events of an existing response to `receiver`. */
  async retrieveStreamed(
    responseId: string,
    query: object,
    receiver: StreamReceiver,
    options?: CallOptions,
  ): Promise<JsonResponse> {
    const call = { path: toResponsePath(responseId), query: listQuery(query) };
    return await this.#http.requestStream({ method: "GET", ...call }, receiver, options);
  }

  #createResponsesClient(): OpenAIClient["responses"] {
    return Object.freeze({
      create: async (body: object, options?: CallOptions) =>
        attachRequestId(await this.post("/responses", JSON.stringify(body), options)),
      retrieve: async (responseId: string, query: object = {}, options?: CallOptions) => {
        const call = { path: toResponsePath(responseId), query: listQuery(query) };
        return attachRequestId(await this.#http.requestJson({ method: "GET", ...call }, options));
      },
      cancel: async (responseId: string, options?: CallOptions) =>
        attachRequestId(
          await this.#http.requestJson(
            { method: "POST", path: `${toResponsePath(responseId)}/cancel` },
            options,
          ),
        ),
      compact: async (body: object, options?: CallOptions) =>
        attachRequestId(await this.post("/responses/compact", JSON.stringify(body), options)),
      inputTokens: Object.freeze({
        count: async (body: object, options?: CallOptions) =>
          attachRequestId(
            await this.post("/responses/input_tokens", JSON.stringify(body), options),
          ),
      }),
    });
  }

  #createFilesClient(): OpenAIClient["files"] {
    return Object.freeze({
      create: async (file: NewFile, options?: CallOptions) => {
        const call = { method: "POST", path: "/files", body: toForm(file) } as const;
        return attachRequestId(await this.#http.requestJson(call, options));
      },
      content: async (fileId: string, options?: CallOptions) =>
        await this.#http.openBinary(`/files/${toUrlSegment(fileId, "fileId")}/content`, options),
      delete: async (fileId: string, options?: CallOptions) =>
        await this.#http.delete(`/files/${toUrlSegment(fileId, "fileId")}`, options),
    });
  }
}

function toForm({ file, purpose, expires_after: expiry }: NewFile): Multipart {
  const expires: Multipart = expiry
    ? [
        ["expires_after[anchor]", expiry.anchor],
        ["expires_after[seconds]", String(expiry.seconds)],
      ]
    : [];
  return [["purpose", purpose], ...expires, ["file", file]];
}

/** Creates the `containers` part of the client, in the official client's form. */
function createContainersClient(http: Http) {
  return Object.freeze({
    create: async (body: object, options?: SendOptions) =>
      attachRequestId(await http.post("/containers", JSON.stringify(body), options)),
    retrieve: async (containerId: string, options?: SendOptions) =>
      attachRequestId(
        await http.requestJson({ method: "GET", path: toContainerPath(containerId) }, options),
      ),
    delete: async (containerId: string, options?: SendOptions) =>
      await http.delete(toContainerPath(containerId), options),
    files: createContainerFilesClient(http),
  });
}

function createContainerFilesClient(http: Http) {
  return Object.freeze({
    create: async (
      containerId: string,
      body: { file: File } | { file_id: string },
      options?: SendOptions,
    ) => {
      const path = toFilesPath(containerId);
      if (!("file" in body))
        return attachRequestId(await http.post(path, JSON.stringify(body), options));
      const call = { method: "POST", path, body: [["file", body.file]] } as const;
      return attachRequestId(await http.requestJson(call, options));
    },
    list: async (containerId: string, query: object, options?: SendOptions) => {
      const call = {
        method: "GET",
        path: toFilesPath(containerId),
        query: listQuery(query),
      } as const;
      return attachRequestId(await http.requestJson(call, options));
    },
    delete: async (fileId: string, { container_id }: ContainerParams, options?: SendOptions) =>
      await http.delete(toFilePath(container_id, fileId), options),
    content: Object.freeze({
      retrieve: async (fileId: string, { container_id }: ContainerParams, options?: SendOptions) =>
        await http.openBinary(`${toFilePath(container_id, fileId)}/content`, options),
    }),
  });
}

interface ContainerParams {
  readonly container_id: string;
}

function toContainerPath(containerId: string): string {
  return `/containers/${toUrlSegment(containerId, "containerId")}`;
}

function toFilesPath(containerId: string): string {
  return `${toContainerPath(containerId)}/files`;
}

function toFilePath(containerId: string, fileId: string): string {
  return `${toFilesPath(containerId)}/${toUrlSegment(fileId, "fileId")}`;
}

function toResponsePath(responseId: string): string {
  return `/responses/${toUrlSegment(responseId, "responseId")}`;
}

/** Lists query parameters. An array becomes one parameter for each value, as in `include[]=…`. */
function listQuery(query: object): readonly (readonly [string, string])[] {
  return Object.entries(query).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.map((one) => [`${name}[]`, String(one)] as const);
    return value === undefined ? [] : [[name, String(value)] as const];
  });
}
