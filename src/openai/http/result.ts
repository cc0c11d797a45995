import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { numberAt, recordAt } from "../../base/reading.ts";
import { scrubbed } from "../../base/scrubbed.ts";
import { type TokenUsage, usageOf } from "../../base/usage.ts";
import { type OpenAIRequestError, requestError } from "../errors/request-error.ts";
import {
  beginning,
  contentTypeIn,
  PROXY,
  quoted,
  type RequestContext,
} from "../errors/request-failure.ts";
import type { HeaderLookup } from "../errors/retry-after.ts";
import type { WireItem } from "../wire.ts";

/** The body of an answer with status 2xx that is to be JSON. */
export interface TextBody {
  readonly header: HeaderLookup;
  readonly text: string;
}

/** The object that an answer holds. What type it says it has does not matter, if it is JSON. */
export function resultIn({ header, text }: TextBody, context: RequestContext): WireItem {
  if (text.trim() === "") throw unreadable("an empty body", { body: null }, context);
  const parsed = parseJson(text);
  if (parsed.ok) return checkedResult(parsed.value, context);
  const contentType = contentTypeIn(header);
  const type = contentType === "" ? "a body without a type" : contentType;
  if (contentType === "text/html") throw unreadable(type, { body: text, remedy: PROXY }, context);
  // The parser's own words quote a part of the text: half a secret is not found and hidden.
  throw unreadable(`${type} that is not JSON, or is cut short`, { body: text }, context);
}

/** What any client gave, if it is an object: the official one gives whatever text it was sent. */
export function checkedResult(result: unknown, context: RequestContext): WireItem {
  if (isPlainObject(result)) return result;
  if (result === undefined) throw unreadable("an empty body", { body: null }, context);
  const isPage = typeof result === "string" && /^\s*</.test(result);
  if (isPage) throw unreadable("text/html", { body: result, remedy: PROXY }, context);
  const problem = `${kindOf(result)} where an object was expected`;
  throw unreadable(problem, { body: result, remedy: "is baseURL that of the API?" }, context);
}

interface Unreadable {
  readonly body: unknown;
  readonly remedy?: string;
}

/** An answer that says that all is well and cannot be used. */
export function unreadable(
  what: string,
  { body, remedy }: Unreadable,
  context: RequestContext,
): OpenAIRequestError {
  const { answered } = context;
  const status = answered ? `status ${answered.status} and ` : "";
  const id = answered?.requestId ? ` (request ${quoted(answered.requestId)})` : "";
  const problem = `was answered with ${status}${what}${id}`;
  const clean = scrubbed(body, context.secrets);
  const shown = typeof clean === "string" ? beginning(clean) : clean;
  const details = { reason: "body" as const, ...answered, body: shown };
  return requestError({ problem, remedy: remedy ?? null, details }, context);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : `a ${typeof value}`;
}

/** An answer's object, and the id that it came with. */
export interface Posted {
  readonly value: WireItem;
  readonly requestId: string | null;
}

/** The id that an answer came with: ours and the official client's results carry it unseen. */
export function requestIdOf(result: unknown): string | null {
  const isObject = typeof result === "object" && result !== null;
  if (!isObject || !("_request_id" in result)) return null;
  return typeof result._request_id === "string" ? result._request_id : null;
}

/** What is enumerated stays the same. */
export function withRequestId({ value, requestId }: Posted): WireItem {
  if (Object.hasOwn(value, "_request_id")) return value;
  return Object.defineProperty(value, "_request_id", { value: requestId });
}

/** What a response says that it cost. */
export function usageIn(response: WireItem): TokenUsage {
  const usage = recordAt(response, "usage");
  const count = (record: WireItem, key: string) => Math.max(0, numberAt(record, key) ?? 0);
  const inputTokens = count(usage, "input_tokens");
  const outputTokens = count(usage, "output_tokens");
  return usageOf({
    inputTokens,
    outputTokens,
    cachedTokens: count(recordAt(usage, "input_tokens_details"), "cached_tokens"),
    reasoningTokens: count(recordAt(usage, "output_tokens_details"), "reasoning_tokens"),
    totalTokens: Math.max(0, numberAt(usage, "total_tokens") ?? inputTokens + outputTokens),
  });
}
