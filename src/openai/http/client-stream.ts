import { raceAbort, systemClock } from "../../base/clock.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readString } from "../../base/json.ts";
import { type RequestContext, readContentType } from "../errors/request-failure.ts";
import type { CallOptions, OpenAIClient } from "./client.ts";
import { startIdleTimeout } from "./idle-timeout.ts";
import { getRequestId, parseJsonResponse } from "./json-response.ts";
import type { StreamReceiver } from "./read-events.ts";
import { type EventData, type TextDelta, toSequenceNumber, toTextDelta } from "./sse-reader.ts";

/** Whether a client returns a stream of events if the request asks for one. */
export function canStream({ responses }: OpenAIClient): boolean {
  return typeof responses.stream === "function";
}

/** A streamed request of a client that is not the built-in one. */
export interface ClientRequest {
  /** The options with which the request was sent. */
  readonly options: CallOptions & { readonly timeout: number };
  readonly context: RequestContext;
}

/**
 * Waits for a streamed request of a client such as the official one, and passes the events to
 * `receiver`. A response that is not a stream of events is returned as it is.
 */
export async function receiveFromClient(
  call: PromiseLike<unknown>,
  { options, context }: ClientRequest,
  receiver: StreamReceiver,
): Promise<{ readonly value: unknown; readonly requestId: string | null }> {
  const { data, response, requestId } = await openStream(call);
  const header = (name: string) => response?.headers.get(name) ?? null;
  if (response && readContentType(header) !== "text/event-stream") {
    const text = await response.text();
    const known = { ...context, response: { status: response.status, requestId } };
    return { value: parseJsonResponse({ header, text }, known), requestId };
  }
  if (!isAsyncIterable(data)) return { value: data, requestId: getRequestId(data) };
  await receiveEvents(data, receiver, options);
  return { value: receiver.finish(), requestId };
}

interface OpenedStream {
  readonly data: unknown;
  /** `null` if the client does not reveal it. */
  readonly response: Response | null;
  readonly requestId: string | null;
}

/** The official client's promises have `withResponse`, which reveals the headers. */
async function openStream(call: PromiseLike<unknown>): Promise<OpenedStream> {
  if (!("withResponse" in call) || typeof call.withResponse !== "function") {
    const data = await call;
    return { data, response: null, requestId: getRequestId(data) };
  }
  const { data, response, request_id: id } = await call.withResponse();
  return {
    data,
    response: response instanceof Response ? response : null,
    requestId: typeof id === "string" ? id : null,
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** How long the server may keep the connection open after the last event. */
const END_MS = 1_000;

/** The idle timeout counts events: the client does not reveal the comments between them. */
async function receiveEvents(
  events: AsyncIterable<unknown>,
  receiver: StreamReceiver,
  { timeout, signal }: ClientRequest["options"],
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  const idleTimeout = startIdleTimeout(timeout, systemClock);
  const stopped = signal ? AbortSignal.any([signal, idleTimeout.signal]) : idleTimeout.signal;
  try {
    while (!receiver.isComplete) {
      idleTimeout.restart("UND_ERR_BODY_TIMEOUT");
      const { done, value } = await raceAbort(iterator.next(), stopped);
      idleTimeout.pause();
      if (done) return;
      receiver.onEvent(readEventName(value), new ParsedEvent(value));
      await receiver.onChunk(receiver.isObserved ? JSON.stringify(value).length : 0);
    }
    await raceAbort(drain(iterator), AbortSignal.timeout(END_MS));
  } catch (thrown) {
    if (receiver.isComplete) return;
    const event = readErrorEvent(thrown);
    if (!event) throw thrown;
    receiver.onEvent("error", new ParsedEvent(event));
  } finally {
    idleTimeout.stop();
    // Closes the connection, unless the stream has ended.
    if ("controller" in events && events.controller instanceof AbortController) {
      events.controller.abort();
    }
  }
}

async function drain(iterator: AsyncIterator<unknown>): Promise<void> {
  while (!(await iterator.next()).done);
}

function readEventName(event: unknown): string {
  return isPlainObject(event) ? readString(event, "type") : "";
}

/** The official client throws events that report an error, as an error without a status. */
function readErrorEvent(thrown: unknown): object | null {
  const isEvent = thrown instanceof Error && "status" in thrown && thrown.status === undefined;
  if (!isEvent || !("error" in thrown) || thrown.error === undefined) return null;
  const { error } = thrown;
  return isPlainObject(error) && error["type"] === "error" ? error : { error };
}

/** An event that the client has parsed. */
class ParsedEvent implements EventData {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  parse(): unknown {
    return this.#value;
  }

  keep(): () => unknown {
    return () => this.#value;
  }

  readDelta(): TextDelta {
    return toTextDelta(this.#value);
  }

  readNumber(): number | null {
    return toSequenceNumber(this.#value);
  }

  head(): string {
    return JSON.stringify(this.#value).slice(0, HEAD_LENGTH);
  }
}

const HEAD_LENGTH = 512;
