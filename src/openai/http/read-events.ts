import type { WireItem } from "../wire.ts";
import { type EventHandler, SseReader } from "./sse-reader.ts";
import { forEachChunk, type HttpResponse } from "./transport.ts";

/** Receives a response that is sent as events. */
export interface StreamReceiver {
  /** Handles one event. Throws `SyntaxError` if its data is invalid. */
  readonly onEvent: EventHandler;
  /** Called after each chunk, with its size. Reading continues when the returned promise resolves. */
  onChunk(bytes: number): Promise<void> | null;
  /** Whether the sizes of chunks matter. */
  readonly isObserved: boolean;
  /** Whether the last event has arrived. */
  readonly isComplete: boolean;
  /** Returns the whole response. Throws if events are missing or invalid. */
  finish(): WireItem;
}

/** A body that may be a stream of events. */
export type EventBody = Pick<HttpResponse, "chunks" | "forEachChunk" | "hasArrived" | "cancel">;

/** Passes the events of a body to `receiver`. An error after the last event does not matter. */
export async function readEvents(
  body: EventBody,
  receiver: StreamReceiver,
  maxBytes: number,
): Promise<void> {
  const reader = new SseReader(receiver.onEvent, maxBytes);
  let closing: ReturnType<typeof setTimeout> | undefined;
  try {
    await forEachChunk(body, (chunk) => {
      reader.push(chunk);
      const pending = receiver.onChunk(chunk.length);
      const ends = pending === null && body.hasArrived === true;
      // The server should close the connection now. Real time: only a broken server does not.
      if (receiver.isComplete && !ends) closing ??= setTimeout(() => body.cancel(), END_MS);
      return pending;
    });
    reader.end();
  } catch (thrown) {
    if (!receiver.isComplete) throw thrown;
  } finally {
    clearTimeout(closing);
  }
}

/** How long the server may keep the connection open after the last event. */
const END_MS = 1_000;
