import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { HeaderLookup } from "../errors/retry-after.ts";
import { TransportClosedError } from "../errors/transport-errors.ts";
import type { HttpResponse } from "./transport.ts";

/** A response of Node's HTTP client. */
export class NodeResponse implements HttpResponse {
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.#message = message;
  }

  get status(): number {
    return this.#message.statusCode ?? 0;
  }

  get header(): HeaderLookup {
    const { rawHeaders } = this.#message;
    return (name) => findHeader(rawHeaders, name);
  }

  get hasArrived(): boolean {
    return this.#message.complete;
  }

  get chunks(): AsyncIterable<Uint8Array> {
    return iterateBody(this.#message);
  }

  forEachChunk(onChunk: OnChunk): Promise<void> {
    return readWithEvents(this.#message, onChunk);
  }

  cancel(): void {
    this.#message.destroy();
  }
}

/** Whether a body has data that is not read, so that the reader is slow, not the server. */
export function waitsForReader(body: Readable): boolean {
  const isHeld = body.isPaused() && body.listenerCount("readable") === 0; // an iterator pauses it, too
  return isHeld || body.readableLength > 0;
}

/** Converts Node's errors for a connection that the server has closed. They read as if the caller had aborted. */
export function explainReset(error: Error): Error {
  const isReset = "code" in error && error.code === "ECONNRESET";
  const isClosed = isReset && /^(?:aborted|socket hang up)$/.test(error.message);
  return isClosed ? new TransportClosedError() : error;
}

/** Returns the first value of a header. `headers` lists names and values in turn. */
function findHeader(headers: readonly string[], name: string): string | null {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === name) return headers[index + 1] ?? null;
  }
  return null;
}

type OnChunk = (chunk: Uint8Array) => Promise<void> | null;

async function* iterateBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw error instanceof Error ? explainReset(error) : error;
  }
}

/**
 * Reads a body with events, which cost less than an iterator's promises. An idle connection keeps its last response, with
 * its listeners, so these release the reader, which may have a large response, when the body ends.
 */
function readWithEvents(body: Readable, onChunk: OnChunk): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    let reader: OnChunk | null = onChunk;
    const fail = (error: unknown) => {
      reader = null;
      reject(error);
      body.destroy();
    };
    body.on("error", (error) => fail(explainReset(error)));
    body.on("end", () => {
      reader = null;
      resolve();
    });
    body.on("close", () => {
      reader = null;
      if (!body.readableEnded) reject(new TransportClosedError()); // it was canceled
    });
    body.on("data", (chunk: Uint8Array) => {
      try {
        const pending = reader?.(chunk) ?? null;
        if (pending === null) return;
        body.pause();
        pending.then(() => body.resume(), fail);
      } catch (error) {
        fail(error);
      }
    });
  });
}
