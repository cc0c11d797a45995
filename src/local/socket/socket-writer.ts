import type { WebSocket } from "ws";
import { raceAbort } from "../../base/clock.ts";

/** How many bytes wait for the client before the writer waits too. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** Writes events to a connection, without filling the memory if the client does not read. */
export class SocketWriter {
  /** Aborts when the connection has closed. */
  readonly signal: AbortSignal;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket, signal: AbortSignal) {
    this.#socket = socket;
    this.signal = signal;
    socket.on("ping", (data) => this.#reply((onSent) => socket.pong(data, false, onSent)));
  }

  /** Sends an event without waiting, for the end of a response. It is ignored if the connection has closed. */
  sendNow(event: object): void {
    this.#socket.send(JSON.stringify(event));
  }

  /** Sends an event, and waits while the client does not read. Rejects if the connection closes meanwhile. */
  async send(event: object): Promise<void> {
    if (!this.#isFull) return this.sendNow(event);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.send(JSON.stringify(event), () => resolve());
    await raceAbort(promise, this.signal);
  }

  /** Answers a message of the client. Reads no more messages while the client does not read the answers. */
  reply(event: object): void {
    this.#reply((onSent) => this.#socket.send(JSON.stringify(event), onSent));
  }

  #reply(send: (onSent?: () => void) => void): void {
    if (!this.#isFull) send();
    else {
      this.#socket.pause();
      send(() => this.#socket.resume());
    }
  }

  get #isFull(): boolean {
    return this.#socket.bufferedAmount > MAX_BUFFERED_BYTES;
  }
}
