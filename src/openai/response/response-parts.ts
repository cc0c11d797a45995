import type { ResponsePart, TurnObserver } from "../../adapter/turn-observer.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readNumber, readRecord, readRecords, readString } from "../../base/json.ts";
import { getCallId } from "../codecs/codec-call.ts";
import type { EventData } from "../http/sse-reader.ts";
import type { WireItem } from "../wire.ts";
import { findCallKind, type SentTools } from "./default-calls.ts";

/** The observer of a turn, and the names of the turn's parts. */
export interface TurnListener {
  readonly observer: TurnObserver;
  /** Number of the turn, starting at 1. */
  readonly turn: number;
  /** Returns the request's entries for hosted tools, which name the kinds of calls. */
  readonly getEntries: () => SentTools;
}

/** The name of the events that add text. */
export const TEXT_DELTA = "response.output_text.delta";

/** Converts the events of a streamed response to parts for the turn's observer. */
export class ResponseParts {
  readonly #listener: TurnListener;
  readonly #calls = new Map<number, OpenCall>();
  /** The number of characters delivered of each message, by index. */
  readonly #messages = new Map<number, number>();
  #entries: SentTools | null = null;

  constructor(listener: TurnListener) {
    this.#listener = listener;
  }

  /** Whether events with this name contain parts. Others need not be parsed. */
  wants(name: string): boolean {
    return (
      name === REASONING_DELTA ||
      name === REFUSAL_DELTA ||
      name === ITEM_ADDED ||
      name === ITEM_DONE ||
      CALL_EVENT.test(name)
    );
  }

  /** Delivers the text of a `response.output_text.delta` event. */
  onText(data: EventData): void {
    const { index, delta } = data.readDelta();
    this.#deliverText(index, delta);
  }

  /** Delivers the parts of one event with another name. */
  onEvent(name: string, data: EventData): void {
    if (name === ITEM_DONE && this.#isDelivered(data.head())) return;
    const value = data.parse();
    const event: WireItem = isPlainObject(value) ? value : {};
    const index = readNumber(event, "output_index") ?? 0;
    const delta = readString(event, "delta");
    const { turn } = this.#listener;
    if (name === REASONING_DELTA) this.#deliver({ type: "reasoning", turn, delta });
    else if (name === REFUSAL_DELTA) this.#deliverRefusal(delta);
    else if (name === ITEM_ADDED) this.#openItem(index, readRecord(event, "item"));
    else if (name === ITEM_DONE) this.#closeItem(index, readRecord(event, "item"));
    else this.#continueCall(name, index, event);
  }

  /** Delivers what the events have not delivered of a response that has finished. */
  deliverRest(response: WireItem): void {
    for (const [index, item] of readRecords(response, "output").entries()) {
      const delivered = this.#messages.get(index);
      const call = this.#calls.get(index);
      if (delivered !== undefined) this.#deliverText(index, joinTexts(item).slice(delivered));
      else if (call?.isLocal && call.delivered > 0) {
        this.#deliverArguments(call, readString(item, "arguments").slice(call.delivered));
      } else this.#closeItem(index, item);
    }
  }

  /** Whether a finished item is a message whose text was delivered. Then it has nothing new. */
  #isDelivered(head: string): boolean {
    const index = Number(MESSAGE_DONE.exec(head)?.[1] ?? -1);
    return this.#messages.has(index);
  }

  #deliver(part: ResponsePart): void {
    this.#listener.observer.onPart(part);
  }

  #deliverText(index: number, delta: string): void {
    this.#messages.set(index, (this.#messages.get(index) ?? 0) + delta.length);
    if (delta !== "") this.#deliver({ type: "text", turn: this.#listener.turn, delta });
  }

  /** A refusal is the text of a turn that has no other text. */
  #deliverRefusal(delta: string): void {
    if (this.#messages.size > 0) return;
    this.#deliver({ type: "text", turn: this.#listener.turn, delta });
  }

  #openItem(index: number, item: WireItem): void {
    const call = this.#toOpenCall(item);
    if (!call) return;
    this.#calls.set(index, call);
    if (call.isLocal) this.#deliverArguments(call, "");
    else this.#deliverStatus(call, readString(item, "status") || "in_progress");
  }

  /** Delivers what the server sent only with the finished item. */
  #closeItem(index: number, item: WireItem): void {
    if (item["type"] === "message" && !this.#messages.has(index)) {
      this.#deliverText(index, joinTexts(item));
    }
    if (!this.#calls.has(index)) this.#openItem(index, item);
    const call = this.#calls.get(index);
    if (!call) return;
    const all = readString(item, "arguments");
    if (!call.isLocal) this.#deliverStatus(call, readString(item, "status") || "completed");
    else if (call.delivered === 0 && all !== "") this.#deliverArguments(call, all);
  }

  #continueCall(name: string, index: number, event: WireItem): void {
    const [, type = "", part, status = ""] = CALL_EVENT.exec(name) ?? [];
    const call = this.#calls.get(index) ?? this.#openUnannounced(index, type, event);
    if (!call) return;
    const { delta } = event;
    if (part === undefined) this.#deliverStatus(call, status);
    else if (status === "delta" && typeof delta === "string") this.#deliverCallDelta(call, delta);
  }

  /** Tracks a call whose item was not added. A local call's name follows when its item is done. */
  #openUnannounced(index: number, type: string, event: WireItem): OpenCall | null {
    const call = this.#toOpenCall({ type, id: readString(event, "item_id") });
    if (!call || call.isLocal) return null;
    this.#calls.set(index, call);
    return call;
  }

  /** Returns `null` for an item that is not a call. */
  #toOpenCall(item: WireItem): OpenCall | null {
    const type = readString(item, "type");
    if (!type.endsWith("_call")) return null;
    const callId = getCallId(item);
    const isLocal = type === "function_call";
    this.#entries ??= this.#listener.getEntries();
    const name = isLocal ? readString(item, "name") : findCallKind(item, this.#entries);
    return { callId, name, isLocal, status: "", delivered: 0 };
  }

  #deliverStatus(call: OpenCall, status: string): void {
    if (call.isLocal || call.status === status) return;
    call.status = status;
    const { callId, name: kind } = call;
    this.#deliver({ type: "hostedCall", turn: this.#listener.turn, callId, kind, status });
  }

  #deliverCallDelta(call: OpenCall, delta: string): void {
    if (call.isLocal) {
      this.#deliverArguments(call, delta);
      return;
    }
    const { callId, name: kind, status } = call;
    this.#deliver({ type: "hostedCall", turn: this.#listener.turn, callId, kind, status, delta });
  }

  #deliverArguments(call: OpenCall, delta: string): void {
    call.delivered += delta.length;
    const { callId, name } = call;
    this.#deliver({ type: "toolCall", turn: this.#listener.turn, callId, name, delta });
  }
}

/** A call whose item has begun. */
interface OpenCall {
  readonly callId: string;
  /** The name of a local tool, or the kind of a hosted one. */
  readonly name: string;
  readonly isLocal: boolean;
  status: string;
  /** The number of characters delivered of its arguments. */
  delivered: number;
}

function joinTexts(message: WireItem): string {
  return readRecords(message, "content")
    .map((part) => readString(part, "text"))
    .join("");
}

const REASONING_DELTA = "response.reasoning_summary_text.delta";
const REFUSAL_DELTA = "response.refusal.delta";
const ITEM_ADDED = "response.output_item.added";
const ITEM_DONE = "response.output_item.done";
/** The beginning of an event with a finished message, in the order of fields that OpenAI uses. */
const MESSAGE_DONE = /"output_index":(\d+),"item":\{(?:"id":"[^"]*",)?"type":"message"/;
/** A call's status, as in `response.x_call.searching`, or a part, as in `response.x_call_code.delta`. */
const CALL_EVENT = /^response\.(\w+?_call)(?:_(\w+))?\.(\w+)$/;
