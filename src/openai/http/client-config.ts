import { PromptValidationError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  checkFunction,
  checkKeys,
  checkObjectUnquoted,
  integerCheck,
  optional,
} from "../../tools/config-checks.ts";
import { findCredentials } from "../secrets.ts";

/** How `openAIClient` reaches OpenAI or a compatible server. */
export interface OpenAIClientConfig {
  /** The API key. Errors never quote it. @default the environment's `OPENAI_API_KEY` */
  readonly apiKey?: string | undefined;
  /**
   * The API's address. @default the environment's `OPENAI_BASE_URL`, or
   * `"https://api.openai.com/v1"`
   */
  readonly baseURL?: string | undefined;
  /** The organization's id. @default the environment's `OPENAI_ORG_ID` */
  readonly organization?: string | undefined;
  /** The project's id. @default the environment's `OPENAI_PROJECT_ID` */
  readonly project?: string | undefined;
  /**
   * The idle timeout: how long to wait for the response, and for more of its body. @default 600_000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Sends the requests. @default Node's HTTP client on Node, the runtime's `fetch` on other
   * platforms
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Headers for every request. They override the client's headers of the same name. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Query parameters for every request, such as Azure's `api-version`. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /**
   * A longer response is an error. A streamed response repeats its text several times, and all of it
   * counts. @default 268_435_456
   */
  readonly maxResponseBytes?: number | undefined;
}

/** A client config with defaults filled in. */
export interface ClientSettings {
  /** Without a trailing slash. */
  readonly baseURL: string;
  /** Starts with `?`, or is `""`. */
  readonly query: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly fetch: typeof globalThis.fetch | undefined;
  /** The API key is missing, and the address is OpenAI's own, which requires one. */
  readonly isKeyMissing: boolean;
  readonly secrets: readonly string[];
}

/** Validates a config and fills in omitted fields from the environment and the defaults. */
export function resolveClientSettings(config: OpenAIClientConfig): ClientSettings {
  checkConfig(config);
  const baseURL = (
    config.baseURL ??
    readEnvironment("OPENAI_BASE_URL", checkBaseURL) ??
    OPENAI_URL
  ).replace(/\/+$/, "");
  const own = lowerCaseKeys(config.headers ?? {});
  const hasCredentials = "authorization" in own || "api-key" in own;
  const key = hasCredentials
    ? config.apiKey
    : (config.apiKey ?? readEnvironment(KEY_VARIABLE, checkKey));
  const organization = config.organization ?? readEnvironment("OPENAI_ORG_ID", checkHeaderValue);
  const project = config.project ?? readEnvironment("OPENAI_PROJECT_ID", checkHeaderValue);
  const query = new URLSearchParams(config.query ?? {}).toString();
  const isOpenAI = new URL(baseURL).origin === new URL(OPENAI_URL).origin;
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
    isKeyMissing: isOpenAI && key === undefined && !hasCredentials && config.fetch === undefined,
    secrets: [...(key === undefined ? [] : [key]), ...findCredentials({ ...own, ...config.query })],
  };
}

const OPENAI_URL = "https://api.openai.com/v1";
const KEY_VARIABLE = "OPENAI_API_KEY";
const MAX_TIMER_MS = 2 ** 31 - 1;

function checkConfig(config: unknown): asserts config is OpenAIClientConfig {
  checkObjectUnquoted(config, "clientConfig");
  checkKeys<OpenAIClientConfig>(config, "clientConfig", {
    apiKey: optional(checkKey),
    baseURL: optional(checkBaseURL),
    organization: optional(checkHeaderValue),
    project: optional(checkHeaderValue),
    timeoutMs: optional(integerCheck(1, MAX_TIMER_MS)),
    fetch: optional(checkFunction),
    headers: optional(checkHeaders),
    query: optional(checkQuery),
    maxResponseBytes: optional(integerCheck(1)),
  });
  const headers = isPlainObject(config["headers"]) ? lowerCaseKeys(config["headers"]) : {};
  if (config["apiKey"] === undefined || !("authorization" in headers)) return;
  throw new PromptValidationError({
    field: "clientConfig.headers.authorization",
    value: undefined,
    secret: true,
    rule: "must be omitted when apiKey is set",
    remedy: "set either apiKey or the header",
  });
}

/** Reads an environment variable, trimmed: a value read from a file may end in a line break. */
function readEnvironment(
  name: string,
  check: (value: unknown, field: string) => void,
): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const value = process?.env?.[name]?.trim();
  if (value === undefined || value === "") return undefined;
  check(value, name);
  return value;
}

function lowerCaseKeys<Value>(headers: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function checkKey(value: unknown, field: string): void {
  if (typeof value === "string" && /^[\x21-\x7e]+$/.test(value)) return;
  const rule = "must be printable ASCII characters without spaces";
  const remedy = "copy the key exactly as the provider shows it";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

/** The error does not quote the value, because it may be a secret. */
function checkHeaderValue(value: unknown, field: string): void {
  if (
    typeof value === "string" &&
    /^[\x21-\x7e\x80-\xff](?:[\t -\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value)
  ) {
    return;
  }
  const rule = "must be one non-empty line of Latin-1 text";
  const remedy = "remove line breaks and surrounding spaces";
  throw new PromptValidationError({ field, value, rule, remedy, secret: true });
}

function checkHeaders(headers: unknown, field: string): void {
  checkObjectUnquoted(headers, field);
  for (const [name, value] of Object.entries(headers)) {
    checkHeaderName(name, `${field} key`);
    checkHeaderValue(value, `${field}.${name}`);
  }
}

/** The error quotes only valid names: an invalid one may be a whole header line with its value. */
function checkHeaderName(name: string, field: string): void {
  if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name)) {
    const rule = "must be an HTTP header name";
    const remedy = 'use an object like { "x-name": "value" }';
    throw new PromptValidationError({ field, value: name, rule, remedy, secret: true });
  }
  if (!RESERVED_HEADERS.has(name.toLowerCase())) return;
  const rule = "must not be a header that the connection or the body sets";
  throw new PromptValidationError({ field, value: name, rule, remedy: "remove it" });
}

const RESERVED_HEADERS: ReadonlySet<string> = new Set([
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
    const [rule, remedy] = ["must be a string", "pass numbers as strings"];
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
  const secret = typeof value === "string" && /[@?]/.test(value); // it may contain a password
  if (url === null) {
    const rule = "must be an http: or https: URL";
    const remedy = `use a URL like "${OPENAI_URL}"`;
    throw new PromptValidationError({ field, value, rule, remedy, secret });
  }
  if (url.username !== "" || url.password !== "") {
    const [rule, remedy] = ["must not contain a user or password", "use apiKey or headers"];
    throw new PromptValidationError({ field, value, rule, remedy, secret });
  }
  if (typeof value === "string" && !/[?#]/.test(value)) return;
  const [rule, remedy] = ["must not contain ? or #", "use query"];
  throw new PromptValidationError({ field, value, rule, remedy, secret });
}
