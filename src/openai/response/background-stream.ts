import { isPlainObject } from "../../base/freeze.ts";
import { readRecord, readString } from "../../base/json.ts";
import type { StreamReceiver } from "../http/read-events.ts";
import type { EventData } from "../http/sse-reader.ts";
import type { WireItem } from "../wire.ts";
import type { TurnListener } from "./response-parts.ts";
import { ResponseStream } from "./response-stream.ts";

/**
 * Receives the events of a response that the provider runs in the background. They may arrive over
 * several connections: an event that arrives again is ignored.
 */
export class BackgroundStream implements StreamReceiver {
  readonly #events: ResponseStream;
  readonly #onSubmitted: (responseId: string) => Promise<void>;
  readonly #accepted = Promise.withResolvers<void>();
  #id: string | null = null;
  #submitted: Promise<void> | null = null;
  #lastNumber: number | null = null;
  #received = 0;
  #isAbandoned = false;

  constructor(listener: TurnListener | null, onSubmitted: (responseId: string) => Promise<void>) {
    this.#events = new ResponseStream(listener);
    this.#onSubmitted = onSubmitted;
  }

  /** The provider's id of the response; `null` until it is known. */
  get id(): string | null {
    return this.#id;
  }

  /** Resolves when the id is known. */
  get accepted(): Promise<void> {
    return this.#accepted.promise;
  }

  /** The sequence number of the last event; `null` if no event had one. */
  get lastNumber(): number | null {
    return this.#lastNumber;
  }

  /** How many different events have arrived. */
  get received(): number {
    return this.#received;
  }

  get isObserved(): boolean {
    return this.#events.isObserved;
  }

  get isComplete(): boolean {
    return this.#events.isComplete;
  }

  /** Sets the id of a response that was submitted earlier. */
  setId(id: string): void {
    this.#id = id;
    this.#accepted.resolve();
  }

  /** Reports that the provider has accepted the response. Resolves when that is stored. */
  async submit(id: string): Promise<void> {
    if (this.#id === null) this.#report(id);
    await this.#submitted;
  }

  /** Ignores all further events, except for the id of the response. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  readonly onEvent = (name: string, data: EventData): void => {
    if (this.#id === null) this.#readId(data);
    if (this.#isAbandoned) return;
    const number = data.readNumber();
    if (number !== null && this.#lastNumber !== null && number <= this.#lastNumber) return;
    this.#received++;
    this.#events.onEvent(name, data);
    this.#lastNumber = number ?? this.#lastNumber;
  };

  /** The first chunk waits until the id is stored. */
  onChunk(bytes: number): Promise<void> | null {
    const backlog = this.#events.onChunk(bytes);
    return this.#submitted ? this.#waitFor(backlog) : backlog;
  }

  finish(): WireItem {
    return this.#events.finish();
  }

  /** Delivers the rest of a response that finished while its events could not be read. */
  deliverRest(response: WireItem): void {
    if (this.#received > 0) this.#events.deliverRest(response);
  }

  async #waitFor(backlog: Promise<void> | null): Promise<void> {
    await this.#submitted;
    this.#submitted = null;
    await backlog;
  }

  #readId(data: EventData): void {
    const event = data.parse();
    const id = isPlainObject(event) ? readString(readRecord(event, "response"), "id") : "";
    if (id !== "") this.#report(id);
  }

  #report(id: string): void {
    this.setId(id);
    if (this.#isAbandoned) return;
    this.#submitted = this.#onSubmitted(id);
    this.#submitted.catch(() => {}); // the callers that wait for it get the error
  }
}
