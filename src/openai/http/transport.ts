import { orAborted } from "../../base/clock.ts";
import type { HeaderLookup } from "../errors/retry-after.ts";
import { TooLong } from "../errors/transport-errors.ts";

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  /** By their names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Multipart | null;
  /** How long nothing may be heard, before the answer and within it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A form's fields in their order. */
export type Multipart = readonly (readonly [name: string, value: string | File])[];

/** Whether a body is a form. */
export function isForm(body: HttpRequest["body"]): body is Multipart {
  return Array.isArray(body);
}

/** An answer whose body is still to be read. */
export interface HttpAnswer {
  readonly status: number;
  readonly header: HeaderLookup;
  /** Read once; who stops half way ends the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Ends the connection, whether `chunks` are being read or not; after their end it does nothing. */
  cancel(): void;
}

/**
 * Sends one request: no retries, no redirects. Rejects with whatever went wrong, and with the
 * signal's own reason if that aborts.
 */
export type Transport = (request: HttpRequest) => Promise<HttpAnswer>;

/** As many bytes as may be, and whether there were no more. */
export async function readBytes(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): Promise<{ readonly bytes: Uint8Array; readonly isWhole: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length > most) break; // which ends the connection as well
  }
  const [only] = parts;
  if (only && parts.length === 1 && length <= most) return { bytes: only, isWhole: true };
  return { bytes: joined(parts, Math.min(length, most)), isWhole: length <= most };
}

/** All of a body, if it is not longer than it may be. */
export async function readWhole(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Uint8Array> {
  const { bytes, isWhole } = await readBytes(chunks, most);
  if (!isWhole) throw new TooLong(`more than ${most} bytes`);
  return bytes;
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part.subarray(0, length - at), at);
    at += Math.min(part.length, length - at);
  }
  return bytes;
}

/** Whether this is Node itself: others say so as well, and have a `fetch` that waits long enough. */
export function isNode(): boolean {
  const { process, Bun, Deno } = globalThis as {
    process?: { versions?: { node?: unknown } };
    Bun?: unknown;
    Deno?: unknown;
  };
  const isOther = Bun !== undefined || Deno !== undefined;
  return typeof process?.versions?.node === "string" && !isOther;
}

/** Chunks as a stream that asks for one when one is wanted, and keeps none. */
export function streamOf(
  chunks: AsyncIterator<Uint8Array>,
  cancel: () => void,
): ReadableStream<Uint8Array> {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel,
  };
  return new ReadableStream(source, { highWaterMark: 0 });
}

/** A stream's chunks. Who stops half way cancels it; so does `signal`, whose reason is thrown. */
export async function* chunksIn(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    while (true) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // it ended, failed or is not wanted: nobody is left to tell
  }
}
