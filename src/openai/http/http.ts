import type { Clock } from "../../base/clock.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { redactError } from "../../base/redact.ts";
import {
  createStatusError,
  type OpenAIRequestError,
  toRequestError,
} from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import type { HeaderLookup } from "../errors/retry-after.ts";
import { readRequestIdHeader } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { ClientSettings } from "./client-config.ts";
import { type EgressLog, type EgressNote, egressNote, type LoggedRequest } from "./egress-log.ts";
import { fetchTransport } from "./fetch-transport.ts";
import type { JsonResponse } from "./json-response.ts";
import { parseJsonResponse } from "./json-response.ts";
import { nodeTransport } from "./node-transport.ts";
import { type EventHandler, SseReader } from "./sse-reader.ts";
import { createStreamedResponse, type StreamedResponse } from "./streamed-response.ts";
import {
  forEachChunk,
  type HttpRequest,
  type HttpResponse,
  isNode,
  readBytes,
  readWhole,
  type Transport,
} from "./transport.ts";

/** Options of one request; `timeout` is in milliseconds. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeout?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly [egressNote]?: EgressNote | undefined;
}

/** One request to the API. */
export interface ApiCall {
  readonly method: HttpRequest["method"];
  /** Relative to the base URL. */
  readonly path: string;
  /** Added to the query parameters of every request. */
  readonly query?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: HttpRequest["body"];
  /** The body's content type. Omitted for forms: the transport sets it with the boundary. */
  readonly type?: string;
  /** The accepted types of the response. @default JSON */
  readonly accept?: string;
}

/** Receives a response that is sent as events. */
export interface StreamReceiver {
  /** Handles one event. Throws `SyntaxError` if its data is invalid. */
  readonly onEvent: EventHandler;
  /** Called after each chunk, with its size. Reading continues when the returned promise resolves. */
  onChunk(bytes: number): Promise<void> | null;
  /** Whether the sizes of chunks matter. */
  readonly isObserved: boolean;
  /** Whether the last event has arrived. */
  readonly isComplete: boolean;
  /** Returns the whole response. Throws if events are missing or invalid. */
  finish(): WireItem;
}

/** A response with status 2xx whose body has not been read. */
interface OpenResponse extends Pick<HttpResponse, "chunks" | "forEachChunk" | "cancel"> {
  readonly header: HeaderLookup;
  readonly requestId: string | null;
  /** Describes the request in errors while reading the body. */
  readonly context: RequestContext;
  /** The request in the report, or `null`. */
  readonly sent: LoggedRequest | null;
}

/** Sends requests to the API, once each. Failures throw an `OpenAIRequestError`. */
export class Http {
  readonly #settings: ClientSettings;
  readonly #clock: Clock;
  readonly #send: Transport;
  /** Records the requests; `null` if they are not recorded. */
  readonly #log: EgressLog | null;

  constructor(settings: ClientSettings, clock: Clock, recorded: RecordedTransport | null = null) {
    this.#settings = settings;
    this.#clock = clock;
    this.#send = recorded?.send ?? createTransport(settings, clock);
    this.#log = recorded?.log ?? null;
  }

  /** Returns an object that sends requests over the same connections, and records them. */
  record(log: EgressLog): Http {
    return new Http(this.#settings, this.#clock, { send: this.#send, log });
  }

  /** Posts serialized JSON. */
  async post(
    path: string,
    body: string | Uint8Array,
    options?: SendOptions,
  ): Promise<JsonResponse> {
    return await this.requestJson(
      { method: "POST", path, body, type: "application/json" },
      options,
    );
  }

  /**
   * Sends a request for a stream, and passes its events to `receiver`. A response that is not a stream
   * of events is parsed as JSON.
   */
  async requestStream(
    call: ApiCall,
    receiver: StreamReceiver,
    options?: SendOptions,
  ): Promise<JsonResponse> {
    const accept = `${EVENT_STREAM}, application/json`;
    const opened = await this.#open({ ...call, accept }, options);
    const { header, requestId, context } = opened;
    if ((header("content-type") ?? "").toLowerCase().startsWith(EVENT_STREAM)) {
      return { value: await this.#readEvents(opened, receiver), requestId };
    }
    const text = await this.#readText(opened);
    if (!FIRST_FIELD.test(text)) {
      return { value: parseJsonResponse({ header, text }, context), requestId };
    }
    const { forEachChunk: _, ...whole } = { ...opened, chunks: iterateText(text) }; // no content type
    return { value: await this.#readEvents(whole, receiver), requestId };
  }

  /** Sends a request and parses its JSON response. */
  async requestJson(call: ApiCall, options?: SendOptions): Promise<JsonResponse> {
    const opened = await this.#open(call, options);
    const text = await this.#readText(opened);
    const { header, requestId, context } = opened;
    const value = parseJsonResponse({ header, text }, context);
    this.#log?.complete(opened.sent, value);
    return { value, requestId };
  }

  /** Deletes a resource. Servers return an object or an empty body. */
  async delete(path: string, options?: SendOptions): Promise<unknown> {
    const opened = await this.#open({ method: "DELETE", path }, options);
    const text = await this.#readText(opened);
    const { header, context } = opened;
    const value = text === "" ? null : parseJsonResponse({ header, text }, context);
    this.#log?.complete(opened.sent);
    return value;
  }

  /** Opens a response as a stream. `maxResponseBytes` applies only to `arrayBuffer()`. */
  async openBinary(path: string, options?: SendOptions): Promise<StreamedResponse> {
    const opened = await this.#open({ method: "GET", path }, options);
    return createStreamedResponse(opened, opened.context, this.#settings.maxResponseBytes);
  }

  async #readEvents(opened: OpenResponse, receiver: StreamReceiver): Promise<WireItem> {
    const reader = new SseReader(receiver.onEvent, this.#settings.maxResponseBytes);
    let closing: ReturnType<typeof setTimeout> | undefined;
    try {
      await forEachChunk(opened, (chunk) => {
        reader.push(chunk);
        // The server should close the connection now. Real time: only a broken server does not.
        if (receiver.isComplete) closing ??= setTimeout(opened.cancel, END_MS);
        return receiver.onChunk(chunk.length);
      });
      reader.end();
    } catch (thrown) {
      if (!receiver.isComplete) throw toRequestError(thrown, opened.context);
    } finally {
      clearTimeout(closing);
    }
    try {
      return receiver.finish();
    } catch (thrown) {
      throw toRequestError(thrown, opened.context);
    }
  }

  async #readText({ context, ...body }: OpenResponse): Promise<string> {
    try {
      const bytes = await readWhole(body, this.#settings.maxResponseBytes);
      return new TextDecoder().decode(bytes);
    } catch (thrown) {
      throw toRequestError(thrown, context);
    }
  }

  async #open(call: ApiCall, options: SendOptions = {}): Promise<OpenResponse> {
    const { signal, timeout, headers } = options;
    const { secrets, isKeyMissing } = this.#settings;
    const timeoutMs = timeout ?? this.#settings.timeoutMs;
    signal?.throwIfAborted();
    if (isKeyMissing) throw createMissingKeyError();
    const request = `${call.method} ${call.path}`;
    const now = () => this.#clock.now();
    const known = { request, secrets, now, signal, timeoutMs };
    const { method, path, body = null } = call;
    const sent = this.#log?.begin({ method, path, body }, options[egressNote]) ?? null;
    try {
      const answer = await this.#send({ ...this.#createRequest(call, headers), signal, timeoutMs });
      const { status, header, chunks } = answer;
      if (status < 200 || status > 299) throw await readFailure(answer, known);
      const requestId = readRequestIdHeader(header, secrets);
      const context = { ...known, response: { status, requestId } };
      const { forEachChunk: read, cancel } = answer;
      const opened = { chunks, cancel, header, requestId, context, sent };
      return read ? { ...opened, forEachChunk: read } : opened;
    } catch (thrown) {
      const error = toRequestError(thrown, known);
      this.#log?.fail(sent, error);
      throw error;
    }
  }

  #createRequest(
    call: ApiCall,
    more: SendOptions["headers"],
  ): Omit<HttpRequest, "signal" | "timeoutMs"> {
    const { method, path, query, body = null, type, accept = "application/json" } = call;
    const settings = this.#settings;
    const added = new URLSearchParams(Object(query)).toString();
    const questions = [settings.query.slice(1), added].filter((part) => part !== "").join("&");
    const own = { accept, ...(type && { "content-type": type }) };
    return {
      method,
      url: `${settings.baseURL}${path}${questions === "" ? "" : `?${questions}`}`,
      headers: { ...own, ...more, ...settings.headers },
      body,
    };
  }
}

/** The connections of another object, and the log for requests over them. */
interface RecordedTransport {
  readonly send: Transport;
  readonly log: EgressLog;
}

function createTransport({ fetch }: ClientSettings, clock: Clock): Transport {
  const usesNode = fetch === undefined && isNode();
  return usesNode ? nodeTransport() : fetchTransport(fetch ?? globalThis.fetch, clock);
}

const EVENT_STREAM = "text/event-stream";
/** The beginning of a stream of events, also if a proxy has removed its content type. */
const FIRST_FIELD = /^(?:event|data|id|retry)?:/;
/** How long the server may keep the connection open after the last event. */
const END_MS = 1_000;

async function* iterateText(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function createMissingKeyError(): InvalidOptionError {
  return new InvalidOptionError({
    field: "clientConfig.apiKey",
    value: undefined,
    rule: "must be set for https://api.openai.com",
    remedy: "set OPENAI_API_KEY or clientConfig.apiKey",
  });
}

/** Longer error bodies are truncated and stored as text. */
const MAX_ERROR_BYTES = 64 * 1024;

/** Reads the body of a failed response. The status is reported even if the body cannot be read. */
async function readFailure(
  answer: HttpResponse,
  context: RequestContext,
): Promise<OpenAIRequestError> {
  const { status, header } = answer;
  try {
    const bytes = await readBytes(answer.chunks, MAX_ERROR_BYTES);
    const text = new TextDecoder().decode(bytes);
    const parsed = parseJson(text);
    return createStatusError({ status, header, body: parsed.ok ? parsed.value : text }, context);
  } catch (thrown) {
    const cause = redactError(thrown, context.secrets);
    return createStatusError({ status, header, body: null, cause }, context);
  }
}

/**
 * Encodes an id as one segment of a URL path. Ids may come from a provider, so they are untrusted:
 * an id that would change the path is rejected.
 */
export function toUrlSegment(id: string, field: string): string {
  const isPart = typeof id === "string" && !/^\.{0,2}$|[\\/]|\p{Cc}/u.test(id) && id.isWellFormed();
  if (isPart) return encodeURIComponent(id);
  const rule = 'must be an id: not empty, "." or "..", without slashes and control characters';
  throw new InvalidOptionError({
    field,
    value: id,
    rule,
    remedy: "pass the id exactly as the provider returned it",
  });
}
