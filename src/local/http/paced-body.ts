import { raceAbort } from "../../base/clock.ts";

/** How many chunks wait for the client before the writer has to wait. */
const MAX_WAITING_CHUNKS = 8;

/** Shorter texts are joined to chunks of about this length. */
const MIN_CHUNK_LENGTH = 8 * 1024;

/**
 * The body of a streamed response. Its writer waits while the client does not read, so that a response that no
 * client reads does not fill the memory.
 */
export class PacedBody {
  /** The body to send. */
  readonly stream: ReadableStream<Uint8Array>;
  /** Aborts when the client disconnects, or when the request's own signal aborts. */
  readonly signal: AbortSignal;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #room: PromiseWithResolvers<void> | null = null;
  #failure: unknown = null;
  #isOpen = true;

  constructor(requestSignal: AbortSignal) {
    const disconnect = new AbortController();
    this.signal = AbortSignal.any([requestSignal, disconnect.signal]);
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#onRead(),
        cancel: () => {
          this.#isOpen = false;
          disconnect.abort(new Error("The client disconnected."));
        },
      },
      { highWaterMark: MAX_WAITING_CHUNKS }, // counting bytes would call a function for each chunk
    );
  }

  /** Writes events in order, and waits while the client does not read. Rejects if `signal` aborts meanwhile. */
  async write<Event>(events: Iterable<Event>, format: (event: Event) => string): Promise<void> {
    let chunk = "";
    for (const event of events) {
      chunk += format(event);
      if (chunk.length < MIN_CHUNK_LENGTH) continue; // each chunk of a stream costs time
      this.writeNow(chunk);
      chunk = "";
      if (!this.#hasRoom) await this.#waitForRoom();
    }
    if (chunk === "") return;
    this.writeNow(chunk);
    if (!this.#hasRoom) await this.#waitForRoom();
  }

  /** Writes a text without waiting, for the end of a response. After the end it is ignored. */
  writeNow(text: string): void {
    if (this.#isOpen) this.#controller?.enqueue(this.#encoder.encode(text));
  }

  /** Ends the body. */
  close(): void {
    if (this.#isOpen) this.#controller?.close();
    this.#isOpen = false;
  }

  /** Breaks the body off. */
  abort(error: unknown): void {
    if (this.#isOpen) this.#controller?.error(error);
    this.#isOpen = false;
  }

  /** Breaks the body off after the client has read everything: an earlier error would discard it. */
  abortWhenRead(error: unknown): void {
    this.#failure = error;
    this.#onRead();
  }

  get #hasRoom(): boolean {
    return Number(this.#controller?.desiredSize) > 0;
  }

  async #waitForRoom(): Promise<void> {
    this.#room ??= Promise.withResolvers();
    await raceAbort(this.#room.promise, this.signal);
  }

  #onRead(): void {
    if (this.#hasRoom) {
      this.#room?.resolve();
      this.#room = null;
    }
    const isRead = this.#controller?.desiredSize === MAX_WAITING_CHUNKS;
    if (isRead && this.#failure !== null) this.abort(this.#failure);
  }
}
