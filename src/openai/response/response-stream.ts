import type { TurnObserver } from "../../adapter/turn-observer.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readRecord } from "../../base/json.ts";
import { TransportEndError } from "../errors/transport-errors.ts";
import type { StreamReceiver } from "../http/read-events.ts";
import type { EventData } from "../http/sse-reader.ts";
import type { WireItem } from "../wire.ts";
import { ResponseParts, TEXT_DELTA, type TurnListener } from "./response-parts.ts";

/**
 * Receives the events of one response. Only its last event is parsed, unless an observer wants the
 * parts of the response.
 */
export class ResponseStream implements StreamReceiver {
  readonly #observer: TurnObserver | null;
  readonly #parts: ResponseParts | null;
  #lastName = "";
  #final: unknown = null;
  #isComplete = false;
  /** The error of an `error` event. */
  #error: WireItem | null = null;
  /** Parses the finished items, in order. Needed only if the last event has none. */
  readonly #items: (() => unknown)[] = [];

  constructor(listener: TurnListener | null) {
    this.#observer = listener?.observer ?? null;
    this.#parts = listener?.observer.wantsParts ? new ResponseParts(listener) : null;
  }

  get isObserved(): boolean {
    return this.#observer !== null;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  readonly onEvent = (name: string, data: EventData): void => {
    if (this.#isComplete) return;
    this.#lastName = name;
    if (name === TEXT_DELTA) {
      this.#parts?.onText(data); // most events, so first
      return;
    }
    if (FINAL_EVENTS.has(name)) {
      this.#final = data.parse();
      this.#isComplete = true;
      return;
    }
    if (name === "error") this.#error = toError(data.parse());
    if (name === ITEM_DONE) this.#items.push(data.keep());
    if (!this.#observer) return;
    if (this.#parts?.wants(name)) this.#parts.onEvent(name, data);
    if (isStatusEvent(name, data)) this.#observer.onStatus(name);
  };

  onChunk(bytes: number): Promise<void> | null {
    this.#observer?.onReceived(bytes, this.#lastName);
    return this.#observer?.backlog ?? null;
  }

  finish(): WireItem {
    const error = this.#error;
    if (!this.#isComplete) {
      if (!error) throw new TransportEndError();
      return { status: "failed", error, output: [] };
    }
    const response = isPlainObject(this.#final) ? this.#final["response"] : null;
    if (!isPlainObject(response)) throw new SyntaxError("the last event has no response");
    const hasFailed = response["status"] === "failed";
    if (!hasFailed && !hasNoItems(response)) return response;
    return {
      ...response,
      // The event is more precise than the response, whose code may be a general one.
      ...(hasFailed && error && "message" in error && { error }),
      ...(hasNoItems(response) && this.#items.length > 0 && { output: this.#readItems() }),
    };
  }

  /** Delivers the rest of a response that finished while its events could not be read. */
  deliverRest(response: WireItem): void {
    this.#parts?.deliverRest(response);
  }

  #readItems(): readonly WireItem[] {
    return this.#items.map((parse) => {
      const event = parse();
      return isPlainObject(event) ? readRecord(event, "item") : {};
    });
  }
}

const FINAL_EVENTS: ReadonlySet<string> = new Set([
  "response.completed",
  "response.incomplete",
  "response.failed",
  "response.cancelled",
]);
const ITEM_ADDED = "response.output_item.added";
const ITEM_DONE = "response.output_item.done";

/** The statuses that an item has when it is added and when it is done. */
const ITEM_STATUS = /\.(?:in_progress|completed|failed|incomplete)$/;
const HOSTED_ITEM = /"type"\s*:\s*"(?!function_call")\w+_call"/;

/**
 * Whether a hosted call changed its status. An item that is added or done repeats a status that some
 * calls also report with a separate event, so those events do not count.
 */
function isStatusEvent(name: string, data: EventData): boolean {
  if (name === ITEM_ADDED || name === ITEM_DONE) return HOSTED_ITEM.test(data.head());
  return name.includes("_call.") && !ITEM_STATUS.test(name);
}

function hasNoItems({ output }: WireItem): boolean {
  return !Array.isArray(output) || output.length === 0;
}

/** Reads the error of an event: `{ error: { … } }`, or the event itself. */
function toError(value: unknown): WireItem {
  const event: WireItem = isPlainObject(value) ? value : {};
  const inner = readRecord(event, "error");
  if (typeof event["error"] === "string") return { message: event["error"] };
  if (Object.keys(inner).length > 0) return inner;
  const { type: _type, sequence_number: _number, ...flat } = event;
  return flat;
}
