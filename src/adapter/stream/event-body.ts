import type { Clock } from "../../base/clock.ts";
import { type EventFormat, formatError } from "./event-format.ts";
import { LogReader, type ReaderHost } from "./log-reader.ts";

/** Time without events after which a comment is sent, so that proxies keep the connection. */
const KEEP_ALIVE_MS = 15_000;

const KEEP_ALIVE = ": keep-alive\n\n";

const encoder = new TextEncoder();

/** The body of a response with server-sent events. It reads the log only as fast as it is read. */
export class EventBody implements UnderlyingDefaultSource<Uint8Array> {
  readonly #host: ReaderHost<unknown>;
  readonly #reader: LogReader<string, unknown>;
  readonly #clock: Clock;
  readonly #ended = new AbortController();
  #hasStarted = false;
  #isWaiting = false;
  #lastSentAt = 0;

  constructor(host: ReaderHost<unknown>, format: EventFormat, clock: Clock) {
    this.#host = host;
    this.#reader = new LogReader(host, format);
    this.#clock = clock;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      this.#lastSentAt = this.#clock.now();
      this.#keepAlive(controller).catch(() => {}); // the body has ended
    }
    this.#isWaiting = true;
    try {
      const { value, done } = await this.#reader.next();
      if (done) this.#end(controller);
      else this.#send(controller, value);
    } catch (error) {
      this.#send(controller, formatError(error));
      this.#end(controller);
    }
    this.#isWaiting = false;
  }

  cancel(): void {
    this.#ended.abort();
    this.#reader.leave();
    if (!this.#hasStarted && !this.#host.log.hasReaders) this.#host.onAbandoned();
  }

  #send(controller: ReadableStreamDefaultController<Uint8Array>, text: string): void {
    if (this.#ended.signal.aborted) return;
    controller.enqueue(encoder.encode(text));
    this.#lastSentAt = this.#clock.now();
  }

  #end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    controller.close();
  }

  async #keepAlive(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { signal } = this.#ended;
    for (;;) {
      const silence = this.#clock.now() - this.#lastSentAt;
      const isDue = silence >= KEEP_ALIVE_MS;
      // A body that is not being read needs no comment.
      if (isDue && this.#isWaiting && controller.desiredSize === 0)
        this.#send(controller, KEEP_ALIVE);
      const delay = isDue ? KEEP_ALIVE_MS : KEEP_ALIVE_MS - silence;
      await this.#clock.sleep(delay, signal, { background: true });
    }
  }
}
