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
import { readRequestIdHeader } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { ClientSettings } from "./client-config.ts";
import { type EgressLog, type EgressNote, egressNote, type LoggedRequest } from "./egress-log.ts";
import { fetchTransport } from "./fetch-transport.ts";
import type { JsonResponse } from "./json-response.ts";
import { parseJsonResponse } from "./json-response.ts";
import { nodeTransport } from "./node-transport.ts";
import { type EventBody, readEvents, type StreamReceiver } from "./read-events.ts";
import { createStreamedResponse, type StreamedResponse } from "./streamed-response.ts";
import {
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
}

/** A response with status 2xx whose body has not been read. */
interface OpenResponse {
  readonly answer: HttpResponse;
  readonly requestId: string | null;
  /** Describes the request in errors while reading the body. */
  readonly context: RequestContext;
  /** The request in the report, or `null`. */
  readonly logged: LoggedRequest | null;
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
  post(path: string, body: string | Uint8Array, options?: SendOptions): Promise<JsonResponse> {
    return this.requestJson({ method: "POST", path, body, type: "application/json" }, options);
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
    const opened = await this.#open(call, options, STREAM_OR_JSON);
    const { answer, requestId, context } = opened;
    const { header } = answer;
    if ((header("content-type") ?? "").toLowerCase().startsWith(EVENT_STREAM)) {
      return { value: await this.#readEvents(answer, receiver, context), requestId };
    }
    const text = await this.#readText(opened);
    if (!FIRST_FIELD.test(text)) {
      return { value: parseJsonResponse({ header, text }, context), requestId };
    }
    const body = { chunks: iterateText(text), cancel: () => answer.cancel() }; // no content type
    return { value: await this.#readEvents(body, receiver, context), requestId };
  }

  /** Sends a request and parses its JSON response. */
  async requestJson(call: ApiCall, options?: SendOptions): Promise<JsonResponse> {
    const opened = await this.#open(call, options);
    const text = await this.#readText(opened);
    const { answer, requestId, context, logged } = opened;
    const value = parseJsonResponse({ header: answer.header, text }, context);
    this.#log?.complete(logged, value);
    return { value, requestId };
  }

  /** Deletes a resource. Servers return an object or an empty body. */
  async delete(path: string, options?: SendOptions): Promise<unknown> {
    const opened = await this.#open({ method: "DELETE", path }, options);
    const text = await this.#readText(opened);
    const { answer, context, logged } = opened;
    const value = text === "" ? null : parseJsonResponse({ header: answer.header, text }, context);
    this.#log?.complete(logged);
    return value;
  }

  /** Opens a response as a stream. `maxResponseBytes` applies only to `arrayBuffer()`. */
  async openBinary(path: string, options?: SendOptions): Promise<StreamedResponse> {
    const { answer, context } = await this.#open({ method: "GET", path }, options);
    return createStreamedResponse(answer, context, this.#settings.maxResponseBytes);
  }

  async #readEvents(
    body: EventBody,
    receiver: StreamReceiver,
    context: RequestContext,
  ): Promise<WireItem> {
    try {
      await readEvents(body, receiver, this.#settings.maxResponseBytes);
      return receiver.finish();
    } catch (thrown) {
      throw toRequestError(thrown, context);
    }
  }

  async #readText({ answer, context }: OpenResponse): Promise<string> {
    try {
      return decoder.decode(await readWhole(answer, this.#settings.maxResponseBytes));
    } catch (thrown) {
      throw toRequestError(thrown, context);
    }
  }

  async #open(call: ApiCall, options: SendOptions = {}, accept = JSON_TYPE): Promise<OpenResponse> {
    const settings = this.#settings;
    options.signal?.throwIfAborted();
    if (settings.isKeyMissing) throw createMissingKeyError();
    const context = new SentRequest(call, options, { settings, clock: this.#clock });
    const logged = this.#log?.begin(call, options[egressNote]) ?? null;
    try {
      const { signal, timeoutMs } = context;
      const headers = this.#createHeaders(call, options, accept);
      const { method, body = null } = call;
      const url = this.#createURL(call);
      const answer = await this.#send({ method, url, headers, body, timeoutMs, signal });
      const { status, header } = answer;
      if (status < 200 || status > 299) throw await readFailure(answer, context);
      const requestId = readRequestIdHeader(header, settings.secrets);
      context.response = { status, requestId };
      return { answer, requestId, context, logged };
    } catch (thrown) {
      const error = toRequestError(thrown, context);
      this.#log?.fail(logged, error);
      throw error;
    }
  }

  #createHeaders(
    { type }: ApiCall,
    { headers }: SendOptions,
    accept: string,
  ): HttpRequest["headers"] {
    const { headers: given } = this.#settings;
    return type === undefined
      ? { accept, ...headers, ...given }
      : { accept, "content-type": type, ...headers, ...given };
  }

  #createURL({ path, query }: ApiCall): string {
    const { baseURL, query: given } = this.#settings;
    const added = query === undefined ? "" : new URLSearchParams(Object(query)).toString();
    if (added === "") return `${baseURL}${path}${given}`;
    return `${baseURL}${path}${given === "" ? "?" : `${given}&`}${added}`;
  }
}

/** A request that was sent, as its errors describe it. The description costs nothing if there is no error. */
class SentRequest implements RequestContext {
  readonly #call: ApiCall;
  readonly #clock: Clock;
  readonly secrets: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Set when the headers of a response with status 2xx have arrived. */
  response: RequestContext["response"];

  constructor(
    call: ApiCall,
    { signal, timeout }: SendOptions,
    { settings, clock }: { readonly settings: ClientSettings; readonly clock: Clock },
  ) {
    this.#call = call;
    this.#clock = clock;
    this.secrets = settings.secrets;
    this.signal = signal;
    this.timeoutMs = timeout ?? settings.timeoutMs;
  }

  get request(): string {
    return `${this.#call.method} ${this.#call.path}`;
  }

  get now(): () => number {
    return () => this.#clock.now();
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

const JSON_TYPE = "application/json";
const EVENT_STREAM = "text/event-stream";
const STREAM_OR_JSON = `${EVENT_STREAM}, ${JSON_TYPE}`;
/** The beginning of a stream of events, also if a proxy has removed its content type. */
const FIRST_FIELD = /^(?:event|data|id|retry)?:/;
/** Keeps nothing between two calls. */
const decoder = new TextDecoder();

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
    const text = decoder.decode(bytes);
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
