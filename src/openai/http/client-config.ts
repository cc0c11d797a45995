import { PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  checkFunction,
  checkKeys,
  checkObjectUnquoted,
  integerFrom,
  optional,
} from "../../tools/config-checks.ts";
import { secretsAmong } from "../secrets.ts";

/** How `openAIClient` reaches OpenAI, or what speaks its wire. */
export interface OpenAIClientConfig {
  /** Secret: no error quotes it. @default the environment's `OPENAI_API_KEY` */
  readonly apiKey?: string | undefined;
  /** @default the environment's `OPENAI_BASE_URL`, or `"https://api.openai.com/v1"` */
  readonly baseURL?: string | undefined;
  /** @default the environment's `OPENAI_ORG_ID` */
  readonly organization?: string | undefined;
  /** @default the environment's `OPENAI_PROJECT_ID` */
  readonly project?: string | undefined;
  /** How long nothing may be heard, before the answer and within it alike. @default 600_000 */
  readonly timeoutMs?: number | undefined;
  /** @default undici's request on Node, and the runtime's own `fetch` elsewhere */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Sent with every request, and instead of our own of that name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Added to every address: Azure's `api-version`. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** A longer answer is an error. @default 268_435_456 */
  readonly maxResponseBytes?: number | undefined;
}

/** A config with its defaults filled in. */
export interface ClientSettings {
  /** Without a slash at its end. */
  readonly baseURL: string;
  /** With its `?`, or `""`. */
  readonly query: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** There is no key, and the address is one that answers nobody without. */
  readonly lacksKey: boolean;
  readonly secrets: readonly string[];
}

/** Checks a config and reads from the environment what it leaves out. */
export function clientSettings(config: OpenAIClientConfig): ClientSettings {
  checkConfig(config);
  const baseURL = (
    config.baseURL ??
    fromEnvironment("OPENAI_BASE_URL", checkBaseURL) ??
    OPENAI
  ).replace(/\/+$/, "");
  const own = lowerCased(config.headers ?? {});
  const isCredited = "authorization" in own || "api-key" in own;
  const key = isCredited ? config.apiKey : (config.apiKey ?? fromEnvironment(KEY, checkKey));
  const organization = config.organization ?? fromEnvironment("OPENAI_ORG_ID", checkHeaderValue);
  const project = config.project ?? fromEnvironment("OPENAI_PROJECT_ID", checkHeaderValue);
  const query = new URLSearchParams(config.query ?? {}).toString();
  const isOpenAI = new URL(baseURL).origin === new URL(OPENAI).origin;
  return {
    baseURL,
    query: query === "" ? "" : `?${query}`,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(organization !== undefined && { "openai-organization": organization }),
      ...(project !== undefined && { "openai-project": project }),
      ...own,
    },
    timeoutMs: config.timeoutMs ?? 600_000,
    maxResponseBytes: config.maxResponseBytes ?? 256 * 1024 * 1024,
    fetch: config.fetch,
    lacksKey: isOpenAI && key === undefined && !isCredited && config.fetch === undefined,
    secrets: [...(key === undefined ? [] : [key]), ...secretsAmong({ ...own, ...config.query })],
  };
}

const OPENAI = "https://api.openai.com/v1";
const KEY = "OPENAI_API_KEY";
const LONGEST_TIMER = 2 ** 31 - 1;

function checkConfig(config: unknown): asserts config is OpenAIClientConfig {
  checkObjectUnquoted(config, "clientConfig");
  checkKeys<OpenAIClientConfig>(config, "clientConfig", {
    apiKey: optional(checkKey),
    baseURL: optional(checkBaseURL),
    organization: optional(checkHeaderValue),
    project: optional(checkHeaderValue),
    timeoutMs: optional(integerFrom(1, LONGEST_TIMER)),
    fetch: optional(checkFunction),
    headers: optional(checkHeaders),
    query: optional(checkQuery),
    maxResponseBytes: optional(integerFrom(1)),
  });
  const headers = isPlainObject(config["headers"]) ? lowerCased(config["headers"]) : {};
  if (config["apiKey"] === undefined || !("authorization" in headers)) return;
  throw new PromptValidationError({
    field: "clientConfig.headers.authorization",
    value: undefined,
    secret: true,
    rule: "must be left out where apiKey is given",
    remedy: "give one of the two",
  });
}

/** What the environment says, without the line break that comes with a file's content. */
function fromEnvironment(
  name: string,
  check: (value: unknown, field: string) => void,
): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const value = process?.env?.[name]?.trim();
  if (value === undefined || value === "") return undefined;
  check(value, name);
  return value;
}

function lowerCased<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function checkKey(value: unknown, field: string): void {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  const rule = "must be one line of letters, digits and signs without spaces";
  const remedy = "give the key as the provider shows it";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

/** Not quoted: whether it is a secret is not known here. */
function checkHeaderValue(value: unknown, field: string): void {
  if (
    typeof value === "string" &&
    /^[\x21-\x7e\x80-\xff](?:[\t -\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value)
  ) {
    return;
  }
  const rule = "must be one line of Latin text that is not blank";
  const remedy = "write it without line breaks, and without spaces around it";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkHeaders(headers: unknown, field: string): void {
  checkObjectUnquoted(headers, field);
  for (const [name, value] of Object.entries(headers)) {
    checkHeaderName(name, `${field} key`);
    checkHeaderValue(value, `${field}.${name}`);
  }
}

/** Not quoted unless it is a name: it may be a whole header with its value. */
function checkHeaderName(name: string, field: string): void {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    const rule = "must be the name of an HTTP header";
    const remedy = 'write { "x-name": "its value" }';
    throw new PromptValidationError({ field, value: name, rule, remedy, secret: true });
  }
  if (!OURS.has(name.toLowerCase())) return;
  const rule = "must not be one that the connection or the body decides";
  throw new PromptValidationError({ field, value: name, rule, remedy: "leave it out" });
}

const OURS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

function checkQuery(query: unknown, field: string): void {
  checkObjectUnquoted(query, field);
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "string") continue;
    const [rule, remedy] = ["must be a text", "write numbers as texts as well"];
    throw new PromptValidationError({
      field: `${field}.${name}`,
      value,
      rule,
      remedy,
      secret: true,
    });
  }
}

function checkBaseURL(value: unknown, field: string): void {
  const url =
    typeof value === "string" && /^https?:\/\/\S+$/i.test(value) ? URL.parse(value) : null;
  const secret = typeof value === "string" && /[@?]/.test(value); // there may be a password in it
  if (url === null) {
    const rule = "must be an http: or https: address";
    const remedy = `write one like "${OPENAI}"`;
    throw new PromptValidationError({ field, value, rule, remedy, secret });
  }
  if (url.username !== "" || url.password !== "") {
    const [rule, remedy] = ["must be without user and password", "use apiKey or headers"];
    throw new PromptValidationError({ field, value, rule, remedy, secret });
  }
  if (typeof value === "string" && !/[?#]/.test(value)) return;
  const [rule, remedy] = ["must be without ? and #", "use query"];
  throw new PromptValidationError({ field, value, rule, remedy, secret });
}
