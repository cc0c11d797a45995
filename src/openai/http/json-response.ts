import { isPlainObject } from "../../base/freeze.ts";
import { parseJson, readNumber, readRecord } from "../../base/json.ts";
import { redact } from "../../base/redact.ts";
import { type TokenUsage, toUsage } from "../../base/usage.ts";
import { createRequestError, type OpenAIRequestError } from "../errors/request-error.ts";
import {
  PROXY_REMEDY,
  type RequestContext,
  readContentType,
  toOneLine,
  truncate,
} from "../errors/request-failure.ts";
import type { HeaderLookup } from "../errors/retry-after.ts";
import type { WireItem } from "../wire.ts";

/** The body of a 2xx response that must be JSON. */
export interface TextBody {
  readonly header: HeaderLookup;
  readonly text: string;
}

/** Parses a response's JSON object. Ignores the content type. */
export function parseJsonResponse({ header, text }: TextBody, context: RequestContext): WireItem {
  if (text.trim() === "") throw createUnreadableError("an empty body", { body: null }, context);
  const parsed = parseJson(text);
  if (parsed.ok) return checkJsonObject(parsed.value, context);
  const contentType = readContentType(header);
  const type = contentType === "" ? "no content type" : contentType;
  if (contentType === "text/html")
    throw createUnreadableError("an HTML page", { body: text, remedy: PROXY_REMEDY }, context);
  // The parser's message quotes part of the text; half a secret would not be redacted.
  throw createUnreadableError(`invalid or truncated JSON (${type})`, { body: text }, context);
}

/** Checks that a client returned an object. The official client may return the text it received. */
export function checkJsonObject(result: unknown, context: RequestContext): WireItem {
  if (isPlainObject(result)) return result;
  if (result === undefined) throw createUnreadableError("an empty body", { body: null }, context);
  const isPage = typeof result === "string" && /^\s*</.test(result);
  if (isPage)
    throw createUnreadableError("an HTML page", { body: result, remedy: PROXY_REMEDY }, context);
  const problem = `${describeType(result)} instead of an object`;
  throw createUnreadableError(
    problem,
    { body: result, remedy: "Check that baseURL is the API's address." },
    context,
  );
}

interface UnreadableResponse {
  readonly body: unknown;
  readonly remedy?: string;
}

/** Creates the error for a successful response that cannot be used. */
export function createUnreadableError(
  what: string,
  { body, remedy }: UnreadableResponse,
  context: RequestContext,
): OpenAIRequestError {
  const { response } = context;
  const status = response ? `status ${response.status} and ` : "";
  const id = response?.requestId ? ` (request ${toOneLine(response.requestId)})` : "";
  const problem = `returned ${status}${what}${id}`;
  const clean = redact(body, context.secrets);
  const shown = typeof clean === "string" ? truncate(clean) : clean;
  const details = { reason: "body" as const, ...response, body: shown };
  return createRequestError({ problem, remedy: remedy ?? null, details }, context);
}

function describeType(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (value === null) return "null";
  return typeof value === "object" ? "a class instance" : `a ${typeof value}`;
}

/** A response's JSON object and its request id. */
export interface JsonResponse {
  readonly value: WireItem;
  readonly requestId: string | null;
}

/** Returns a result's request id. Both clients attach it as a non-enumerable property. */
export function getRequestId(result: unknown): string | null {
  const isObject = typeof result === "object" && result !== null;
  if (!isObject || !("_request_id" in result)) return null;
  return typeof result._request_id === "string" ? result._request_id : null;
}

/** Attaches the request id as a non-enumerable property. */
export function attachRequestId({ value, requestId }: JsonResponse): WireItem {
  if (Object.hasOwn(value, "_request_id")) return value;
  return Object.defineProperty(value, "_request_id", { value: requestId });
}

/** Reads a response's token usage. */
export function readUsage(response: WireItem): TokenUsage {
  const usage = readRecord(response, "usage");
  const count = (record: WireItem, key: string) => Math.max(0, readNumber(record, key) ?? 0);
  const inputTokens = count(usage, "input_tokens");
  const outputTokens = count(usage, "output_tokens");
  return toUsage({
    inputTokens,
    outputTokens,
    cachedTokens: count(readRecord(usage, "input_tokens_details"), "cached_tokens"),
    reasoningTokens: count(readRecord(usage, "output_tokens_details"), "reasoning_tokens"),
    totalTokens: Math.max(0, readNumber(usage, "total_tokens") ?? inputTokens + outputTokens),
  });
}
