import { type Clock, systemClock } from "../../base/clock.ts";
import { checkKnownKeys, type KnownKeys } from "../../base/errors.ts";
import type { StreamResponseInit } from "../evaluation-stream.ts";
import { EventBody } from "./event-body.ts";
import { EventFormat } from "./event-format.ts";
import type { ReaderHost } from "./log-reader.ts";

const initKeys: KnownKeys<StreamResponseInit> = {
  headers: true,
  include: true,
  status: true,
  statusText: true,
};

/** Creates a response that sends the events of a stream as they arrive. */
export function createEventResponse(
  host: ReaderHost<unknown>,
  init: StreamResponseInit,
  clock: Clock = systemClock,
): Response {
  checkKnownKeys(init, "toResponse(init)", initKeys);
  const { include, headers, ...given } = init;
  host.log.checkReadable();
  const source = new EventBody(host, new EventFormat(include), clock);
  const body = new ReadableStream(source, { highWaterMark: 0 });
  return new Response(body, { ...given, headers: addDefaults(headers) });
}

function addDefaults(given: StreamResponseInit["headers"]): Headers {
  const headers = new Headers(given);
  for (const [name, value] of defaultHeaders) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return headers;
}

/** Keep browsers, proxies and nginx from storing, compressing or delaying the events. */
const defaultHeaders = [
  ["content-type", "text/event-stream"],
  ["cache-control", "no-cache, no-transform"],
  ["x-accel-buffering", "no"],
] as const;
