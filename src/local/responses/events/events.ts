import type { WireItem } from "../../../openai/wire.ts";
import { type EventError, toEventError } from "../../api-problem.ts";
import { TextChunks } from "../../split-into-chunks.ts";
import type { LocalToolEvent } from "../../tools/local-tool.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { createItemEvents } from "./items.ts";

/** One event of a stream. */
export type StreamEvent = WireItem & { readonly type: string; readonly sequence_number: number };

/** One step of a response, in order. */
export type ResponseStep =
  | { readonly begin: WireItem }
  | OpenStep
  | { readonly item: WireItem }
  | { readonly problem: EventError }
  | { readonly end: WireItem };

/** A step of an item that is not finished: a hosted call starts, or a message gets more text. */
export type OpenStep = { readonly start: WireItem } | { readonly text: MessageText };

/** Returns whether a step belongs to an item that is not finished. */
export function isOpenStep(step: ResponseStep): step is OpenStep {
  return "start" in step || "text" in step;
}

/** Text that the model adds to a message. */
export interface MessageText {
  /** The message, with an empty text. */
  readonly message: WireItem;
  readonly delta: string;
}

/** Creates the stream of a response, with OpenAI's events in OpenAI's order and numbered. */
export class EventSequence {
  readonly #catalog: ToolCatalog;
  #sequence = 0;
  #outputIndex = 0;
  /** How many events of the current item were created. 0 if no item has started. */
  #created = 0;
  #chunks = new TextChunks();

  constructor(catalog: ToolCatalog) {
    this.#catalog = catalog;
  }

  /** Creates the events of one step. */
  *createStep(step: ResponseStep): Generator<StreamEvent> {
    if ("begin" in step) yield* this.createStart(step.begin);
    else if ("start" in step) yield* this.createItemStart(step.start);
    else if ("text" in step) yield* this.createText(step.text);
    else if ("item" in step) yield* this.createItem(step.item);
    else if ("problem" in step) yield this.createProblem(step.problem);
    else yield this.createEnd(step.end);
  }

  /** Creates the events of a new response with the status `in_progress`, or `queued` in the background. */
  *createStart(response: WireItem): Generator<StreamEvent> {
    yield this.#number({ type: "response.created", response });
    const isQueued = response["status"] === "queued";
    if (isQueued) yield this.#number({ type: "response.queued", response });
    const started = isQueued ? { ...response, status: "in_progress" } : response;
    yield this.#number({ type: "response.in_progress", response: started });
  }

  /** Creates the events of a finished item, without those that `createItemStart` or `createText` has created. */
  *createItem(item: WireItem): Generator<StreamEvent> {
    let place = 0;
    for (const event of listItemEvents(item, this.#catalog))
      if (place++ >= this.#created) yield this.#add(event);
    this.#created = 0;
    this.#outputIndex++;
  }

  /** Creates the events of a hosted call that is about to run. */
  *createItemStart(item: WireItem): Generator<StreamEvent> {
    if (this.#created > 0) throw new Error("The previous item is not finished.");
    const { added, running } = createItemEvents(item, this.#catalog);
    yield this.#add({ type: ADDED, item: added });
    for (const event of running) yield this.#add(event);
  }

  /**
   * Creates the events of a message to which the model has added text. `message` has one empty text. The events are
   * those of the finished message, so that its stream can be repeated from it.
   */
  *createText({ message, delta }: MessageText): Generator<StreamEvent> {
    if (this.#created === 0) {
      this.#chunks = new TextChunks();
      const { added, running } = createItemEvents(message, this.#catalog);
      yield this.#add({ type: ADDED, item: added });
      for (const event of running) {
        if (event.type === "response.output_text.done") break;
        yield this.#add(event);
      }
    }
    const place = { item_id: message["id"], content_index: 0 };
    for (const chunk of this.#chunks.add(delta))
      yield this.#add({ type: TEXT_DELTA, delta: chunk, logprobs: [], ...place });
  }

  /** Creates an event that only shows that the connection is alive. */
  createKeepAlive(): StreamEvent {
    return this.#number({ type: "keepalive" });
  }

  /** Creates an error event. The end of the failed response comes next. */
  createProblem(problem: EventError): StreamEvent {
    return this.#number({ type: "error", error: toEventError(problem) });
  }

  /** Creates the final event. Its type depends on the response's status. A cancelled response has no type of its own. */
  createEnd(response: WireItem): StreamEvent {
    return this.#number({
      type: END_TYPES.get(response["status"]) ?? "response.completed",
      response,
    });
  }

  /** Creates an event of the current item. */
  #add(event: WireItem & { readonly type: string }): StreamEvent {
    this.#created++;
    return this.#number({ output_index: this.#outputIndex, ...event });
  }

  #number(event: WireItem & { readonly type: string }): StreamEvent {
    return { ...event, sequence_number: this.#sequence++ };
  }
}

const ADDED = "response.output_item.added";
const TEXT_DELTA = "response.output_text.delta";

/** Yields all events of a finished item. */
function* listItemEvents(item: WireItem, catalog: ToolCatalog): Generator<LocalToolEvent> {
  const { added, running, finished } = createItemEvents(item, catalog);
  yield { type: ADDED, item: added };
  yield* running;
  yield* finished;
  yield { type: "response.output_item.done", item };
}

const END_TYPES: ReadonlyMap<unknown, string> = new Map([
  ["incomplete", "response.incomplete"],
  ["failed", "response.failed"],
  ["cancelled", "response.failed"],
]);

/** Returns the complete stream of a response whose steps are known. */
export function createEvents(
  steps: Iterable<ResponseStep>,
  catalog: ToolCatalog,
): readonly StreamEvent[] {
  const sequence = new EventSequence(catalog);
  return [...steps].flatMap((step) => [...sequence.createStep(step)]);
}

/** Formats an event as a server-sent event. */
export function formatEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
