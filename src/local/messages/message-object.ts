import type { WireItem } from "../../openai/wire.ts";
import { tokensOf } from "../tokens.ts";
import type { MessageRequest } from "./check/request.ts";
import type { Ended, MadeBlock } from "./message-state.ts";

/** An answer while it is made, or once it is. */
export interface MessageParts {
  readonly id: string;
  readonly request: MessageRequest;
  /** What the request comes to: counted once. */
  readonly inputTokens: number;
  readonly made: readonly MadeBlock[];
  /** `null` while it is made. */
  readonly ended: Ended | null;
}

/** The message as a client gets it. */
export function messageObject(parts: MessageParts): WireItem {
  const { id, request, inputTokens, made, ended } = parts;
  const { model } = request;
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: made.map(({ block }) => block),
    stop_reason: ended?.stopReason ?? null,
    stop_sequence: ended?.stopSequence ?? null,
    usage: usageOf(inputTokens, made),
    ...editsOf(request),
  };
}

/** What a request comes to, by the measure that the whole local provider has. */
export function tokensAsked({ system, messages, tools }: MessageRequest): number {
  return tokensOf({
    system,
    messages: messages.map(({ role, content }) => ({ role, content })),
    tools,
  });
}

/** What an answer has cost. Nothing is cached here. */
export function usageOf(inputTokens: number, made: readonly MadeBlock[]): WireItem {
  const blocks = made.map(({ block }) => block);
  const searches = blocks.filter(({ type }) => type === "server_tool_use").length;
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: blocks.length === 0 ? 1 : tokensOf(blocks),
    service_tier: "standard",
    ...(searches > 0 ? { server_tool_use: { web_search_requests: searches } } : {}),
  };
}

/** No edit is ever made, which is said to who asked for some. */
export function editsOf({ tellsEdits }: MessageRequest): WireItem {
  return tellsEdits ? { context_management: { applied_edits: [] } } : {};
}
