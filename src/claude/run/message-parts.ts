import {
  readNumber,
  readRecord,
  readRecords,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import { isSynthetic } from "./model-message.ts";
import { PartLedger, type PartReceiver } from "./part-ledger.ts";
import {
  type BlockContext,
  type MessagePart,
  readPiece,
  startBlock,
  type TakePiece,
} from "./start-block.ts";

/** Facts that decide how the parts of a message are delivered. */
export interface MessagePartsSettings extends Pick<BlockContext, "findNative"> {
  /** Whether the answer is structured. Its JSON is then the response's text. */
  readonly isStructured: boolean;
}

/** How a message ended: it is being received, is complete, or is continued by the next message. */
type MessageEnding = "none" | "complete" | "cutOff";

/**
 * Converts the SDK's messages to parts of the model's responses as they arrive. Skips the messages of
 * subagents.
 */
export class MessageParts {
  readonly #ledger: PartLedger;
  readonly #context: BlockContext;
  readonly #blocks = new Map<number, TakePiece>();
  #messageId: string | null = null;
  /** Whether the message arrives in stream events, so that its whole blocks are repetitions. */
  #isStreamed = false;
  #stopReason: string | null = null;
  #ending: MessageEnding = "none";
  /** Index of the content block that is being read. */
  #index = 0;
  /** Text beside a structured answer, by block. It is text of the response if there is no answer. */
  #heldTexts: { readonly block: number; readonly text: string }[] = [];
  /** Index of the block with a structured answer. */
  #answerIndex: number | null = null;

  constructor({ isStructured, findNative }: MessagePartsSettings, receiver: PartReceiver) {
    this.#ledger = new PartLedger(receiver);
    this.#context = {
      findNative,
      onText: (text) => {
        if (isStructured) this.#heldTexts.push({ block: this.#index, text });
        else this.#addText(text);
      },
      onAnswer: (json) => {
        this.#answerIndex = this.#index;
        this.#addText(json);
      },
      onPart: (part) => this.#add(part),
    };
  }

  /** Begins a turn: the parts of earlier messages are final. */
  startTurn(): void {
    this.#ledger.clear();
    this.#heldTexts = [];
  }

  /** Takes a message of the SDK. */
  read(sdkMessage: UnknownRecord): void {
    if (typeof sdkMessage["parent_tool_use_id"] === "string") return;
    if (sdkMessage["type"] === "stream_event") {
      this.#withdrawFrom(
        readNumber(readRecord(sdkMessage, "abandoned_blocks"), "from_block_index"),
      );
      this.#readEvent(readRecord(sdkMessage, "event"));
    } else if (sdkMessage["type"] === "assistant" && !isSynthetic(sdkMessage))
      this.#readWhole(readRecord(sdkMessage, "message"));
  }

  #readEvent(event: UnknownRecord): void {
    switch (event["type"]) {
      case "message_start":
        this.#startMessage(readRecord(event, "message"));
        this.#isStreamed = true;
        break;
      case "content_block_start":
        this.#index = readNumber(event, "index") ?? 0;
        this.#blocks.set(
          this.#index,
          startBlock(readRecord(event, "content_block"), this.#context),
        );
        break;
      case "content_block_delta":
        this.#takeDelta(readNumber(event, "index") ?? 0, readRecord(event, "delta"));
        break;
      case "message_delta":
        this.#stopReason = readStringOrNull(readRecord(event, "delta"), "stop_reason");
        break;
      case "message_stop":
        this.#endMessage();
        break;
    }
  }

  #takeDelta(index: number, delta: UnknownRecord): void {
    this.#index = index;
    const piece = readPiece(delta);
    if (piece !== "") this.#blocks.get(index)?.(piece);
  }

  /** Reads blocks of a message that the SDK did not stream, such as one that it requested again. */
  #readWhole(message: UnknownRecord): void {
    if (readStringOrNull(message, "id") !== this.#messageId) this.#startMessage(message);
    else if (this.#isStreamed) return;
    for (const block of readRecords(message, "content")) {
      startBlock(block, this.#context);
      this.#index += 1;
    }
    this.#stopReason = readStringOrNull(message, "stop_reason");
    if (this.#stopReason !== null) this.#endMessage();
  }

  /** Begins a message. It replaces the previous one, unless that was cut off. */
  #startMessage(message: UnknownRecord): void {
    if (this.#ending === "complete") this.#ledger.withdrawAll();
    if (this.#ending === "none") this.#ledger.withdrawFrom(0);
    if (this.#ending !== "cutOff") this.#heldTexts = [];
    this.#ledger.settle();
    this.#messageId = readStringOrNull(message, "id");
    this.#isStreamed = false;
    this.#stopReason = null;
    this.#ending = "none";
    this.#index = 0;
    this.#answerIndex = null;
    this.#blocks.clear();
  }

  #endMessage(): void {
    const isCutOff = this.#stopReason === null || this.#stopReason === "max_tokens";
    this.#ending = isCutOff ? "cutOff" : "complete";
    if (isCutOff) return;
    const texts = this.#answerIndex === null ? this.#heldTexts : [];
    this.#heldTexts = [];
    this.#addText(texts.map(({ text }) => text).join(""));
  }

  /** Withdraws the blocks that the SDK abandons after a lost connection, from an index. */
  #withdrawFrom(index: number | null): void {
    if (index === null) return;
    this.#heldTexts = this.#heldTexts.filter(({ block }) => block < index);
    if (this.#answerIndex !== null && this.#answerIndex >= index) this.#answerIndex = null;
    this.#ledger.withdrawFrom(index);
  }

  #addText(delta: string): void {
    if (delta !== "") this.#add({ type: "text", delta });
  }

  #add(part: MessagePart): void {
    this.#ledger.add(part, this.#index);
  }
}
