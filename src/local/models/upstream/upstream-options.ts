import { type Clock, systemClock } from "../../../base/clock.ts";
import { checkKnownKeys, InvalidOptionError, type KnownKeys } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";

/** Options of `upstreamModel()`. */
export interface UpstreamModelOptions {
  /** The base URL of the server, as SDKs take it: `"http://127.0.0.1:11434/v1"`. */
  readonly baseURL: string;
  /** The model name at the server. The name that clients send is ignored. */
  readonly model: string;
  /** The API key. Errors never quote it. @default none */
  readonly apiKey?: string | undefined;
  /** The API of the server. @default "chat" */
  readonly api?: "chat" | "responses" | undefined;
  /** The time limit of one answer, from the first byte sent to the last byte read. @default 600_000 */
  readonly timeoutMs?: number | undefined;
  /** The fetch function. @default undici's, with its timeouts disabled: only `timeoutMs` applies */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** The time source. @default the system clock */
  readonly clock?: Clock | undefined;
}

const upstreamKeys: KnownKeys<UpstreamModelOptions> = {
  api: true,
  apiKey: true,
  baseURL: true,
  clock: true,
  fetch: true,
  model: true,
  timeoutMs: true,
};

/** Validated options with defaults applied. */
export interface UpstreamSettings {
  /** Without a trailing slash. */
  readonly baseURL: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly api: "chat" | "responses";
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch | null;
  readonly clock: Clock;
}

/** Validates the options and applies the defaults. */
export function readUpstreamSettings(options: UpstreamModelOptions): UpstreamSettings {
  if (!isPlainObject(options)) {
    throwInvalidOption("upstreamModel(options)", options, {
      rule: "must be an object",
      remedy: "call upstreamModel({ baseURL, model })",
      secret: true,
    });
  }
  checkKnownKeys(options, "upstreamModel", upstreamKeys);
  const { baseURL, model, apiKey, api = "chat", timeoutMs = 600_000, fetch, clock } = options;
  checkBaseURL(baseURL);
  checkOption(typeof model === "string" && model.trim() !== "", "model", model, {
    rule: "must be a non-blank string",
    remedy: "pass the name of the model at the server",
  });
  checkOption(apiKey === undefined || /^[\x21-\x7e]+$/.test(String(apiKey)), "apiKey", apiKey, {
    rule: "must be a single line of printable ASCII characters without spaces",
    remedy: "pass the key as the server's owner issued it, or omit it",
    secret: true,
  });
  checkOption(api === "chat" || api === "responses", "api", api, {
    rule: 'must be "chat" or "responses"',
    remedy: 'omit it for "chat", which most servers support',
  });
  const isTime = Number.isInteger(timeoutMs) && timeoutMs > 0;
  checkOption(isTime, "timeoutMs", timeoutMs, {
    rule: "must be a positive integer",
    remedy: "pass a number of milliseconds",
  });
  checkOption(fetch === undefined || typeof fetch === "function", "fetch", fetch, {
    rule: "must be a function",
    remedy: "pass a function such as globalThis.fetch, or omit it",
  });
  return Object.freeze({
    baseURL: baseURL.replace(/\/+$/, ""),
    model,
    apiKey: apiKey ?? null,
    api,
    timeoutMs,
    fetch: fetch ?? null,
    clock: clock ?? systemClock,
  });
}

interface Rule {
  readonly rule: string;
  readonly remedy: string;
  readonly secret?: boolean;
}

function checkBaseURL(baseURL: unknown): void {
  const isAddress = typeof baseURL === "string" && /^https?:\/\/\S+$/i.test(baseURL);
  const url = isAddress ? URL.parse(baseURL) : null;
  const secret = typeof baseURL === "string" && /[@?]/.test(baseURL); // it may contain a password
  checkOption(url !== null, "baseURL", baseURL, {
    rule: "must be an http: or https: URL",
    remedy: 'use a URL such as "http://127.0.0.1:11434/v1"',
    secret,
  });
  const isPlain = url?.username === "" && url.password === "" && !/[?#]/.test(String(baseURL));
  checkOption(isPlain, "baseURL", baseURL, {
    rule: "must not contain a user name, a password, ? or #",
    remedy: "pass the key as apiKey",
    secret,
  });
}

function checkOption(isRight: boolean, field: string, value: unknown, rule: Rule): void {
  if (!isRight) throwInvalidOption(`upstreamModel.${field}`, value, rule);
}

function throwInvalidOption(
  field: string,
  value: unknown,
  { rule, remedy, secret = false }: Rule,
): never {
  throw new InvalidOptionError({ field, value, rule, remedy, secret });
}
