import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import { type TokenUsage, toUsage } from "../../base/usage.ts";

/** One message of the model: its text and tool calls. */
export interface ModelMessage {
  /** Position in the run, starting at 1. */
  readonly number: number;
  readonly id: string | null;
  readonly model: string | null;
  readonly requestId: string | null;
  readonly text: string;
  readonly uses: readonly ToolUse[];
  readonly stopReason: string | null;
  readonly usage: TokenUsage;
  /** Whether all blocks of the message have arrived. */
  readonly isComplete: boolean;
}

/** The model's call to a tool of the prompt or a native tool of the SDK. */
export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly input: UnknownRecord;
}

/** The newest message as received so far, with its usage in Anthropic's fields. */
export interface MessageDraft {
  readonly message: ModelMessage | null;
  readonly usage: UnknownRecord;
}

/** The draft before the first message. */
export const noMessage: MessageDraft = Object.freeze({ message: null, usage: {} });

/**
 * Adds an SDK message to the draft. The SDK reports a model message block by block, then its stop
 * reason. Returns `null` if `sdkMessage` is not part of a model message in the main conversation.
 */
export function readMessage(draft: MessageDraft, sdkMessage: UnknownRecord): MessageDraft | null {
  if (typeof sdkMessage["parent_tool_use_id"] === "string") return null;
  if (sdkMessage["type"] === "stream_event")
    return readStreamEvent(draft, readRecord(sdkMessage, "event"));
  if (sdkMessage["type"] !== "assistant" || isSynthetic(sdkMessage)) return null;
  const message = readRecord(sdkMessage, "message");
  const isNew = draft.message === null || draft.message.id !== readStringOrNull(message, "id");
  const started = isNew ? startMessage(draft, message) : draft;
  const requestId = readStringOrNull(sdkMessage, "request_id");
  const withId = requestId === null ? started : updateMessage(started, { requestId });
  const withBlocks = readRecords(message, "content").reduce(addBlock, withId);
  const isStreamed = readStringOrNull(message, "stop_reason") === null;
  return isStreamed ? withBlocks : finishMessage(withBlocks, message);
}

/** Whether the SDK itself wrote a message, to report a failed request. */
export function isSynthetic(sdkMessage: UnknownRecord): boolean {
  const { model } = readRecord(sdkMessage, "message");
  return model === "<synthetic>" || sdkMessage["error"] !== undefined;
}

/** Converts Anthropic's usage, which counts tokens read from and written to the cache separately. */
export function toTokenUsage(usage: UnknownRecord): TokenUsage {
  const cachedTokens = readNumber(usage, "cache_read_input_tokens") ?? 0;
  const written = readNumber(usage, "cache_creation_input_tokens") ?? 0;
  const details = isPlainObject(usage) ? readRecord(usage, "output_tokens_details") : {};
  return toUsage({
    inputTokens: (readNumber(usage, "input_tokens") ?? 0) + cachedTokens + written,
    outputTokens: readNumber(usage, "output_tokens") ?? 0,
    cachedTokens,
    reasoningTokens: readNumber(details, "thinking_tokens") ?? 0,
  });
}

function readStreamEvent(draft: MessageDraft, event: UnknownRecord): MessageDraft {
  switch (event["type"]) {
    case "message_start":
      return startMessage(draft, readRecord(event, "message"));
    case "message_delta":
      return finishMessage(draft, { ...event, ...readRecord(event, "delta") });
    case "message_stop":
      return updateMessage(draft, { isComplete: true });
    default:
      return draft;
  }
}

function startMessage({ message }: MessageDraft, started: UnknownRecord): MessageDraft {
  const usage = readRecord(started, "usage");
  return {
    usage,
    message: {
      number: (message?.number ?? 0) + 1,
      id: readStringOrNull(started, "id"),
      model: readStringOrNull(started, "model"),
      requestId: null,
      text: "",
      uses: [],
      stopReason: null,
      usage: toTokenUsage(usage),
      isComplete: false,
    },
  };
}

function addBlock(draft: MessageDraft, block: UnknownRecord): MessageDraft {
  const { text = "", uses = [] } = draft.message ?? {};
  if (block["type"] === "text")
    return updateMessage(draft, { text: text + readString(block, "text") });
  if (block["type"] !== "tool_use") return draft;
  const { id, name } = { id: readString(block, "id"), name: readString(block, "name") };
  return updateMessage(draft, { uses: [...uses, { id, name, input: readRecord(block, "input") }] });
}

/** A message that arrives in one piece is complete. A streamed message ends with an event. */
function finishMessage(draft: MessageDraft, ending: UnknownRecord): MessageDraft {
  const usage = { ...draft.usage, ...readRecord(ending, "usage") };
  const isWhole = ending["type"] === "message";
  return updateMessage(
    { ...draft, usage },
    {
      stopReason: readStringOrNull(ending, "stop_reason"),
      usage: toTokenUsage(usage),
      ...(isWhole && { isComplete: true }),
    },
  );
}

function updateMessage(draft: MessageDraft, parts: Partial<ModelMessage>): MessageDraft {
  return draft.message ? { ...draft, message: { ...draft.message, ...parts } } : draft;
}
