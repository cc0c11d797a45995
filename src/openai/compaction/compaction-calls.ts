import { isPlainObject } from "../../base/freeze.ts";
import { numberAt } from "../../base/reading.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { requestErrorFrom } from "../errors/request-error.ts";
import type { RequestContext } from "../errors/request-failure.ts";
import { HttpClient, type OpenAIClient } from "../http/client.ts";
import { checkedResult, unreadable } from "../http/result.ts";
import { usageIn } from "../response/response-usage.ts";
import { unprinted } from "../response/sealed-content.ts";
import { secretsOf } from "../secrets.ts";
import type { WireItem } from "../wire.ts";

/** What a conversation was compacted to, and what that cost. */
export interface Compacted {
  readonly window: readonly WireItem[];
  readonly usage: TokenUsage;
}

/** How one of these calls is made. */
export interface CompactionCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  /** What errors may not say, besides the client's own. */
  readonly secrets?: readonly string[] | undefined;
}

/** `POST /responses/compact`, once. */
export async function compact(
  client: OpenAIClient,
  body: {
    readonly model: string;
    readonly input: readonly object[];
    readonly instructions?: string;
  },
  options: CompactionCallOptions,
): Promise<Compacted> {
  const context = contextOf("POST /responses/compact", client, options);
  const answer = await asked(context, () =>
    client instanceof HttpClient
      ? client.post("/responses/compact", JSON.stringify(body), callOf(options)).then(valueIn)
      : client.responses.compact?.(body, callOf(options)),
  );
  const { output } = answer;
  const isWindow = Array.isArray(output) && output.length > 0 && output.every(isPlainObject);
  if (!isWindow) throw unreadable("a compaction without output", { body: answer }, context);
  return { window: (output as readonly WireItem[]).map(unprinted), usage: usageIn(answer) };
}

/** `POST /responses/input_tokens`, once: how many tokens a request would have. */
export async function countTokens(
  client: OpenAIClient,
  request: { readonly text: () => string | Uint8Array; readonly value: () => object },
  options: CompactionCallOptions,
): Promise<number> {
  const context = contextOf("POST /responses/input_tokens", client, options);
  const answer = await asked(context, () =>
    client instanceof HttpClient
      ? client.post("/responses/input_tokens", request.text(), callOf(options)).then(valueIn)
      : client.responses.inputTokens?.count(request.value(), callOf(options)),
  );
  const tokens = numberAt(answer, "input_tokens");
  if (tokens !== null && tokens >= 0) return tokens;
  throw unreadable("a count without tokens", { body: answer }, context);
}

/** Whether a client can do both. */
export function canCompact({ responses }: OpenAIClient): boolean {
  return (
    typeof responses?.compact === "function" && typeof responses.inputTokens?.count === "function"
  );
}

async function asked(
  context: RequestContext,
  ask: () => PromiseLike<unknown> | undefined,
): Promise<WireItem> {
  try {
    return checkedResult(await ask(), context);
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
