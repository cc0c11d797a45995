import type { Clock } from "../../base/clock.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import { scrubbedError } from "../../base/scrubbed.ts";
import { answerError, type OpenAIRequestError, requestErrorFrom } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import type { HeaderLookup } from "../errors/retry-after.ts";
import { requestIdIn } from "../secrets.ts";
import type { ClientSettings } from "./client-config.ts";
import { fetchTransport } from "./fetch-transport.ts";
import type { Posted } from "./result.ts";
import { resultIn } from "./result.ts";
import { type StreamedAnswer, streamedAnswer } from "./streamed-answer.ts";
import {
  type HttpAnswer,
  type HttpRequest,
  isNode,
  readBytes,
  readWhole,
  type Transport,
} from "./transport.ts";
import { undiciTransport } from "./undici-transport.ts";

/** How one call is made; `timeout` is in milliseconds. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeout?: number;
}

/** One call of the API. */
export interface Call {
  readonly method: HttpRequest["method"];
  /** Below the base URL. */
  readonly path: string;
  /** Added to what every address has. */
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: HttpRequest["body"];
  /** The body's, where the transport does not say it: a form's boundary is its own. */
  readonly type?: string;
}

/** An answer with status 2xx whose body is still to be read. */
interface Opened extends Pick<HttpAnswer, "chunks" | "cancel"> {
  readonly header: HeaderLookup;
  readonly requestId: string | null;
  /** For what may still go wrong with it. */
  readonly context: RequestContext;
}

/** One exchange after the other: each is sent once, and fails with an `OpenAIRequestError`. */
export class Http {
  readonly #settings: ClientSettings;
  readonly #clock: Clock;
  readonly #send: Transport;

  constructor(settings: ClientSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    const { fetch, timeoutMs } = settings;
    const usesUndici = fetch === undefined && isNode();
    this.#send = usesUndici
      ? undiciTransport(timeoutMs)
      : fetchTransport(fetch ?? globalThis.fetch, clock);
  }

  /** Sends JSON that is already text. */
  async post(path: string, body: string | Uint8Array, options?: SendOptions): Promise<Posted> {
    return await this.json({ method: "POST", path, body, type: "application/json" }, options);
  }

  /** The object that a call is answered with. */
  async json(call: Call, options?: SendOptions): Promise<Posted> {
    const opened = await this.#open(call, options);
    const text = await this.#text(opened);
    const { header, requestId, context } = opened;
    return { value: resultIn({ header, text }, context), requestId };
  }

  /** Deletes something; servers answer with an object or with nothing. */
  async delete(path: string, options?: SendOptions): Promise<unknown> {
    const opened = await this.#open({ method: "DELETE", path }, options);
    const text = await this.#text(opened);
    const { header, context } = opened;
    return text === "" ? null : resultIn({ header, text }, context);
  }

  /** An answer that is not held here: only who reads it whole is bound to `maxResponseBytes`. */
  async binary(path: string, options?: SendOptions): Promise<StreamedAnswer> {
    const opened = await this.#open({ method: "GET", path }, options);
    return streamedAnswer(opened, opened.context, this.#settings.maxResponseBytes);
  }

  async #text({ chunks, context }: Opened): Promise<string> {
    try {
      const bytes = await readWhole(chunks, this.#settings.maxResponseBytes);
      return new TextDecoder().decode(bytes);
    } catch (thrown) {
      throw requestErrorFrom(thrown, context);
    }
  }

  async #open(call: Call, { signal, timeout }: SendOptions = {}): Promise<Opened> {
    const { secrets, lacksKey } = this.#settings;
    const timeoutMs = timeout ?? this.#settings.timeoutMs;
    signal?.throwIfAborted();
    if (lacksKey) throw noKey();
    const request = `${call.method} ${call.path}`;
    const now = () => this.#clock.now();
    const known = { request, secrets, now, signal, timeoutMs };
    try {
      const answer = await this.#send({ ...this.#request(call), signal, timeoutMs });
      const { status, header, chunks } = answer;
      if (status < 200 || status > 299) throw await failure(answer, known);
      const requestId = requestIdIn(header, secrets);
      const context = { ...known, answered: { status, requestId } };
      return {
        chunks,
        cancel: answer.cancel,
        header,
        requestId,
        context,
      };
    } catch (thrown) {
      throw requestErrorFrom(thrown, known);
    }
  }

  #request(call: Call): Omit<HttpRequest, "signal" | "timeoutMs"> {
    const { method, path, query, body = null, type } = call;
    const settings = this.#settings;
    const added = new URLSearchParams(query).toString();
    const questions = [settings.query.slice(1), added].filter((part) => part !== "").join("&");
    const own = { accept: "application/json", ...(type && { "content-type": type }) };
    return {
      method,
      url: `${settings.baseURL}${path}${questions === "" ? "" : `?${questions}`}`,
      headers: { ...own, ...settings.headers },
      body,
    };
  }
}

function noKey(): InvalidOptionError {
  return new InvalidOptionError({
    field: "clientConfig.apiKey",
    value: undefined,
    rule: "must be given for https://api.openai.com",
    remedy: "set OPENAI_API_KEY or clientConfig.apiKey",
  });
}

/** What is longer is kept as the beginning of a text. */
const LONGEST_ERROR = 64 * 1024;

/** The status counts even where the body does not come or does not end. */
async function failure(answer: HttpAnswer, context: RequestContext): Promise<OpenAIRequestError> {
  const { status, header } = answer;
  try {
    const { bytes } = await readBytes(answer.chunks, LONGEST_ERROR);
    const text = new TextDecoder().decode(bytes);
    const parsed = parseJson(text);
    return answerError({ status, header, body: parsed.ok ? parsed.value : text }, context);
  } catch (thrown) {
    const cause = scrubbedError(thrown, context.secrets);
    return answerError({ status, header, body: null, cause }, context);
  }
}

/**
 * An id as one part of a path. It may come from a provider, so it may be anything: it is encoded,
 * and what would change the path all the same is refused.
 */
export function pathPart(id: string, field: string): string {
  const isPart = typeof id === "string" && !/^\.{0,2}$|[\\/]|\p{Cc}/u.test(id) && id.isWellFormed();
  if (isPart) return encodeURIComponent(id);
  const rule = 'must be an id: neither empty, "." nor "..", without slashes and control characters';
  throw new InvalidOptionError({
    field,
    value: id,
    rule,
    remedy: "pass it as the provider gave it",
  });
}
