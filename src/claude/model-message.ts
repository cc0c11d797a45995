import { isPlainObject } from "../base/freeze.ts";
import { maybeTextAt, numberAt, recordAt, recordsAt, textAt } from "../base/reading.ts";
import { type TokenUsage, usageOf } from "../base/usage.ts";
import type { Given } from "./given.ts";

/** What the model said and called in one request. */
export interface ModelMessage {
  /** Counted from 1. */
  readonly number: number;
  readonly id: string | null;
  readonly model: string | null;
  readonly requestId: string | null;
  readonly text: string;
  readonly uses: readonly ToolUse[];
  readonly stopReason: string | null;
  readonly usage: TokenUsage;
  /** Nothing is added to it any more. */
  readonly isComplete: boolean;
}

/** A call, of our tools or of the SDK's. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: Given;
}

/** Puts a message together from what the SDK lets out: its blocks one by one, and how it ended. */
export class MessageReader {
  #message: ModelMessage | null = null;
  #usage: Given = {};

  /** The newest one. */
  get message(): ModelMessage | null {
    return this.#message;
  }

  /** Whether it was part of a message of the main conversation. */
  take(said: Given): boolean {
    if (typeof said["parent_tool_use_id"] === "string") return false;
    if (said["type"] === "stream_event") return this.#takeEvent(recordAt(said, "event"));
    if (said["type"] !== "assistant" || isSynthetic(said)) return false;
    const message = recordAt(said, "message");
    if (this.#message === null || this.#message.id !== maybeTextAt(message, "id"))
      this.#begin(message);
    const requestId = maybeTextAt(said, "request_id");
    if (requestId !== null) this.#set({ requestId });
    for (const block of recordsAt(message, "content")) this.#takeBlock(block);
    if (maybeTextAt(message, "stop_reason") !== null) this.#end(message); // it was not streamed
    return true;
  }

  #takeEvent(event: Given): boolean {
    if (event["type"] === "message_start") this.#begin(recordAt(event, "message"));
    if (event["type"] === "message_delta") this.#end({ ...event, ...recordAt(event, "delta") });
    if (event["type"] === "message_stop") this.#set({ isComplete: true });
    return true;
  }

  #begin(message: Given): void {
    this.#usage = recordAt(message, "usage");
    this.#message = {
      number: (this.#message?.number ?? 0) + 1,
      id: maybeTextAt(message, "id"),
      model: maybeTextAt(message, "model"),
      requestId: null,
      text: "",
      uses: [],
      stopReason: null,
      usage: claudeUsage(this.#usage),
      isComplete: false,
    };
  }

  #takeBlock(block: Given): void {
    const { text = "", uses = [] } = this.#message ?? {};
    if (block["type"] === "text") this.#set({ text: text + textAt(block, "text") });
    if (block["type"] !== "tool_use") return;
    const { id, name } = { id: textAt(block, "id"), name: textAt(block, "name") };
    this.#set({ uses: [...uses, { id, name, input: recordAt(block, "input") }] });
  }

  /** A message that came whole ends with its last block; a streamed one says so by itself. */
  #end(ending: Given): void {
    this.#usage = { ...this.#usage, ...recordAt(ending, "usage") };
    const stopReason = maybeTextAt(ending, "stop_reason");
    const isWhole = ending["type"] === "message";
    this.#set({
      stopReason,
      usage: claudeUsage(this.#usage),
      ...(isWhole && { isComplete: true }),
    });
  }

  #set(parts: Partial<ModelMessage>): void {
    if (this.#message) this.#message = { ...this.#message, ...parts };
  }
}

/** The SDK's own words about a failed request. */
export function isSynthetic(said: Given): boolean {
  return recordAt(said, "message")["model"] === "<synthetic>" || said["error"] !== undefined;
}

/** Anthropic counts what it had cached, and what it has cached now, apart. */
export function claudeUsage(usage: Given): TokenUsage {
  const cachedTokens = numberAt(usage, "cache_read_input_tokens") ?? 0;
  const made = numberAt(usage, "cache_creation_input_tokens") ?? 0;
  const details = isPlainObject(usage) ? recordAt(usage, "output_tokens_details") : {};
  return usageOf({
    inputTokens: (numberAt(usage, "input_tokens") ?? 0) + cachedTokens + made,
    outputTokens: numberAt(usage, "output_tokens") ?? 0,
    cachedTokens,
    reasoningTokens: numberAt(details, "thinking_tokens") ?? 0,
  });
}
