import { readRecords, readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ResponseUsage } from "../responses/response-object.ts";
import { createUsage, toResponseUsage } from "../responses/usage.ts";
import type { TurnOutcome } from "../turn/turn.ts";
import type { UsageMeter } from "../turn/usage-meter.ts";
import type { ChatRequest } from "./check/request.ts";

/** A validated request and the completion that has started for it. */
export interface StartedCompletion {
  readonly id: string;
  /** When it started, in seconds. */
  readonly created: number;
  readonly request: ChatRequest;
  /** The tokens that the model has reported so far. */
  readonly usage: UsageMeter;
}

/** Creates the wire format of a finished completion. */
export function createCompletionObject(started: StartedCompletion, outcome: TurnOutcome): WireItem {
  const { metadata } = started.request;
  const calls = outcome.output.flatMap(toToolCall);
  const message = {
    role: "assistant",
    content: joinParts(outcome.output, "text"),
    refusal: joinParts(outcome.output, "refusal"),
    annotations: [],
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  const finish_reason = getFinishReason(started, outcome);
  return {
    ...createCommonFields(started, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: createCompletionUsage(started, outcome),
    ...(metadata ? { metadata } : {}),
  };
}

/** Creates the fields that completions and their chunks share. */
export function createCommonFields(
  { id, created, request }: StartedCompletion,
  object: string,
): WireItem {
  const { model, serviceTier } = request;
  return { id, object, created, model, service_tier: serviceTier };
}

/** Returns why the completion ended. A call that the request forces by name ends it with `"stop"`, as OpenAI's do. */
export function getFinishReason(
  { request }: StartedCompletion,
  { status, output }: TurnOutcome,
): string {
  if (status === "incomplete") return "length";
  const { type } = Object(request.toolChoice);
  const isForced = type === "function" || type === "custom";
  const hasCalls = output.some((item) => toToolCall(item).length > 0);
  return hasCalls && !isForced ? "tool_calls" : "stop";
}

/** Returns the usage: as the model reports it, otherwise an estimate. */
export function createCompletionUsage(
  { request, usage: { reported } }: StartedCompletion,
  { output }: TurnOutcome,
): WireItem {
  const usage: ResponseUsage = reported
    ? toResponseUsage(reported)
    : createUsage(request.inputTokens, output);
  return {
    prompt_tokens: usage.input_tokens,
    completion_tokens: usage.output_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { ...usage.input_tokens_details, audio_tokens: 0 },
    completion_tokens_details: {
      ...usage.output_tokens_details,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

/** Converts an output item to a tool call; other items to nothing. */
export function toToolCall(item: WireItem): readonly WireItem[] {
  const { type, call_id: id, name, arguments: args, input } = item;
  if (type === "function_call")
    return [{ id, type: "function", function: { name, arguments: args } }];
  return type === "custom_tool_call" ? [{ id, type: "custom", custom: { name, input } }] : [];
}

/** Joins the texts or refusals of all messages; `null` if there are none. */
function joinParts(output: readonly WireItem[], key: "text" | "refusal"): string | null {
  const parts = output
    .filter(({ type }) => type === "message")
    .flatMap((item) => readRecords(item, "content").filter((part) => key in part));
  return parts.length === 0 ? null : parts.map((part) => readString(part, key)).join("");
}
