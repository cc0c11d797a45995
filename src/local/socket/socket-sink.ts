import { readRecord } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { EventSink } from "../responses/events/event-sink.ts";
import type { StreamEvent } from "../responses/events/events.ts";
import type { SocketWriter } from "./socket-writer.ts";

/**
 * Sends the events of one response as messages of a connection. The error event that precedes the end of a failed
 * response over HTTP is omitted: clients take either event for the end of the response, and would take the other one
 * for the end of the next.
 */
export class SocketSink implements EventSink {
  readonly signal: AbortSignal;
  readonly #writer: SocketWriter;
  readonly #lane: { readonly stream_id?: string };
  readonly #ending = Promise.withResolvers<WireItem>();
  #sequence = 0;

  constructor(writer: SocketWriter, streamId: string | null) {
    this.signal = writer.signal;
    this.#writer = writer;
    this.#lane = streamId === null ? {} : { stream_id: streamId };
    this.#ending.promise.catch(() => {}); // the reader of `ended` handles it
  }

  /** Resolves with the response when its last event is sent. Rejects if it is broken off. */
  get ended(): Promise<WireItem> {
    return this.#ending.promise;
  }

  async write(events: Iterable<StreamEvent>): Promise<void> {
    for (const event of events)
      if (event.type !== "error") await this.#writer.send(this.#number(event));
  }

  end(events: readonly StreamEvent[]): void {
    for (const event of events) {
      if (event.type === "error") continue;
      this.#writer.sendNow(this.#number(event));
      this.#ending.resolve(readRecord(event, "response"));
    }
  }

  abort(error: unknown): void {
    this.#ending.reject(error);
  }

  /** Sends an event that does not belong to the response's own events, in the same sequence. */
  send(event: WireItem): void {
    this.#writer.reply(this.#number(event));
  }

  #number(event: WireItem): WireItem {
    return { ...event, sequence_number: this.#sequence++, ...this.#lane };
  }
}
