import { readRecord, readRecords, readStringOrNull, type UnknownRecord } from "../../base/json.ts";
import {
  type BlockContext,
  type MessagePart,
  readPiece,
  startBlock,
  type TakePiece,
} from "./content-block.ts";
import { isSynthetic } from "./model-message.ts";

/** Facts that decide how the parts of a message are delivered. */
export interface MessagePartsSettings extends Pick<BlockContext, "findNative"> {
  /** Whether the answer is structured. Its JSON is then the response's text. */
  readonly isStructured: boolean;
}

/** Receives the parts of messages. */
export interface PartReceiver {
  /** Receives a part. */
  onPart(part: MessagePart): void;
  /** Called when another message replaces the previous one, whose parts are void. */
  onRestart(): void;
}

/**
 * Converts the SDK's messages to parts of the model's responses as they arrive. Skips the messages of
 * subagents.
 */
export class MessageParts {
  readonly #receiver: PartReceiver;
  readonly #context: BlockContext;
  readonly #blocks = new Map<unknown, TakePiece>();
  #messageId: string | null = null;
  /** Whether the message arrives in stream events, so that its whole blocks are repetitions. */
  #isStreamed = false;
  #stopReason: string | null = null;
  /** Whether the turn's parts so far are void if another message begins. */
  #isReplaceable = false;
  /** Text that may stand beside a structured answer, until the message has ended. */
  #heldText = "";
  #hasAnswer = false;

  constructor({ isStructured, findNative }: MessagePartsSettings, receiver: PartReceiver) {
    this.#receiver = receiver;
    this.#context = {
      findNative,
      onText: (text) => {
        if (isStructured) this.#heldText += text;
        else this.#addText(text);
      },
      onAnswer: (json) => {
        this.#hasAnswer = true;
        this.#addText(json);
      },
      onPart: (part) => this.#add(part),
    };
  }

  /** Begins a turn: the parts of earlier messages are final. */
  startTurn(): void {
    this.#isReplaceable = false;
  }

  /** Takes a message of the SDK. */
  read(sdkMessage: UnknownRecord): void {
    if (typeof sdkMessage["parent_tool_use_id"] === "string") return;
    if (sdkMessage["type"] === "stream_event") this.#readEvent(readRecord(sdkMessage, "event"));
    else if (sdkMessage["type"] === "assistant" && !isSynthetic(sdkMessage))
      this.#readWhole(readRecord(sdkMessage, "message"));
  }

  #readEvent(event: UnknownRecord): void {
    switch (event["type"]) {
      case "message_start":
        this.#startMessage(readRecord(event, "message"));
        this.#isStreamed = true;
        break;
      case "content_block_start":
        this.#blocks.set(
          event["index"],
          startBlock(readRecord(event, "content_block"), this.#context),
        );
        break;
      case "content_block_delta":
        this.#blocks.get(event["index"])?.(readPiece(readRecord(event, "delta")));
        break;
      case "message_delta":
        this.#stopReason = readStringOrNull(readRecord(event, "delta"), "stop_reason");
        break;
      case "message_stop":
        this.#endMessage();
        break;
    }
  }

  /** Reads blocks of a message that the SDK did not stream, such as one that it requested again. */
  #readWhole(message: UnknownRecord): void {
    if (readStringOrNull(message, "id") !== this.#messageId) this.#startMessage(message);
    else if (this.#isStreamed) return;
    for (const block of readRecords(message, "content")) startBlock(block, this.#context);
    this.#stopReason = readStringOrNull(message, "stop_reason");
    if (this.#stopReason !== null) this.#endMessage();
  }

  #startMessage(message: UnknownRecord): void {
    if (this.#isReplaceable) this.#receiver.onRestart();
    this.#messageId = readStringOrNull(message, "id");
    this.#isStreamed = false;
    this.#stopReason = null;
    this.#isReplaceable = false;
    this.#heldText = "";
    this.#hasAnswer = false;
    this.#blocks.clear();
  }

  /** A message that was cut off is continued by the next one. Other messages are replaced by it. */
  #endMessage(): void {
    if (!this.#hasAnswer) this.#addText(this.#heldText);
    this.#heldText = "";
    if (this.#stopReason === null || this.#stopReason === "max_tokens") this.#isReplaceable = false;
  }

  #addText(delta: string): void {
    if (delta !== "") this.#add({ type: "text", delta });
  }

  #add(part: MessagePart): void {
    this.#isReplaceable = true;
    this.#receiver.onPart(part);
  }
}
