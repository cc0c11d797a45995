import type { Clock } from "../base/clock.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { parseJson } from "../base/json.ts";
import type { ClientSettings } from "./client-config.ts";
import { requestIdIn, typeOf } from "./failed-answer.ts";
import { fetchTransport } from "./fetch-transport.ts";
import { answerError, type OpenAIRequestError, requestErrorFrom } from "./request-error.ts";
import type { RequestContext } from "./request-failure.ts";
import { scrubbedError } from "./secrets.ts";
import {
  type HttpAnswer,
  type HttpRequest,
  isNode,
  readBytes,
  TooLong,
  type Transport,
} from "./transport.ts";
import { undiciTransport } from "./undici-transport.ts";

/** One call of the API. */
export interface Call {
  readonly method: HttpRequest["method"];
  /** Below the base URL. */
  readonly path: string;
  readonly body?: HttpRequest["body"];
  /** The body's, where the transport does not say it: a form's boundary is its own. */
  readonly type?: string;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/** An answer with status 2xx, read to its end. */
export interface Received {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  readonly requestId: string | null;
  /** For what is still wrong with it. */
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

  async exchange(call: Call): Promise<Received> {
    const { maxResponseBytes: most, timeoutMs, secrets, lacksKey } = this.#settings;
    const { signal } = call;
    signal?.throwIfAborted();
    if (lacksKey) throw noKey();
    const request = `${call.method} ${call.path}`;
    const now = () => this.#clock.now();
    const known = { request, secrets, now, signal, timeoutMs: call.timeoutMs ?? timeoutMs };
    let context: RequestContext = known;
    try {
      const answer = await this.#send(this.#request(call));
      const { status, header } = answer;
      if (status < 200 || status > 299) throw await failure(answer, context);
      const requestId = requestIdIn(header, secrets);
      context = { ...known, answered: { status, requestId } };
      const { bytes, isWhole } = await readBytes(answer.chunks, most);
      if (!isWhole) throw new TooLong(`more than ${most} bytes`);
      return { bytes, contentType: typeOf(header), requestId, context };
    } catch (thrown) {
      throw requestErrorFrom(thrown, context);
    }
  }

  #request({ method, path, body = null, type, signal, timeoutMs }: Call): HttpRequest {
    const settings = this.#settings;
    const own = { accept: "application/json", ...(type && { "content-type": type }) };
    return {
      method,
      url: `${settings.baseURL}${path}${settings.query}`,
      headers: { ...own, ...settings.headers },
      body,
      timeoutMs: timeoutMs ?? settings.timeoutMs,
      signal,
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
