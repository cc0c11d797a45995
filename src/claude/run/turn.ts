import type { AdapterEvent } from "../../adapter/events.ts";
import type { FinishReason, HostedCall, ToolCall, Turn } from "../../adapter/model-client.ts";
import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readString,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import { addUsage, noUsage, type TokenUsage, toUsage } from "../../base/usage.ts";
import { toToolName } from "../tools/tool-bridge.ts";
import type { ToolUse } from "./model-message.ts";
import { ANSWER_TOOL, type RunStep } from "./run-state.ts";

/** The part of a turn that depends only on a step. */
export type StepTurn = Omit<Turn, "usage" | "history" | "citations" | "costUsd">;

/** Converts a step of a run to a turn. */
export function toTurn(step: RunStep, hostedCalls: readonly HostedCall[]): StepTurn {
  const { message, result } = step;
  const toolCalls = step.calls.map(toToolCall);
  const stopReason = result ? readStringOrNull(result, "stop_reason") : null;
  return {
    text: result ? readAnswer(result, step.text) : step.text,
    toolCalls,
    hostedCalls,
    finishReason: toolCalls.length > 0 ? "tool_calls" : toFinishReason(stopReason),
    stopReason,
    responseId: message?.id ?? null,
    requestId: message?.requestId ?? null,
    model: message?.model ?? null,
    continues: result === null && toolCalls.length === 0,
  };
}

/** Returns the last structured answer that the model attempted in a step, as JSON; `null` if none. */
export function findAttemptedAnswer({ message }: RunStep): string | null {
  const use = message?.uses.findLast(({ name }) => name === ANSWER_TOOL);
  return use ? JSON.stringify(use.input) : null;
}

/** Converts the SDK's report of a compaction to an event. */
export function toCompactionEvent(metadata: UnknownRecord): AdapterEvent {
  const tokensBefore = readNumber(metadata, "pre_tokens") ?? 0;
  const tokensAfter = readNumber(metadata, "post_tokens");
  const isKnown = tokensAfter !== null && tokensBefore > 0;
  return {
    type: "ContextCompacted",
    tokensBefore,
    tokensAfter,
    savedRatio: isKnown ? 1 - tokensAfter / tokensBefore : null,
    nextAtTokens: tokensBefore, // the SDK decides, and does not report when
    strategy: "sdk",
    usage: null,
    itemsBefore: null,
    itemsAfter: null,
    encryptedLength: 0,
  };
}

/** Counts the usage and cost of a run. The SDK reports some of its usage only with its result. */
export class UsageMeter {
  #counted: TokenUsage = noUsage;
  #costUsd = 0;

  /** Counts a step. With the result, also counts the remaining usage and the cost. */
  measure({ usage, result }: RunStep): Pick<Turn, "usage" | "costUsd"> {
    const counted = this.add(usage);
    if (!result) return { usage: counted };
    const costUsd = this.costSince(result);
    const all = addUsage(counted, this.remainder(result));
    return { usage: all, ...(costUsd === undefined ? {} : { costUsd }) };
  }

  /** Counts usage and returns it. */
  add(usage: TokenUsage): TokenUsage {
    this.#counted = addUsage(this.#counted, usage);
    return usage;
  }

  /** Counts and returns usage outside of turns: for web searches and compaction. */
  remainder(result: UnknownRecord): TokenUsage {
    const models = Object.values(readRecord(result, "modelUsage"));
    const all = models.map((model) => readModelUsage(model)).reduce(addUsage, noUsage);
    const getRemaining = (key: keyof TokenUsage) => Math.max(0, all[key] - this.#counted[key]);
    return this.add(
      toUsage({
        inputTokens: getRemaining("inputTokens"),
        outputTokens: getRemaining("outputTokens"),
        cachedTokens: getRemaining("cachedTokens"),
      }),
    );
  }

  /** Returns the cost since the last call. The SDK reports running totals. */
  costSince(result: UnknownRecord): number | undefined {
    const sum = readNumber(result, "total_cost_usd");
    if (sum === null) return undefined;
    const cost = Math.max(0, sum - this.#costUsd);
    this.#costUsd = sum;
    return cost;
  }
}

/** Prefers the structured answer, which the SDK reports in a separate field. */
function readAnswer(result: UnknownRecord, text: string): string {
  const structured = result["structured_output"];
  if (structured !== undefined && structured !== null) return JSON.stringify(structured);
  return text === "" ? readString(result, "result") : text;
}

function toToolCall({ id, name, input }: ToolUse): ToolCall {
  const unparsed = input["__unparsedToolInput"];
  const raw = isPlainObject(unparsed) ? readStringOrNull(unparsed, "raw") : null;
  return { name: toToolName(name) ?? name, callId: id, arguments: raw ?? JSON.stringify(input) };
}

function toFinishReason(stopReason: string | null): FinishReason {
  if (stopReason === "max_tokens" || stopReason === "model_context_window_exceeded")
    return "length";
  return stopReason === "refusal" ? "content_filter" : "stop";
}

function readModelUsage(value: unknown): TokenUsage {
  const usage = readRecord({ value }, "value");
  const cachedTokens = readNumber(usage, "cacheReadInputTokens") ?? 0;
  const written = readNumber(usage, "cacheCreationInputTokens") ?? 0;
  return toUsage({
    inputTokens: (readNumber(usage, "inputTokens") ?? 0) + cachedTokens + written,
    outputTokens: readNumber(usage, "outputTokens") ?? 0,
    cachedTokens,
  });
}
