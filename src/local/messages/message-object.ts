import type { WireItem } from "../../openai/wire.ts";
import { countJsonTokens } from "../count-tokens.ts";
import type { MessageRequest } from "./check/request.ts";
import type { FinishedBlock, StopReason } from "./message-state.ts";

/** The parts of a message, finished or not. */
export interface MessageParts {
  readonly id: string;
  readonly request: MessageRequest;
  /** The input tokens of the request, counted once. */
  readonly inputTokens: number;
  readonly blocks: readonly FinishedBlock[];
  /** `null` until the message is finished. */
  readonly stop: StopReason | null;
}

/** Creates the wire format of a message. */
export function createMessageObject(parts: MessageParts): WireItem {
  const { id, request, inputTokens, blocks, stop } = parts;
  const { model } = request;
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: blocks.map(({ block }) => block),
    stop_reason: stop?.stopReason ?? null,
    stop_sequence: stop?.stopSequence ?? null,
    usage: createMessageUsage(inputTokens, blocks),
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

/** Computes the usage of a message. The local provider has no prompt cache. */
export function createMessageUsage(
  inputTokens: number,
  finished: readonly FinishedBlock[],
): WireItem {
  const blocks = finished.map(({ block }) => block);
  const searches = blocks.filter(({ type }) => type === "server_tool_use").length;
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: blocks.length === 0 ? 1 : countJsonTokens(blocks),
    service_tier: "standard",
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
  };
}

/** Returns the (always empty) list of context edits, if the request has `context_management`. */
export function createContextEdits({ listsEdits }: MessageRequest): WireItem {
  return listsEdits ? { context_management: { applied_edits: [] } } : {};
}
