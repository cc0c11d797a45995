import { type Clock, raceAbort } from "../../base/clock.ts";

/** How many chunks wait for the client before the writer has to wait. */
const MAX_WAITING_CHUNKS = 8;

/** Proxies close connections after 30 seconds of silence or more. */
const KEEP_ALIVE_MS = 15_000;

/** Shorter texts are joined to chunks of about this length. */
const MIN_CHUNK_LENGTH = 8 * 1024;

/** Why the sign of life ends. Without a reason, `abort` creates an error, which costs more. */
const ENDED = "The body has ended";

/** A comment, which clients ignore. */
export const KEEP_ALIVE_COMMENT = ": keep-alive\n\n";

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
  readonly #ended = new AbortController();
  #clock: Clock | null = null;
  #writtenAt = 0;

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
          this.#ended.abort(ENDED);
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
    if (!this.#isOpen) return;
    if (this.#clock) this.#writtenAt = this.#clock.now();
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  /**
   * Writes what `create` returns whenever nothing was written for 15 seconds, so that proxies do not close the
   * connection. Does so until the body ends.
   */
  keepAlive(clock: Clock, create: () => string): void {
    this.#clock = clock;
    this.#writtenAt = clock.now();
    const wait = async () => {
      for (;;) {
        const left = this.#writtenAt + KEEP_ALIVE_MS - clock.now();
        await clock.sleep(Math.max(left, 1), this.#ended.signal, { background: true });
        if (clock.now() < this.#writtenAt + KEEP_ALIVE_MS) continue;
        if (this.#hasRoom) this.writeNow(create());
        else this.#writtenAt = clock.now(); // the client is not reading
      }
    };
    wait().catch(() => {}); // the body has ended
  }

  /** Ends the body. */
  close(): void {
    if (this.#isOpen) this.#controller?.close();
    this.#ended.abort(ENDED);
  }

  /** Breaks the body off. */
  abort(error: unknown): void {
    if (this.#isOpen) this.#controller?.error(error);
    this.#ended.abort(ENDED);
  }

  /** Breaks the body off after the client has read everything: an earlier error would discard it. */
  abortWhenRead(error: unknown): void {
    this.#failure = error;
    this.#onRead();
  }

  get #isOpen(): boolean {
    return !this.#ended.signal.aborted;
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
