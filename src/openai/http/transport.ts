import { raceAbort } from "../../base/clock.ts";
import type { HeaderLookup } from "../errors/retry-after.ts";
import { TransportBodyError } from "../errors/transport-errors.ts";
import { CountedFile } from "./counted-file.ts";

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | Multipart | null;
  /** The idle timeout, for the response's headers and for each chunk of its body. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** A form's fields, in order. */
export type Multipart = readonly (readonly [name: string, value: string | File])[];

/** Whether a body is a form. */
export function isForm(body: HttpRequest["body"]): body is Multipart {
  return Array.isArray(body);
}

/** A response whose body has not been read. */
export interface HttpResponse {
  readonly status: number;
  readonly header: HeaderLookup;
  /** Can be read once. Stopping early closes the connection. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /**
   * Passes each chunk to `onChunk`, and waits for the promise that it returns before it reads more.
   * Use it instead of `chunks`, for many small chunks. @default iterates over `chunks`
   */
  forEachChunk?(onChunk: (chunk: Uint8Array) => Promise<void> | null): Promise<void>;
  /** Whether the whole body has arrived, read or not. @default unknown */
  readonly hasArrived?: boolean;
  /** Closes the connection. Does nothing after the end of `chunks`. */
  cancel(): void;
}

/**
 * Sends one request, without retries or redirects. Rejects with the original error, or with the
 * signal's reason if it aborts.
 */
export type Transport = (request: HttpRequest) => Promise<HttpResponse>;

/** Passes each chunk of a body to `onChunk`, in the fastest way that the transport has. */
export function forEachChunk(
  body: Pick<HttpResponse, "chunks" | "forEachChunk">,
  onChunk: (chunk: Uint8Array) => Promise<void> | null,
): Promise<void> {
  return body.forEachChunk?.(onChunk) ?? iterateChunks(body.chunks, onChunk);
}

async function iterateChunks(
  chunks: HttpResponse["chunks"],
  onChunk: (chunk: Uint8Array) => Promise<void> | null,
): Promise<void> {
  for await (const chunk of chunks) await onChunk(chunk);
}

/** Reads at most `most` bytes. */
export async function readBytes(
  chunks: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    parts.push(chunk);
    length += chunk.length;
    if (length > most) break; // also closes the connection
  }
  return joinChunks(parts, Math.min(length, most));
}

/** Reads a whole body. Throws if it is longer than `most` bytes. */
export async function readWhole(
  body: Pick<HttpResponse, "chunks" | "forEachChunk">,
  most: number,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  await forEachChunk(body, (chunk) => {
    parts.push(chunk);
    length += chunk.length;
    if (length > most) throw new TransportBodyError(`more than ${most} bytes`);
    return null;
  });
  return joinChunks(parts, length);
}

function joinChunks(parts: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = parts;
  if (only?.length === length) return only;
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part.subarray(0, length - at), at);
    at += Math.min(part.length, length - at);
  }
  return bytes;
}

/**
 * Whether the runtime is Node. Bun, Deno and Cloudflare Workers also report a Node version, but their
 * `fetch` has no short timeout.
 */
export function isNode(): boolean {
  const { process, navigator, Bun, Deno } = globalThis as {
    process?: { versions?: { node?: unknown }; getBuiltinModule?: unknown };
    navigator?: { userAgent?: unknown };
    Bun?: unknown;
    Deno?: unknown;
  };
  const isWorker = navigator?.userAgent === "Cloudflare-Workers";
  const isOther = isWorker || Bun !== undefined || Deno !== undefined;
  const hasModules = typeof process?.getBuiltinModule === "function"; // sandboxes in Node lack it
  return typeof process?.versions?.node === "string" && hasModules && !isOther;
}

/** Converts chunks to a lazy stream without a buffer. */
export function toStream(
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

/**
 * Iterates over a stream's chunks. Stopping early cancels it; so does `signal`, whose reason is
 * thrown.
 */
export async function* iterateStream(
  stream: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    while (true) {
      const { done, value } = await raceAbort(reader.read(), signal);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // the stream has ended or is abandoned
  }
}

/** An encoded form. Its files are read while it is sent. */
export interface EncodedForm {
  /** Includes the boundary. */
  readonly contentType: string;
  readonly length: number;
  /**
   * Generates the form's bytes. Calls `spare` before each piece whose memory is not shared and can
   * be freed when the piece has been sent.
   */
  pieces(spare?: (piece: Uint8Array) => void): AsyncGenerator<Uint8Array>;
}

/** Encodes a form exactly as browsers do, including how they escape names. */
export function encodeForm(form: Multipart): EncodedForm {
  const boundary = `----weakincentives${crypto.randomUUID().replaceAll("-", "")}`;
  const encoder = new TextEncoder();
  const parts: (Uint8Array | File)[] = [];
  for (const [name, value] of form) {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(normalizeLineBreaks(name))}"`;
    if (typeof value === "string") {
      parts.push(encoder.encode(`${head}\r\n\r\n${normalizeLineBreaks(value)}\r\n`));
      continue;
    }
    const type = value.type || "application/octet-stream";
    const file = `; filename="${escapeName(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`;
    parts.push(encoder.encode(head + file), value, encoder.encode("\r\n"));
  }
  parts.push(encoder.encode(`--${boundary}--\r\n`));
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: parts.reduce((length, part) => length + getSize(part), 0),
    pieces: (spare = () => {}) => generatePieces(parts, spare),
  };
}

async function* generatePieces(
  parts: readonly (Uint8Array | File)[],
  spare: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Uint8Array) {
      yield part;
      continue;
    }
    // A custom stream may reuse its memory.
    const isNative = part.stream === Blob.prototype.stream || part instanceof CountedFile;
    for await (const piece of iterateStream(part.stream())) {
      if (isNative) spare(piece);
      yield piece;
    }
  }
}

function getSize(part: Uint8Array | File): number {
  return part instanceof Uint8Array ? part.length : part.size;
}

/** Escapes the characters that would end the name, the header or the line. */
function escapeName(name: string): string {
  return name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
}

function normalizeLineBreaks(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}
