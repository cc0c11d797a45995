import type { FinishReason, HostedCall, ToolCall, Turn } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { maybeTextAt, textAt } from "../../base/reading.ts";
import type { Given } from "../given.ts";
import { ownName } from "../tools/tool-bridge.ts";
import type { ToolUse } from "./model-message.ts";
import type { RunStep } from "./run-state.ts";

/** A step of a run, as far as it does not need to be counted. */
export type StepTurn = Omit<Turn, "usage" | "history" | "citations" | "costUsd">;

/** What the model did in a step. */
export function turnOf(step: RunStep, hostedCalls: readonly HostedCall[]): StepTurn {
  const { message, result } = step;
  const toolCalls = step.calls.map(toolCallOf);
  const stopReason = result ? maybeTextAt(result, "stop_reason") : null;
  return {
    text: result ? answerOf(result, step.text) : step.text,
    toolCalls,
    hostedCalls,
    finishReason: toolCalls.length > 0 ? "tool_calls" : finishReasonOf(stopReason),
    stopReason,
    responseId: message?.id ?? null,
    requestId: message?.requestId ?? null,
    model: message?.model ?? null,
    goesOn: result === null && toolCalls.length === 0,
  };
}

/** A structured answer is the SDK's to take, in a call of its own. */
function answerOf(result: Given, text: string): string {
  const structured = result["structured_output"];
  if (structured !== undefined && structured !== null) return JSON.stringify(structured);
  return text === "" ? textAt(result, "result") : text;
}

function toolCallOf({ id, name, input }: ToolUse): ToolCall {
  const unparsed = input["__unparsedToolInput"];
  const raw = isPlainObject(unparsed) ? maybeTextAt(unparsed, "raw") : null;
  return { name: ownName(name) ?? name, callId: id, arguments: raw ?? JSON.stringify(input) };
}

function finishReasonOf(stopReason: string | null): FinishReason {
  if (stopReason === "max_tokens" || stopReason === "model_context_window_exceeded")
    return "length";
  return stopReason === "refusal" ? "content_filter" : "stop";
}
