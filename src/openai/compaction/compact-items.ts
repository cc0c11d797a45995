import type { CompactionChange } from "../../adapter/context-compacted.ts";
import type { AdapterEvent } from "../../adapter/events.ts";
import { isWaitTooLong, type RetrySettings } from "../../adapter/throttle.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readNumber } from "../../base/json.ts";
import { shortenContent } from "../../base/redact.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { CompactionError } from "../errors/errors.ts";
import { toRequestError } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { hideEncryptedContent, sumEncryptedLengths } from "../history/item-bytes.ts";
import type { OpenAIClient } from "../http/client.ts";
import { egressNote } from "../http/egress-log.ts";
import { HttpClient } from "../http/http-client.ts";
import { checkJsonObject, createUnreadableError, readUsage } from "../http/json-response.ts";
import { withRetries } from "../http/retry.ts";
import { readSecrets } from "../secrets.ts";
import type { WireItem } from "../wire.ts";
import type { CompactionStrategy } from "./compaction-config.ts";
import type { CompactedSizes, CompactionVerdict } from "./compaction-pacer.ts";

/** The compacted conversation and the tokens it cost. */
export interface CompactedWindow {
  readonly window: readonly WireItem[];
  readonly usage: TokenUsage;
}

/** A compacted conversation, its estimated size in tokens, and when the next compaction is due. */
export interface CompactionResult extends CompactedWindow {
  readonly tokensAfter: number | null;
  readonly verdict: CompactionVerdict;
}

/** The settings of one compaction. */
export interface CompactionRequest {
  readonly client: OpenAIClient;
  /** The model that continues with the result. No other model can read it. */
  readonly model: string;
  /** The model's instructions. They are not compacted. */
  readonly instructions?: string | undefined;
  readonly promptName: string;
  readonly retry: RetrySettings;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly secrets?: readonly string[] | undefined;
  /** Decides when the next compaction is due. */
  readonly judge: (sizes: CompactedSizes) => CompactionVerdict;
}

/** Compacts the items at the provider. Throws `CompactionError` on failure. The session is unchanged. */
export async function compactItems(
  items: readonly object[],
  tokens: number,
  request: CompactionRequest,
): Promise<CompactionResult> {
  const { client, model, instructions, signal, timeoutMs, secrets, promptName } = request;
  const body = { model, input: items, ...(instructions !== undefined && { instructions }) };
  const options = { signal, timeoutMs, secrets };
  try {
    const send = () => sendCompactRequest(client, body, options);
    const compacted = await withRetries(send, request.retry, signal);
    signal.throwIfAborted(); // a client may ignore the signal
    const tokensAfter = estimateTokensAfter(tokens, compacted, instructions ?? "");
    const verdict = request.judge({ tokensBefore: tokens, tokensAfter });
    return { ...compacted, tokensAfter, verdict };
  } catch (error) {
    signal.throwIfAborted();
    if (isWaitTooLong(error)) throw error; // the evaluation can be resumed after the wait
    throw new CompactionError(tokens, error, promptName);
  }
}

/** The numbers of a compaction, for its event. */
export interface CompactionDetails {
  readonly items: { readonly before: number; readonly after: number };
  readonly tokens: number;
  readonly after: number | null;
  /** `null` if the server compacted during a turn. */
  readonly usage: TokenUsage | null;
  readonly verdict: CompactionVerdict;
}

/** Creates the event for a compaction, with numbers and no content. */
export function toCompactedEvent(
  window: readonly WireItem[],
  strategy: CompactionStrategy,
  { items, tokens, after, usage, verdict }: CompactionDetails,
): AdapterEvent {
  const { savedRatio, nextAtTokens } = verdict;
  return {
    type: "ContextCompacted",
    tokensBefore: tokens,
    tokensAfter: after,
    savedRatio,
    nextAtTokens,
    strategy,
    usage,
    itemsBefore: items.before,
    itemsAfter: items.after,
    encryptedLength: sumEncryptedLengths(window),
  };
}

/** Creates the event that stores a compacted conversation in the session, for the next evaluation. */
export function toKeptEvent(
  window: readonly WireItem[],
  model: string,
  { tokens, verdict: { backoff } }: Pick<CompactionDetails, "tokens" | "verdict">,
): CompactionChange {
  const kept = { type: "CompactionKept", model, tokens, window } as const;
  return backoff ? { ...kept, backoff } : kept;
}

/** The options of one compaction or token-count request. */
export interface CompactionCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  /** Strings to redact from errors, in addition to the client's secrets. */
  readonly secrets?: readonly string[] | undefined;
}

/** Sends `POST /responses/compact` once, without retries. */
export async function sendCompactRequest(
  client: OpenAIClient,
  body: {
    readonly model: string;
    readonly input: readonly object[];
    readonly instructions?: string;
  },
  options: CompactionCallOptions,
): Promise<CompactedWindow> {
  const context = createCompactionContext("POST /responses/compact", client, options);
  const call = { ...toCallOptions(options), [egressNote]: { hasHistory: true } };
  const response = await sendAndCheck(context, () =>
    client instanceof HttpClient
      ? client.post("/responses/compact", JSON.stringify(body), call).then(readValue)
      : client.responses.compact?.(body, call),
  );
  const { output } = response;
  const isWindow = Array.isArray(output) && output.length > 0 && output.every(isPlainObject);
  if (!isWindow)
    throw createUnreadableError("a compaction without output", { body: response }, context);
  return {
    window: (output as readonly WireItem[]).map(hideEncryptedContent),
    usage: readUsage(response),
  };
}

/** A request whose tokens are counted. */
export interface CountedRequest {
  readonly text: () => string | Uint8Array;
  readonly value: () => object;
  /** Returns a function that computes the SHA-256 of `text` later. @default it is computed at once */
  readonly createDigest?: () => () => string;
}

/** Counts the input tokens of a request with one `POST /responses/input_tokens`, without retries. */
export async function countTokens(
  client: OpenAIClient,
  request: CountedRequest,
  options: CompactionCallOptions,
): Promise<number> {
  const context = createCompactionContext("POST /responses/input_tokens", client, options);
  const note = { hasHistory: true, digest: request.createDigest?.() };
  const call = { ...toCallOptions(options), [egressNote]: note };
  const response = await sendAndCheck(context, () =>
    client instanceof HttpClient
      ? client.post("/responses/input_tokens", request.text(), call).then(readValue)
      : client.responses.inputTokens?.count(request.value(), call),
  );
  const tokens = readNumber(response, "input_tokens");
  if (tokens !== null && tokens >= 0) return tokens;
  throw createUnreadableError("a count without tokens", { body: response }, context);
}

/** Whether a client can both compact and count tokens. */
export function canCompact({ responses }: OpenAIClient): boolean {
  return (
    typeof responses?.compact === "function" && typeof responses.inputTokens?.count === "function"
  );
}

/**
 * Estimates the size of the compacted conversation, with its prompt and tools, which are not compacted.
 * Needs no request. Returns `null` if the provider reports no usage.
 */
function estimateTokensAfter(
  tokensBefore: number,
  { usage, window }: CompactedWindow,
  instructions: string,
): number | null {
  if (usage.outputTokens <= 0) return null;
  // Not every provider counts the messages that it returns verbatim as output.
  const verbatim = window.filter((item) => !("encrypted_content" in item));
  const returned = estimateTokens(countBytes(JSON.stringify(shortenContent(verbatim))));
  const windowAfter = Math.max(usage.outputTokens, returned);
  const windowBefore = Math.max(0, usage.inputTokens - estimateTokens(countBytes(instructions)));
  return Math.max(windowAfter, tokensBefore - windowBefore + windowAfter);
}

/** Estimates the tokens of a text by its size: one per four bytes. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

async function sendAndCheck(
  context: RequestContext,
  send: () => PromiseLike<unknown> | undefined,
): Promise<WireItem> {
  try {
    return checkJsonObject(await send(), context);
  } catch (thrown) {
    throw toRequestError(thrown, context);
  }
}

function readValue({ value }: { readonly value: WireItem }): WireItem {
  return value;
}

function toCallOptions({ signal, timeoutMs }: CompactionCallOptions) {
  return { maxRetries: 0, signal, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
}

function createCompactionContext(
  request: string,
  client: OpenAIClient,
  { signal, secrets = [], timeoutMs }: CompactionCallOptions,
): RequestContext {
  return { request, signal, timeoutMs, secrets: [...readSecrets(client), ...secrets] };
}
