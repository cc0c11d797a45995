import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/reading.ts";
import { maybeTextAt, numberAt, recordAt, recordsAt, textAt } from "../../base/reading.ts";
import { type TokenUsage, usageOf } from "../../base/usage.ts";

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
  /** Nothing more will be added to it. */
  readonly isComplete: boolean;
}

/** A call of one of our tools or of the SDK's. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: UnknownRecord;
}

/** The newest message as far as it has been read, with its usage in Anthropic's fields. */
export interface MessageDraft {
  readonly message: ModelMessage | null;
  readonly usage: UnknownRecord;
}

/** Before the first message. */
export const noMessage: MessageDraft = Object.freeze({ message: null, usage: {} });

/**
 * Adds what the SDK said to the newest message: the SDK reports a message block by block, then how
 * it ended. Returns `null` if `said` is not part of a message of the main conversation.
 */
export function readMessage(draft: MessageDraft, said: UnknownRecord): MessageDraft | null {
  if (typeof said["parent_tool_use_id"] === "string") return null;
  if (said["type"] === "stream_event") return readEvent(draft, recordAt(said, "event"));
  if (said["type"] !== "assistant" || isSynthetic(said)) return null;
  const message = recordAt(said, "message");
  const isNew = draft.message === null || draft.message.id !== maybeTextAt(message, "id");
  const begun = isNew ? begin(draft, message) : draft;
  const requestId = maybeTextAt(said, "request_id");
  const named = requestId === null ? begun : change(begun, { requestId });
  const read = recordsAt(message, "content").reduce(addBlock, named);
  const isStreamed = maybeTextAt(message, "stop_reason") === null;
  return isStreamed ? read : end(read, message);
}

/** Whether a message was written by the SDK itself, about a request that failed. */
export function isSynthetic(said: UnknownRecord): boolean {
  return recordAt(said, "message")["model"] === "<synthetic>" || said["error"] !== undefined;
}

/** Converts Anthropic's usage, which counts tokens read from and written to the cache separately. */
export function claudeUsage(usage: UnknownRecord): TokenUsage {
  const cachedTokens = numberAt(usage, "cache_read_input_tokens") ?? 0;
  const written = numberAt(usage, "cache_creation_input_tokens") ?? 0;
  const details = isPlainObject(usage) ? recordAt(usage, "output_tokens_details") : {};
  return usageOf({
    inputTokens: (numberAt(usage, "input_tokens") ?? 0) + cachedTokens + written,
    outputTokens: numberAt(usage, "output_tokens") ?? 0,
    cachedTokens,
    reasoningTokens: numberAt(details, "thinking_tokens") ?? 0,
  });
}

function readEvent(draft: MessageDraft, event: UnknownRecord): MessageDraft {
  switch (event["type"]) {
    case "message_start":
      return begin(draft, recordAt(event, "message"));
    case "message_delta":
      return end(draft, { ...event, ...recordAt(event, "delta") });
    case "message_stop":
      return change(draft, { isComplete: true });
    default:
      return draft;
  }
}

function begin({ message }: MessageDraft, begun: UnknownRecord): MessageDraft {
  const usage = recordAt(begun, "usage");
  return {
    usage,
    message: {
      number: (message?.number ?? 0) + 1,
      id: maybeTextAt(begun, "id"),
      model: maybeTextAt(begun, "model"),
      requestId: null,
      text: "",
      uses: [],
      stopReason: null,
      usage: claudeUsage(usage),
      isComplete: false,
    },
  };
}

function addBlock(draft: MessageDraft, block: UnknownRecord): MessageDraft {
  const { text = "", uses = [] } = draft.message ?? {};
  if (block["type"] === "text") return change(draft, { text: text + textAt(block, "text") });
  if (block["type"] !== "tool_use") return draft;
  const { id, name } = { id: textAt(block, "id"), name: textAt(block, "name") };
  return change(draft, { uses: [...uses, { id, name, input: recordAt(block, "input") }] });
}

/** A whole message is complete with its last block; a streamed one says when it is. */
function end(draft: MessageDraft, ending: UnknownRecord): MessageDraft {
  const usage = { ...draft.usage, ...recordAt(ending, "usage") };
  const isWhole = ending["type"] === "message";
  return change(
    { ...draft, usage },
    {
      stopReason: maybeTextAt(ending, "stop_reason"),
      usage: claudeUsage(usage),
      ...(isWhole && { isComplete: true }),
    },
  );
}

function change(draft: MessageDraft, parts: Partial<ModelMessage>): MessageDraft {
  return draft.message ? { ...draft, message: { ...draft.message, ...parts } } : draft;
}
