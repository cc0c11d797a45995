import type { WireItem } from "../../openai/wire.ts";
import { splitIntoChunks } from "../split-into-chunks.ts";
import { type AnthropicProblemSource, toAnthropicProblem } from "./anthropic-problem.ts";
import {
  createContextEdits,
  createMessageObject,
  createMessageUsage,
  type MessageParts,
} from "./message-object.ts";
import type { FinishedBlock, MessageEnd } from "./message-state.ts";

/** One event of a stream. */
export type MessageEvent = WireItem & { readonly type: string };

/** Creates the stream of a message, with Anthropic's events in Anthropic's order. */
export class MessageEvents {
  readonly #parts: Omit<MessageParts, "blocks" | "stop">;
  readonly #blocks: FinishedBlock[] = [];

  constructor(parts: Omit<MessageParts, "blocks" | "stop">) {
    this.#parts = parts;
  }

  /** Creates the events of a new message. */
  *createStart(): Generator<MessageEvent> {
    const message = createMessageObject({ ...this.#parts, blocks: [], stop: null });
    yield { type: "message_start", message };
    yield { type: "ping" };
  }

  /** Creates all events of a block. */
  *createBlock(finished: FinishedBlock): Generator<MessageEvent> {
    const index = this.#blocks.push(finished) - 1;
    const content_block = toEmptyBlock(finished.block);
    yield { type: "content_block_start", index, content_block };
    for (const delta of createDeltas(finished)) yield { type: "content_block_delta", index, delta };
    yield { type: "content_block_stop", index };
  }

  /** Creates the events with the stop reason and the usage. */
  *createEnd({ stopReason, stopSequence, container }: MessageEnd): Generator<MessageEvent> {
    const delta = { stop_reason: stopReason, stop_sequence: stopSequence, container };
    const usage = createMessageUsage(this.#parts, this.#blocks);
    yield { type: "message_delta", delta, usage, ...createContextEdits(this.#parts.request) };
    yield { type: "message_stop" };
  }
}

/** Creates the error event, which is the last one of a stream. */
export function createProblemEvent(
  problem: AnthropicProblemSource,
  requestId: string,
): MessageEvent {
  return { ...toAnthropicProblem(problem, requestId) };
}

/** Formats an event as a server-sent event. */
export function formatMessageEvent(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Returns a block without its content, which follows in deltas. */
function toEmptyBlock(block: FinishedBlock["block"]): WireItem {
  const { type } = block;
  if (type === "text")
    return { type, text: "", ...("citations" in block ? { citations: [] } : {}) };
  if (type === "thinking") return { type, thinking: "", signature: "" };
  if (type === "tool_use" || type === "server_tool_use") return { ...block, input: {} };
  return block;
}

function createDeltas({ block, rawInput }: FinishedBlock): readonly WireItem[] {
  const { type, text, citations, thinking, signature, input } = block;
  if (type === "text") {
    const citationList = Array.isArray(citations) ? citations : [];
    return [
      ...citationList.map((citation: unknown) => ({ type: "citations_delta", citation })),
      ...splitIntoChunks(String(text)).map((part) => ({ type: "text_delta", text: part })),
    ];
  }
  if (type === "thinking")
    return [
      ...splitIntoChunks(String(thinking)).map((part) => ({
        type: "thinking_delta",
        thinking: part,
      })),
      { type: "signature_delta", signature },
    ];
  if (type !== "tool_use" && type !== "server_tool_use") return [];
  const chunks = ["", ...splitIntoChunks(rawInput ?? JSON.stringify(input))];
  return chunks.map((part) => ({ type: "input_json_delta", partial_json: part }));
}
