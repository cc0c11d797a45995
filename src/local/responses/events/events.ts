import type { WireItem } from "../../../openai/wire.ts";
import type { ApiProblem } from "../../api-problem.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import { createItemEvents } from "./items.ts";

/** One event of a stream. */
export type StreamEvent = WireItem & { readonly type: string; readonly sequence_number: number };

/** What happens to a response, in order. */
export type ResponseStep =
  | { readonly begin: WireItem }
  | { readonly item: WireItem }
  | { readonly problem: ApiProblem }
  | { readonly end: WireItem };

/** Tells of a response as it is made, with OpenAI's events in OpenAI's order. */
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

  /** The response that was just made, `in_progress`. */
  begin(response: WireItem): void {
    this.#send({ type: "response.created", response });
    this.#send({ type: "response.in_progress", response });
  }

  /** An item that is finished already, from its first event to its last. */
  item(item: WireItem): void {
    this.start(item);
    this.finish(item);
  }

  /** A hosted call that is about to run: all that can be told before it has. */
  start(item: WireItem): void {
    if (this.#isOpen) throw new Error("The item before was not finished");
    this.#isOpen = true;
    const { added, running } = createItemEvents(item, this.#catalog);
    this.#send({ ...this.#place(), type: "response.output_item.added", item: added });
    for (const event of running) this.#send({ ...this.#place(), ...event });
  }

  /** The same call when it has run: the rest of its events. */
  finish(item: WireItem): void {
    if (!this.#isOpen) throw new Error("No item was started");
    const { finished } = createItemEvents(item, this.#catalog);
    for (const event of finished) this.#send({ ...this.#place(), ...event });
    this.#send({ ...this.#place(), type: "response.output_item.done", item });
    this.#outputIndex++;
    this.#isOpen = false;
  }

  /** Something that went wrong midway; `end` with the failed response comes next. */
  problem({ type, code, message, param }: ApiProblem): void {
    this.#send({ type: "error", error: { type, code, message, param } });
  }

  /** The response as it ended: its status says with which event. */
  end(response: WireItem): void {
    const { status } = response;
    const isKnown = status === "failed" || status === "incomplete";
    this.#send({ type: `response.${isKnown ? status : "completed"}`, response });
  }

  #place(): { readonly output_index: number } {
    return { output_index: this.#outputIndex };
  }

  #send(event: WireItem & { readonly type: string }): void {
    this.#write({ ...event, sequence_number: this.#sequence++ });
  }
}

/** The whole stream of a response whose steps are known. */
export function eventsOf(
  steps: Iterable<ResponseStep>,
  catalog: ToolCatalog,
): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const writer = new EventWriter(catalog, (event) => events.push(event));
  for (const step of steps) {
    if ("begin" in step) writer.begin(step.begin);
    else if ("item" in step) writer.item(step.item);
    else if ("problem" in step) writer.problem(step.problem);
    else writer.end(step.end);
  }
  return events;
}

/** An event as server-sent text. */
export function sse(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
