import type { WireItem } from "../../../openai/wire.ts";
import { type EventError, toEventError } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { createItemEvents } from "./items.ts";

/** One event of a stream. */
export type StreamEvent = WireItem & { readonly type: string; readonly sequence_number: number };

/** One step of a response, in order. */
export type ResponseStep =
  | { readonly begin: WireItem }
  | { readonly item: WireItem }
  | { readonly problem: EventError }
  | { readonly end: WireItem };

/** Creates the stream of a response, with OpenAI's events in OpenAI's order and numbered. */
export class EventSequence {
  readonly #catalog: ToolCatalog;
  #sequence = 0;
  #outputIndex = 0;
  #isOpen = false;

  constructor(catalog: ToolCatalog) {
    this.#catalog = catalog;
  }

  /** Creates the events of one step. */
  *createStep(step: ResponseStep): Generator<StreamEvent> {
    if ("begin" in step) yield* this.createStart(step.begin);
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

  /** Creates all events of an item that is already finished. */
  *createItem(item: WireItem): Generator<StreamEvent> {
    const events = createItemEvents(item, this.#catalog);
    yield* this.createItemStart(item, events);
    yield* this.createItemEnd(item, events);
  }

  /** Creates the events of a hosted call that is about to run. */
  *createItemStart(
    item: WireItem,
    { added, running } = createItemEvents(item, this.#catalog),
  ): Generator<StreamEvent> {
    if (this.#isOpen) throw new Error("The previous item is not finished.");
    this.#isOpen = true;
    const place = { output_index: this.#outputIndex };
    yield this.#number({ ...place, type: "response.output_item.added", item: added });
    for (const event of running) yield this.#number({ ...place, ...event });
  }

  /** Creates the remaining events of the call after it has run. */
  *createItemEnd(
    item: WireItem,
    { finished } = createItemEvents(item, this.#catalog),
  ): Generator<StreamEvent> {
    if (!this.#isOpen) throw new Error("No item is started.");
    this.#isOpen = false;
    const place = { output_index: this.#outputIndex++ };
    for (const event of finished) yield this.#number({ ...place, ...event });
    yield this.#number({ ...place, type: "response.output_item.done", item });
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

  #number(event: WireItem & { readonly type: string }): StreamEvent {
    return { ...event, sequence_number: this.#sequence++ };
  }
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
