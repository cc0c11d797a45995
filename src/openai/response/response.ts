import type {
  DelegatedCall,
  FinishReason,
  HostedCall,
  ToolCall,
  Turn,
} from "../../adapter/model-client.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { isTooDeep, MAX_JSON_DEPTH, readRecord, readStringOrNull } from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { redact, redactText } from "../../base/redact.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { Codecs, HostedToolCodec } from "../codecs/codec.ts";
import { findRefusal, type MessageText, readMessageText } from "../codecs/message-text.ts";
import { fromResponseError } from "../errors/from-request-error.ts";
import { hideEncryptedContent } from "../history/item-bytes.ts";
import { readUsage } from "../http/json-response.ts";
import type { WireItem } from "../wire.ts";
import { readDefaultCalls, type SentTools } from "./default-calls.ts";

/** The context for reading a response. */
export interface ReadOptions {
  readonly rendered: RenderedPrompt;
  readonly codecs: Codecs;
  readonly requestId: string | null;
  /** Secrets to redact from errors. */
  readonly secrets: readonly string[];
  /** Returns the request's entries for hosted tools, to find the calls of codecs without `calls`. */
  readonly getEntries: () => SentTools;
}

/** Converts a response to a turn and its items. Throws if the response has no answer. */
export function readResponse(
  value: unknown,
  options: ReadOptions,
): { readonly turn: Turn; readonly items: readonly WireItem[] } {
  const { requestId } = options;
  const response = checkResponse(value, options);
  const items = readItems(response, options);
  const words = readMessageText(items);
  const { text, citations } = words;
  const refusal = findRefusal(items);
  const toolCalls = findToolCalls(items);
  const turn: Turn = {
    text: text === "" && refusal !== null ? refusal : text,
    toolCalls,
    ...readHostedCalls(items, options, words),
    citations,
    usage: readUsage(response),
    finishReason: toFinishReason(response, { isRefused: refusal !== null, toolCalls }),
    stopReason: readStringOrNull(readRecord(response, "incomplete_details"), "reason"),
    responseId: readStringOrNull(response, "id"),
    requestId,
    model: readStringOrNull(response, "model"),
  };
  if (turn.finishReason !== "stop" || turn.text !== "") return { turn, items };
  if (items.length === 0) {
    throw createUnusableError(
      "The provider returned an empty response. Retry, or rephrase the prompt.",
      options,
      response,
    );
  }
  if (!items.some(({ type }) => type === "function_call")) return { turn, items };
  const message = "The model called a function with incomplete arguments or without an id. Retry.";
  throw createUnusableError(message, options, response);
}

/** Reads the calls of hosted tools, in order: those that the provider ran, and those that it delegates. */
export function readHostedCalls(
  items: readonly WireItem[],
  options: Pick<ReadOptions, "rendered" | "codecs" | "getEntries">,
  message: MessageText = readMessageText(items),
): {
  readonly hostedCalls: readonly HostedCall[];
  readonly delegatedCalls: readonly DelegatedCall[];
} {
  const hostedCalls = mapTools(options, (codec, tool) =>
    codec.calls
      ? codec.calls(items, tool, message)
      : readDefaultCalls(codec, tool, items, options.getEntries),
  );
  const delegatedCalls = mapTools(options, (codec, tool) => readDelegatedCalls(codec, tool, items));
  return {
    hostedCalls: sortByItem(hostedCalls, items),
    delegatedCalls: sortByItem(delegatedCalls, items),
  };
}

function sortByItem<Call extends { readonly raw: object }>(
  calls: readonly Call[],
  items: readonly object[],
): readonly Call[] {
  if (calls.length < 2) return calls;
  const order = new Map(items.map((item, index) => [item, index]));
  return calls.toSorted((one, other) => (order.get(one.raw) ?? 0) - (order.get(other.raw) ?? 0));
}

interface ToolsToRead {
  readonly rendered: Pick<RenderedPrompt, "promptName" | "hostedTools">;
  readonly codecs: Codecs;
}

/** Maps every hosted tool with its codec. An error thrown by a codec becomes a parse error. */
export function mapTools<Result>(
  { rendered, codecs }: ToolsToRead,
  work: (codec: HostedToolCodec, tool: HostedTool) => readonly Result[],
): readonly Result[] {
  return rendered.hostedTools.flatMap((tool) => {
    const codec = codecs.get(tool.kind);
    if (!codec) return [];
    try {
      return work(codec, tool);
    } catch (cause) {
      const message = `The codec for "${tool.kind}" could not read the response: ${getErrorMessage(cause)}`;
      const { promptName } = rendered;
      throw new PromptEvaluationError(message, { promptName, phase: "parse", cause });
    }
  });
}

function checkResponse(value: unknown, options: ReadOptions): WireItem {
  const { rendered, requestId, secrets } = options;
  if (!isPlainObject(value)) {
    throw createUnusableError(
      `The provider returned ${quoteValue(value)}, which is not a response`,
      options,
      value,
    );
  }
  const status = readStringOrNull(value, "status");
  const error = readRecord(value, "error");
  const hasError = Object.keys(error).length > 0 || typeof value["error"] === "string";
  if (hasError && (status === null || status === "failed" || !Array.isArray(value["output"]))) {
    const { promptName } = rendered;
    const details = typeof value["error"] === "string" ? { message: value["error"] } : error;
    throw fromResponseError(details, { promptName, requestId, payload: value, secrets });
  }
  const isFinished = status === null || status === "completed" || status === "incomplete";
  if (isFinished) return value;
  throw createUnusableError(
    `The response has the status ${quoteValue(status)}, not "completed"`,
    options,
    value,
  );
}

function readItems(response: WireItem, options: ReadOptions): readonly WireItem[] {
  const { output } = response;
  if (!Array.isArray(output)) {
    throw createUnusableError(
      `The response's output is ${quoteValue(output)}, not an array`,
      options,
      response,
    );
  }
  const items: WireItem[] = [];
  for (const item of output) if (isItem(item, options)) items.push(hideEncryptedContent(item));
  return items;
}

/** Filters out values that are not objects. Throws for an item too deep to send back. */
function isItem(item: unknown, options: ReadOptions): item is WireItem {
  if (!isPlainObject(item)) return false;
  if (!isTooDeep(item)) return true;
  const [type, id] = [readStringOrNull(item, "type"), readStringOrNull(item, "id")];
  const message = `An item of type ${quoteValue(type)} cannot be sent back: it is nested more than ${MAX_JSON_DEPTH} levels deep`;
  throw createUnusableError(message, options, { type, id });
}

/**
 * Finds the calls to run locally. Ignores a second call with the same id: only one can get a
 * result.
 */
function findToolCalls(items: readonly WireItem[]): readonly ToolCall[] {
  const calls = new Map<string, ToolCall>();
  for (const call of items.flatMap(parseToolCall)) {
    if (!calls.has(call.callId)) calls.set(call.callId, call);
  }
  return [...calls.values()];
}

/** Parses a function call. Incomplete calls are skipped, because their arguments are truncated. */
function parseToolCall(item: WireItem): readonly ToolCall[] {
  if (item["type"] !== "function_call" || item["status"] === "incomplete") return [];
  const name = readStringOrNull(item, "name");
  const callId = readStringOrNull(item, "call_id");
  if (name === null || !callId) return [];
  const given = item["arguments"];
  return [
    { name, callId, arguments: typeof given === "string" ? given : stringifyArguments(given) },
  ];
}

function stringifyArguments(value: unknown): string {
  return JSON.stringify(value ?? {});
}

function readDelegatedCalls(
  codec: HostedToolCodec,
  tool: HostedTool,
  items: readonly WireItem[],
): readonly DelegatedCall[] {
  return codec.delegatedCalls?.(items, tool) ?? [];
}

function toFinishReason(
  response: WireItem,
  { isRefused, toolCalls }: { isRefused: boolean; toolCalls: readonly ToolCall[] },
): FinishReason {
  if (response["status"] === "incomplete") {
    const reason = readRecord(response, "incomplete_details")["reason"];
    return reason === "content_filter" ? "content_filter" : "length";
  }
  if (toolCalls.length > 0) return "tool_calls";
  return isRefused ? "content_filter" : "stop";
}

function createUnusableError(
  message: string,
  { rendered, requestId, secrets }: ReadOptions,
  payload: unknown,
): PromptEvaluationError {
  const { promptName } = rendered;
  const providerPayload = redact(payload, secrets);
  const details = { promptName, requestId, phase: "response", providerPayload } as const;
  return new PromptEvaluationError(redactText(message, secrets), details);
}
