import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";
import { chunksOf } from "../event-chunks.ts";
import { anthropicProblem } from "./anthropic-problem.ts";
import { editsOf, type MessageParts, messageObject, usageOf } from "./message-object.ts";
import type { Ended, MadeBlock } from "./message-state.ts";

/** One event of a stream. */
export type MessageEvent = WireItem & { readonly type: string };

/** Tells of an answer as it is made, with Anthropic's events in Anthropic's order. */
export class MessageWriter {
  readonly #write: (event: MessageEvent) => void;
  readonly #parts: Omit<MessageParts, "made" | "ended">;
  readonly #made: MadeBlock[] = [];

  constructor(parts: Omit<MessageParts, "made" | "ended">, write: (event: MessageEvent) => void) {
    this.#parts = parts;
    this.#write = write;
  }

  /** The message that has just begun. */
  begin(): void {
    const message = messageObject({ ...this.#parts, made: [], ended: null });
    this.#write({ type: "message_start", message });
    this.#write({ type: "ping" });
  }

  /** A block from its first event to its last. */
  block(made: MadeBlock): void {
    const index = this.#made.push(made) - 1;
    this.#write({ type: "content_block_start", index, content_block: opening(made.block) });
    for (const delta of deltasOf(made)) this.#write({ type: "content_block_delta", index, delta });
    this.#write({ type: "content_block_stop", index });
  }

  /** Why it has ended, and what it has cost. */
  end({ stopReason, stopSequence }: Ended): void {
    const { request, inputTokens } = this.#parts;
    const delta = { stop_reason: stopReason, stop_sequence: stopSequence };
    const usage = usageOf(inputTokens, this.#made);
    this.#write({ type: "message_delta", delta, usage, ...editsOf(request) });
    this.#write({ type: "message_stop" });
  }

  /** What went wrong midway: nothing comes after it. */
  problem(problem: Pick<ApiProblem, "status" | "message">, requestId: string): void {
    this.#write({ ...anthropicProblem(problem, requestId) });
  }
}

/** An event as server-sent text. */
export function sse(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** A block before anything was said of what is in it. */
function opening(block: MadeBlock["block"]): WireItem {
  const { type } = block;
  if (type === "text")
    return { type, text: "", ...("citations" in block ? { citations: [] } : {}) };
  if (type === "thinking") return { type, thinking: "", signature: "" };
  if (type === "tool_use" || type === "server_tool_use") return { ...block, input: {} };
  return block;
}

function deltasOf({ block, written }: MadeBlock): readonly WireItem[] {
  const { type, text, citations, thinking, signature, input } = block;
  if (type === "text") {
    const told = Array.isArray(citations) ? citations : [];
    return [
      ...told.map((citation: unknown) => ({ type: "citations_delta", citation })),
      ...chunksOf(String(text)).map((part) => ({ type: "text_delta", text: part })),
    ];
  }
  if (type === "thinking")
    return [
      ...chunksOf(String(thinking)).map((part) => ({ type: "thinking_delta", thinking: part })),
      { type: "signature_delta", signature },
    ];
  if (type !== "tool_use" && type !== "server_tool_use") return [];
  const chunks = ["", ...chunksOf(written ?? JSON.stringify(input))];
  return chunks.map((part) => ({ type: "input_json_delta", partial_json: part }));
}
