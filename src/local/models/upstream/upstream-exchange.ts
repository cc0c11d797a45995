import { orAborted } from "../../../base/clock.ts";
import { messageOf } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { parseJson } from "../../../base/json.ts";
import { ApiProblem } from "../../api-problem.ts";
import type { UpstreamSettings } from "./upstream-options.ts";

/** Asks a model server one thing; rejects with an `ApiProblem`, or the signal's own reason. */
export type UpstreamExchange = (
  body: object,
  signal: AbortSignal | undefined,
) => Promise<Readonly<Record<string, unknown>>>;

/** Posts JSON to one path of an upstream. No retries: who asked us knows whether to try again. */
export function upstreamExchange(settings: UpstreamSettings, path: string): UpstreamExchange {
  const { apiKey, timeoutMs, clock } = settings;
  const url = settings.baseURL + path;
  const failed = failures(url, apiKey);
  const send = settings.fetch ?? patientFetch();
  const headers = {
    "content-type": "application/json",
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
  };
  return async (body, signal) => {
    const [late, over] = [new AbortController(), new AbortController()];
    clock.sleep(timeoutMs, over.signal).then(
      () => late.abort(),
      () => {}, // it was answered in time
    );
    const either = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    const init: SentInit = { method: "POST", headers, body: JSON.stringify(body) };
    const answer = async () => {
      const response = await send(url, { ...init, redirect: "manual", signal: either });
      const { status } = response;
      const header = (name: string) => response.headers.get(name);
      return { status, header, text: await response.text() };
    };
    try {
      return bodyOf(await orAborted(answer(), either), failed);
    } catch (thrown) {
      signal?.throwIfAborted();
      if (thrown instanceof ApiProblem) throw thrown;
      throw late.signal.aborted
        ? failed(`did not answer within ${timeoutMs} ms`)
        : failed("could not be asked", lastCause(thrown));
    } finally {
      over.abort();
    }
  };
}

/** Says of an upstream what it did; `detail` is what others said of it. */
export type Failed = (what: string, detail?: string, answer?: UpstreamHttpAnswer) => ApiProblem;

/** How a failure of that address is told, without the key. */
export function failures(url: string, apiKey: string | null): Failed {
  const clean = (text: string) =>
    apiKey === null
      ? text
      : text.replaceAll(apiKey, "<redacted>").replaceAll(encodeURIComponent(apiKey), "<redacted>");
  return (what, detail = "", answer) => {
    const said = clean(detail).replace(/\s+/g, " ").trim().slice(0, LONGEST_DETAIL);
    const message = `The upstream model at ${url} ${what}${said === "" ? "" : `: ${said}`}`;
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

const LONGEST_DETAIL = 500;

interface UpstreamHttpAnswer {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

interface SentInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
}

interface Answering {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

type Send = (
  url: string,
  init: SentInit & { readonly redirect: "manual"; readonly signal: AbortSignal },
) => Promise<Answering>;

/** Node's own gives up after five minutes without headers; a large model may take longer. */
function patientFetch(): Send {
  let loading: Promise<Send> | null = null;
  return async (url, init) => {
    loading ??= loadPatientFetch();
    const send = await loading;
    return await send(url, init);
  };
}

async function loadPatientFetch(): Promise<Send> {
  const { Agent, fetch } = await import("undici");
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, allowH2: false });
  return (url, init) => fetch(url, { ...init, dispatcher });
}

function bodyOf(answer: UpstreamHttpAnswer, failed: Failed): Readonly<Record<string, unknown>> {
  const { status, text } = answer;
  const parsed = parseJson(text);
  const body = parsed.ok && isPlainObject(parsed.value) ? parsed.value : null;
  const complaint = body?.["error"] ?? body?.["message"] ?? body?.["detail"];
  if (status < 200 || status > 299) {
    const said = complaint === undefined ? text : complaintText(complaint);
    throw failed(`answered ${status}`, said, answer);
  }
  if (!body) throw failed(`answered ${status} with what is no JSON object`, text);
  const { error } = body;
  if (error === undefined || error === null) return body;
  throw failed(`answered ${status} with an error`, complaintText(error));
}

function complaintText(complaint: unknown): string {
  if (typeof complaint === "string") return complaint;
  const { message } = isPlainObject(complaint) ? complaint : {};
  return typeof message === "string" ? message : JSON.stringify(complaint);
}

/** What a chain of errors ends with: the outer ones only say that something failed. */
function lastCause(thrown: unknown): string {
  let last = thrown;
  while (last instanceof Error && last.cause instanceof Error) last = last.cause;
  const text = messageOf(last);
  return text === "" && last instanceof Error && "code" in last ? String(last.code) : text;
}
