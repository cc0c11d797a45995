import { raceAbort } from "../../../base/clock.ts";
import { getErrorMessage } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { ApiProblem } from "../../api-problem.ts";
import { parseBoundedJson } from "../../parse-bounded-json.ts";
import { readAnswerStream } from "./read-answer-stream.ts";
import { readAnswerText } from "./read-answer-text.ts";
import type { UpstreamSettings } from "./upstream-options.ts";
import type { AnswerStream } from "./upstream-wire.ts";

/** Sends one request to a model server. Rejects with an `ApiProblem` or the signal's reason. */
export type UpstreamExchange = (
  body: object,
  signal: AbortSignal | undefined,
  /** Reads the answer if the server streams it. */
  stream: AnswerStream | null,
) => Promise<Readonly<Record<string, unknown>>>;

/**
 * Creates a function that posts JSON to one path of an upstream server. It does not retry: the client decides
 * that.
 */
export function createUpstreamExchange(settings: UpstreamSettings, path: string): UpstreamExchange {
  const { apiKey, timeoutMs, clock } = settings;
  const url = settings.baseURL + path;
  const createFailure = createFailureFactory(url, apiKey);
  const send = settings.fetch ?? createLazyFetch();
  const headers = {
    "content-type": "application/json",
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  };
  return async (body, signal, stream) => {
    const [timeout, done] = [new AbortController(), new AbortController()];
    clock.sleep(timeoutMs, done.signal).then(
      () => timeout.abort(),
      () => {}, // the server answered in time
    );
    const anySignal = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    const init: PostInit = { method: "POST", headers, body: JSON.stringify(body) };
    const sendAndRead = async () => {
      const response = await send(url, { ...init, redirect: "manual", signal: anySignal });
      const { status } = response;
      const header = (name: string) => response.headers.get(name);
      const isStreamed = header("content-type")?.startsWith("text/event-stream") ?? false;
      if (stream && isStreamed && response.body && isSuccess(status)) {
        const problem = await readAnswerStream(response.body, (data) => stream.add(data));
        if (problem !== null) throw createFailure(`answered ${status} with`, problem);
        return rejectError(stream.body, status, createFailure);
      }
      const text = await readAnswerText(response.body);
      if (text === null) throw createFailure(`answered ${status} with more than 16 MiB`);
      return readBody({ status, header, text }, createFailure);
    };
    try {
      return await raceAbort(sendAndRead(), anySignal);
    } catch (thrown) {
      signal?.throwIfAborted();
      if (thrown instanceof ApiProblem) throw thrown;
      throw timeout.signal.aborted
        ? createFailure(`did not answer within ${timeoutMs} ms`)
        : createFailure("could not be reached", describeInnermostCause(thrown));
    } finally {
      done.abort();
    }
  };
}

/** Creates the error of a failed upstream request. `detail` is the underlying error message. */
export type FailureFactory = (what: string, detail?: string, answer?: BufferedAnswer) => ApiProblem;

/** Returns a factory of errors about one upstream URL. It redacts the key. */
export function createFailureFactory(url: string, apiKey: string | null): FailureFactory {
  const redactKey = (text: string) =>
    apiKey === null
      ? text
      : text.replaceAll(apiKey, "<redacted>").replaceAll(encodeURIComponent(apiKey), "<redacted>");
  return (what, detail = "", answer) => {
    const reason = redactKey(detail.slice(0, MAX_READ_LENGTH))
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, MAX_DETAIL_LENGTH);
    const message = `The upstream model at ${url} ${what}${reason === "" ? "" : `: ${reason}`}`;
    const end = /[.!?]$/.test(message) ? "" : ".";
    if (answer?.status !== 429) {
      return new ApiProblem(502, message + end, { type: "server_error", code: "upstream_error" });
    }
    return new ApiProblem(429, message + end, {
      type: "requests",
      code: "rate_limit_exceeded",
      headers: Object.fromEntries(
        ["retry-after", "retry-after-ms"].flatMap((name) => {
          const value = answer.header(name);
          return value === null ? [] : [[name, value]];
        }),
      ),
    });
  };
}

const MAX_DETAIL_LENGTH = 500;

/** How much of the detail is searched for the key. It may contain long runs of spaces. */
const MAX_READ_LENGTH = 20_000;

interface BufferedAnswer {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

interface PostInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface HttpResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: AsyncIterable<Uint8Array> | null;
}

type Send = (
  url: string,
  init: PostInit & { readonly redirect: "manual"; readonly signal: AbortSignal },
) => Promise<HttpResponse>;

/** Node's own fetch fails after five minutes without headers. A large model may take longer. */
function createLazyFetch(): Send {
  let loading: Promise<Send> | null = null;
  return async (url, init) => {
    loading ??= loadFetch();
    const send = await loading;
    return await send(url, init);
  };
}

async function loadFetch(): Promise<Send> {
  const { Agent, fetch } = await import("undici");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, allowH2: false });
  return (url, init) => fetch(url, { ...init, dispatcher });
}

function readBody(
  answer: BufferedAnswer,
  createFailure: FailureFactory,
): Readonly<Record<string, unknown>> {
  const { status, text } = answer;
  const parsed = parseBoundedJson(text);
  const body = parsed.ok && isPlainObject(parsed.value) ? parsed.value : null;
  const reported = body?.["error"] ?? body?.["message"] ?? body?.["detail"];
  if (!isSuccess(status)) {
    const errorText = reported === undefined ? text : toErrorText(reported);
    throw createFailure(`answered ${status}`, errorText, answer);
  }
  if (!body) throw createFailure(`answered ${status} but not with a JSON object`, text);
  return rejectError(body, status, createFailure);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** Returns the body of a successful answer. Throws if it has an error nevertheless. */
function rejectError(
  body: Readonly<Record<string, unknown>>,
  status: number,
  createFailure: FailureFactory,
): Readonly<Record<string, unknown>> {
  const { error } = body;
  if (error === undefined || error === null) return body;
  throw createFailure(`answered ${status} with an error`, toErrorText(error));
}

function toErrorText(error: unknown): string {
  if (typeof error === "string") return error;
  const { message } = isPlainObject(error) ? error : {};
  return typeof message === "string" ? message : JSON.stringify(error);
}

/** Returns the message of the innermost cause. Outer errors only report that the request failed. */
function describeInnermostCause(thrown: unknown): string {
  let last = thrown;
  while (last instanceof Error && last.cause instanceof Error) last = last.cause;
  const text = getErrorMessage(last);
  return text === "" && last instanceof Error && "code" in last ? String(last.code) : text;
}
