import { type Clock, systemClock } from "../../../base/clock.ts";
import { InvalidOptionError } from "../../../base/errors.ts";
import { isPlainObject } from "../../../base/freeze.ts";
import { list } from "../../../base/show.ts";

/** Which model server answers, and how it is asked. */
export interface UpstreamModelOptions {
  /** What SDKs take as base URL: `"http://127.0.0.1:11434/v1"`. */
  readonly baseURL: string;
  /** What the server calls the model. Clients may call it what they like. */
  readonly model: string;
  /** Secret: no error quotes it. */
  readonly apiKey?: string | undefined;
  /** @default "chat" */
  readonly api?: "chat" | "responses" | undefined;
  /** How long one answer may take, from the first byte sent to the last one read. @default 600_000 */
  readonly timeoutMs?: number | undefined;
  /** @default undici's, which waits as long as `timeoutMs` says */
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly clock?: Clock | undefined;
}

/** Checked options with their defaults. */
export interface UpstreamSettings {
  /** Without a slash at its end. */
  readonly baseURL: string;
  readonly model: string;
  readonly apiKey: string | null;
  readonly api: "chat" | "responses";
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch | null;
  readonly clock: Clock;
}

/** Refuses what cannot be, and copies the rest. */
export function upstreamSettings(options: UpstreamModelOptions): UpstreamSettings {
  if (!isPlainObject(options)) {
    refuse("upstreamModel(options)", options, {
      rule: "must be an object",
      remedy: "write upstreamModel({ baseURL, model })",
      secret: true,
    });
  }
  for (const key of Object.keys(options)) {
    if (KNOWN.includes(key)) continue;
    const rule = `must be one of ${list(KNOWN)}`;
    refuse(`upstreamModel.${key}`, undefined, { rule, remedy: "leave it out", secret: true });
  }
  const { baseURL, model, apiKey, api = "chat", timeoutMs = 600_000, fetch, clock } = options;
  checkBaseURL(baseURL);
  check(typeof model === "string" && model.trim() !== "", "model", model, {
    rule: "must be a text that is not blank",
    remedy: "give the name that the server has for it",
  });
  check(apiKey === undefined || /^[\x21-\x7e]+$/.test(String(apiKey)), "apiKey", apiKey, {
    rule: "must be one line of letters, digits and signs without spaces",
    remedy: "give the key as the server's owner shows it, or leave it out",
    secret: true,
  });
  check(api === "chat" || api === "responses", "api", api, {
    rule: 'must be "chat" or "responses"',
    remedy: 'leave it out for "chat", which most servers speak',
  });
  const isTime = Number.isInteger(timeoutMs) && timeoutMs > 0;
  check(isTime, "timeoutMs", timeoutMs, {
    rule: "must be a whole number from 1",
    remedy: "give milliseconds",
  });
  check(fetch === undefined || typeof fetch === "function", "fetch", fetch, {
    rule: "must be a function",
    remedy: "give one like globalThis.fetch, or leave it out",
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

const KNOWN: readonly string[] = [
  "baseURL",
  "model",
  "apiKey",
  "api",
  "timeoutMs",
  "fetch",
  "clock",
];

interface Rule {
  readonly rule: string;
  readonly remedy: string;
  readonly secret?: boolean;
}

function checkBaseURL(baseURL: unknown): void {
  const isAddress = typeof baseURL === "string" && /^https?:\/\/\S+$/i.test(baseURL);
  const url = isAddress ? URL.parse(baseURL) : null;
  const secret = typeof baseURL === "string" && /[@?]/.test(baseURL); // there may be a password in it
  check(url !== null, "baseURL", baseURL, {
    rule: "must be an http: or https: address",
    remedy: 'write one like "http://127.0.0.1:11434/v1"',
    secret,
  });
  const isPlain = url?.username === "" && url.password === "" && !/[?#]/.test(String(baseURL));
  check(isPlain, "baseURL", baseURL, {
    rule: "must be without user, password, ? and #",
    remedy: "use apiKey",
    secret,
  });
}

function check(isRight: boolean, field: string, value: unknown, rule: Rule): void {
  if (!isRight) refuse(`upstreamModel.${field}`, value, rule);
}

function refuse(field: string, value: unknown, { rule, remedy, secret = false }: Rule): never {
  throw new InvalidOptionError({ field, value, rule, remedy, secret });
}
