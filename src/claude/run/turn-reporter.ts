import type { TurnObserver } from "../../adapter/turn-observer.ts";
import { readRecord, readString, type UnknownRecord } from "../../base/json.ts";
import { hasSucceeded } from "../tools/native-tools.ts";
import { MessageParts, type MessagePartsSettings } from "./message-parts.ts";
import type { NativeCall } from "./run-state.ts";
import type { MessagePart } from "./start-block.ts";

/** Reports the progress of a run to the observer of the current turn, if there is one. */
export class TurnReporter {
  readonly #settings: MessagePartsSettings;
  #turn = 0;
  #observer: TurnObserver | null = null;
  /** Reads parts from messages; `null` until an observer wants parts. */
  #parts: MessageParts | null = null;

  constructor(settings: MessagePartsSettings) {
    this.#settings = settings;
  }

  /** Begins a turn. Call it before the SDK continues. */
  startTurn(turn: number, observer: TurnObserver | null): void {
    this.#turn = turn;
    this.#observer = observer;
    if (observer?.wantsParts) this.#parts ??= this.#createParts();
    this.#parts?.startTurn();
  }

  /** Resolves when the readers of the parts have caught up; `null` if the run need not wait. */
  get backlog(): Promise<void> | null {
    return this.#observer?.backlog ?? null;
  }

  /** Reports a message of the SDK. */
  onMessage(message: UnknownRecord): void {
    if (!this.#observer) return;
    this.#observer.onReceived(JSON.stringify(message).length, getMessageName(message));
    this.#parts?.read(message);
  }

  /** Reports that the SDK is about to run a native tool. */
  onCallStarted(name: string): void {
    this.#observer?.onStatus(`PreToolUse:${name}`);
  }

  /** Reports a native call that has ended. */
  onCallEnded(call: NativeCall): void {
    if (!this.#observer) return;
    const { id: callId, name } = call;
    const native = this.#settings.findNative(name);
    if (!native) return;
    const isDone = hasSucceeded(call);
    const status = isDone ? "completed" : "failed";
    this.#onPart({ type: "hostedCall", callId, kind: native.kind, status });
    this.#observer.onStatus(`${isDone ? "PostToolUse" : "PostToolUseFailure"}:${name}`);
  }

  #createParts(): MessageParts {
    return new MessageParts(this.#settings, {
      onPart: (part) => this.#onPart(part),
      onRestart: () => this.#observer?.onRestart(),
    });
  }

  #onPart(part: MessagePart): void {
    this.#observer?.onPart({ ...part, turn: this.#turn });
  }
}

/** Returns the SDK's name of a message: the name of the stream event, or of the message. */
function getMessageName(message: UnknownRecord): string {
  const event = message["type"] === "stream_event" ? readRecord(message, "event") : message;
  return readString(event, "subtype") || readString(event, "type");
}
