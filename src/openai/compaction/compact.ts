import { announce } from "../../adapter/events.ts";
import type { RetrySettings } from "../../adapter/throttle.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { numberAt } from "../../base/reading.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { Session } from "../../session/session.ts";
import { CompactionError } from "../errors/errors.ts";
import { requestErrorFrom } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { unprinted } from "../history/item-text.ts";
import type { OpenAIClient } from "../http/client.ts";
import { HttpClient } from "../http/http-client.ts";
import { checkedResult, unreadable, usageIn } from "../http/result.ts";
import { withRetries } from "../http/retry.ts";
import { secretsOf } from "../secrets.ts";
import type { WireItem } from "../wire.ts";

/** What a conversation was compacted to, and what that cost. */
export interface Compacted {
  readonly window: readonly WireItem[];
  readonly usage: TokenUsage;
}

/** How a compaction is made, and for whom. */
export interface CompactionRequest {
  readonly client: OpenAIClient;
  /** The model that continues with the result, and alone can read it. */
  readonly model: string;
  /** What the model follows; it is not compacted. */
  readonly instructions?: string | undefined;
  readonly session: Session;
  readonly promptName: string;
  readonly retry: RetrySettings;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly secrets?: readonly string[] | undefined;
  /** Whether the session keeps the result. */
  readonly isKept: boolean;
}

/**
 * Has the provider compact these items, and keeps the result in the session. Throws
 * `CompactionError`; then nothing has changed.
 */
export async function compactItems(
  items: readonly object[],
  tokens: number,
  request: CompactionRequest,
): Promise<Compacted> {
  const { client, model, instructions, signal, timeoutMs, secrets, promptName } = request;
  const body = { model, input: items, ...(instructions !== undefined && { instructions }) };
  const options = { signal, timeoutMs, secrets };
  try {
    const send = () => sendCompact(client, body, options);
    const compacted = await withRetries(send, request.retry, signal);
    if (request.isKept) keepWindow(compacted.window, tokens, request);
    return compacted;
  } catch (error) {
    signal.throwIfAborted();
    throw new CompactionError(tokens, error, promptName);
  }
}

/** How one request is made. */
export interface CompactionCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  /** What errors must not show, besides the client's own secrets. */
  readonly secrets?: readonly string[] | undefined;
}

/** Sends `POST /responses/compact`, once. */
export async function sendCompact(
  client: OpenAIClient,
  body: {
    readonly model: string;
    readonly input: readonly object[];
    readonly instructions?: string;
  },
  options: CompactionCallOptions,
): Promise<Compacted> {
  const context = contextOf("POST /responses/compact", client, options);
  const answer = await ask(context, () =>
    client instanceof HttpClient
      ? client.post("/responses/compact", JSON.stringify(body), callOf(options)).then(valueIn)
      : client.responses.compact?.(body, callOf(options)),
  );
  const { output } = answer;
  const isWindow = Array.isArray(output) && output.length > 0 && output.every(isPlainObject);
  if (!isWindow) throw unreadable("a compaction without output", { body: answer }, context);
  return { window: (output as readonly WireItem[]).map(unprinted), usage: usageIn(answer) };
}

/** Sends `POST /responses/input_tokens`, once. Returns how many tokens a request would have. */
export async function countTokens(
  client: OpenAIClient,
  request: { readonly text: () => string | Uint8Array; readonly value: () => object },
  options: CompactionCallOptions,
): Promise<number> {
  const context = contextOf("POST /responses/input_tokens", client, options);
  const answer = await ask(context, () =>
    client instanceof HttpClient
      ? client.post("/responses/input_tokens", request.text(), callOf(options)).then(valueIn)
      : client.responses.inputTokens?.count(request.value(), callOf(options)),
  );
  const tokens = numberAt(answer, "input_tokens");
  if (tokens !== null && tokens >= 0) return tokens;
  throw unreadable("a count without tokens", { body: answer }, context);
}

/** Whether a client has both requests. */
export function canCompact({ responses }: OpenAIClient): boolean {
  return (
    typeof responses?.compact === "function" && typeof responses.inputTokens?.count === "function"
  );
}

/** The session's next evaluation starts with this. */
function keepWindow(
  window: readonly WireItem[],
  tokens: number,
  { session, promptName, retry, model }: CompactionRequest,
): void {
  const prompt = { name: promptName };
  const announcer = { session, prompt, clock: retry.clock, adapterName: "openai" };
  announce(announcer, { type: "CompactionKept", model, tokens, window });
}

async function ask(
  context: RequestContext,
  send: () => PromiseLike<unknown> | undefined,
): Promise<WireItem> {
  try {
    return checkedResult(await send(), context);
  } catch (thrown) {
    throw requestErrorFrom(thrown, context);
  }
}

function valueIn({ value }: { readonly value: WireItem }): WireItem {
  return value;
}

function callOf({ signal, timeoutMs }: CompactionCallOptions) {
  return { maxRetries: 0, signal, ...(timeoutMs !== undefined && { timeout: timeoutMs }) };
}

function contextOf(
  request: string,
  client: OpenAIClient,
  { signal, secrets = [], timeoutMs }: CompactionCallOptions,
): RequestContext {
  return { request, signal, timeoutMs, secrets: [...secretsOf(client), ...secrets] };
}
