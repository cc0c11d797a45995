import type { WireItem } from "../../../openai/wire.ts";
import type { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { createItemEvents } from "./items.ts";

/** One event of a stream. */
export type StreamEvent = WireItem & { readonly type: string; readonly sequence_number: number };

/** One step of a response, in order. */
export type ResponseStep =
  | { readonly begin: WireItem }
  | { readonly item: WireItem }
  | { readonly problem: ApiProblem }
  | { readonly end: WireItem };

/** Writes the stream of a response, with OpenAI's events in OpenAI's order. */
export class EventWriter {
  readonly #catalog: ToolCatalog;
  readonly #write: (event: StreamEvent) => void;
  #sequence = 0;
  #outputIndex = 0;
  #isOpen = false;

  constructor(catalog: ToolCatalog, write: (event: StreamEvent) => void) {
    this.#catalog = catalog;
    this.#write = write;
  }

  /** Writes the events of a new response with the status `in_progress`. */
  writeStart(response: WireItem): void {
    this.#send({ type: "response.created", response });
    this.#send({ type: "response.in_progress", response });
  }

  /** Writes all events of an item that is already finished. */
  writeItem(item: WireItem): void {
    this.startItem(item);
    this.finishItem(item);
  }

  /** Writes the events of a hosted call that is about to run. */
  startItem(item: WireItem): void {
    if (this.#isOpen) throw new Error("The previous item is not finished.");
    this.#isOpen = true;
    const { added, running } = createItemEvents(item, this.#catalog);
    this.#send({ ...this.#getPosition(), type: "response.output_item.added", item: added });
    for (const event of running) this.#send({ ...this.#getPosition(), ...event });
  }

  /** Writes the remaining events of the call after it has run. */
  finishItem(item: WireItem): void {
    if (!this.#isOpen) throw new Error("No item is started.");
    const { finished } = createItemEvents(item, this.#catalog);
    for (const event of finished) this.#send({ ...this.#getPosition(), ...event });
    this.#send({ ...this.#getPosition(), type: "response.output_item.done", item });
    this.#outputIndex++;
    this.#isOpen = false;
  }

  /** Writes an error event. Call `end` with the failed response next. */
  writeProblem({ type, code, message, param }: ApiProblem): void {
    this.#send({ type: "error", error: { type, code, message, param } });
  }

  /** Writes the final event. Its type depends on the response's status. */
  writeEnd(response: WireItem): void {
    const { status } = response;
    const isKnown = status === "failed" || status === "incomplete";
    this.#send({ type: `response.${isKnown ? status : "completed"}`, response });
  }

  #getPosition(): { readonly output_index: number } {
    return { output_index: this.#outputIndex };
  }

  #send(event: WireItem & { readonly type: string }): void {
    this.#write({ ...event, sequence_number: this.#sequence++ });
  }
}

/** Returns the complete stream of a response whose steps are known. */
export function createEvents(
  steps: Iterable<ResponseStep>,
  catalog: ToolCatalog,
): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const writer = new EventWriter(catalog, (event) => events.push(event));
  for (const step of steps) {
    if ("begin" in step) writer.writeStart(step.begin);
    else if ("item" in step) writer.writeItem(step.item);
    else if ("problem" in step) writer.writeProblem(step.problem);
    else writer.writeEnd(step.end);
  }
  return events;
}

/** Formats an event as a server-sent event. */
export function formatEvent(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
