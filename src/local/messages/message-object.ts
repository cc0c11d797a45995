import type { WireItem } from "../../openai/wire.ts";
import { countJsonTokens } from "../count-tokens.ts";
import type { UsageMeter } from "../turn/usage-meter.ts";
import type { MessageRequest } from "./check/request.ts";
import type { FinishedBlock, MessageEnd } from "./message-state.ts";

/** The parts of a message, finished or not. */
export interface MessageParts {
  readonly id: string;
  readonly request: MessageRequest;
  /** The input tokens of the request, counted once. */
  readonly inputTokens: number;
  /** The tokens that the model has reported so far. */
  readonly usage: UsageMeter;
  readonly blocks: readonly FinishedBlock[];
  /** `null` until the message is finished. */
  readonly stop: MessageEnd | null;
}

/** Creates the wire format of a message. */
export function createMessageObject(parts: MessageParts): WireItem {
  const { id, request, blocks, stop } = parts;
  const { model } = request;
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: blocks.map(({ block }) => block),
    stop_reason: stop?.stopReason ?? null,
    stop_sequence: stop?.stopSequence ?? null,
    container: stop?.container ?? null,
    usage: createMessageUsage(parts, blocks),
    ...createContextEdits(request),
  };
}

/** Counts the input tokens of a request, the same way as everywhere in the local provider. */
export function countRequestTokens({ system, messages, tools }: MessageRequest): number {
  return countJsonTokens({
    system,
    messages: messages.map(({ role, content }) => ({ role, content })),
    tools,
  });
}

/** Returns the usage of a message: as the model reports it, otherwise an estimate. */
export function createMessageUsage(
  { inputTokens, usage: { reported } }: Pick<MessageParts, "inputTokens" | "usage">,
  finished: readonly FinishedBlock[],
): WireItem {
  const blocks = finished.map(({ block }) => block);
  const count = (tool: string) =>
    blocks.filter(({ type, name }) => type === "server_tool_use" && name === tool).length;
  const [searches, fetches] = [count("web_search"), count("web_fetch")];
  // Unlike OpenAI, Anthropic does not count cached tokens as input tokens.
  const cached = reported?.cachedTokens ?? 0;
  const estimate = blocks.length === 0 ? 1 : countJsonTokens(blocks);
  return {
    input_tokens: reported ? Math.max(0, reported.inputTokens - cached) : inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: reported?.outputTokens ?? estimate,
    service_tier: "standard",
    ...(searches + fetches > 0
      ? { server_tool_use: { web_search_requests: searches, web_fetch_requests: fetches } }
      : {}),
  };
}

/** Returns the (always empty) list of context edits, if the request has `context_management`. */
export function createContextEdits({ listsEdits }: MessageRequest): WireItem {
  return listsEdits ? { context_management: { applied_edits: [] } } : {};
}
