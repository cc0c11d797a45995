import type { StreamEvent } from "../evaluation-stream.ts";
import type { PromptResponse } from "../prompt-response.ts";
import type { ResponsePart, StreamFeed } from "../turn-observer.ts";
import { estimateSize } from "./estimate-size.ts";
import { StreamReadError } from "./stream-read-error.ts";

/** Bytes of events that are kept for new readers. */
const MAX_KEPT = 8 * 1024 * 1024;

/** Bytes that wait for a reader before the connection to the provider pauses. */
const PAUSE_ABOVE = 1024 * 1024;

/** Bytes that may wait for a reader when the connection continues. */
const CONTINUE_AT = PAUSE_ABOVE / 2;

/** How an evaluation ended. */
export type Outcome<Output> =
  | { readonly response: PromptResponse<Output> }
  | { readonly error: unknown };

/** The position of one reader in an {@link EventLog}. */
export interface LogCursor {
  /** Returns the next event, or `undefined` if the reader has all events so far. */
  take(): StreamEvent | undefined;
  /** Removes the reader. Returns whether it was the last one. */
  detach(): boolean;
}

/**
 * The events of a stream, shared by its readers. Each reader has a cursor, so that an event is
 * stored once.
 */
export class EventLog<Output = unknown> implements StreamFeed {
  /** How the evaluation ended; `null` while it runs. */
  outcome: Outcome<Output> | null = null;
  #events: StreamEvent[] = [];
  /** Bytes of all events up to and including each one in `#events`. */
  #sizes: number[] = [];
  /** Number of events that were dropped before the first one in `#events`. */
  #dropped = 0;
  #totalBytes = 0;
  /** Why there can be no new readers; `null` if there can. */
  #unreadable: string | null = null;
  readonly #cursors = new Set<Cursor>();
  #pause: PromiseWithResolvers<void> | null = null;
  readonly #waiting = new Set<() => void>();

  /** Resolves when all readers have caught up; `null` if none is far behind. */
  get backlog(): Promise<void> | null {
    return this.#pause?.promise ?? null;
  }

  /** Whether a reader has started and not left. */
  get hasReaders(): boolean {
    return this.#cursors.size > 0;
  }

  /** Number of events so far. */
  get length(): number {
    return this.#dropped + this.#events.length;
  }

  /** Appends an event and wakes the readers that wait for one. */
  append(event: StreamEvent): void {
    if (this.outcome) return;
    this.#totalBytes += estimateSize(event);
    this.#events.push(event);
    this.#sizes.push(this.#totalBytes);
    if (this.#waiting.size > 0) this.#wakeReaders();
    if (this.#totalBytes > PAUSE_ABOVE) this.#pauseIfBehind();
    if (this.#totalBytes > MAX_KEPT) {
      this.#unreadable ??= "More than 8 MiB of events have passed, and they are no longer kept";
      this.#dropConsumed();
    }
  }

  onPart(part: ResponsePart): void {
    this.append(part);
  }

  onRestart(turn: number): void {
    this.append({ type: "restart", turn });
  }

  /** Ends the log. Readers receive the outcome after the events. */
  end(outcome: Outcome<Output>): void {
    this.outcome = outcome;
    this.#wakeReaders();
    this.#continue();
  }

  /** Drops all events. Readers that have not received all of them fail. */
  close(): void {
    this.#unreadable = "The stream is closed";
    this.#dropBefore(this.length);
    this.#cursors.clear();
    this.#continue();
  }

  /** Throws if a new reader could not receive all events. */
  checkReadable(): void {
    if (this.#unreadable === null) return;
    const remedy = "Start reading before the evaluation has sent 8 MiB, and before close().";
    throw new StreamReadError(`${this.#unreadable}. ${remedy}`);
  }

  /** Adds a reader at the first event. Throws `StreamReadError` if it is no longer kept. */
  attach(): LogCursor {
    this.checkReadable();
    const cursor: Cursor = {
      index: 0,
      bytes: 0,
      take: () => this.#take(cursor),
      detach: () => this.#detach(cursor),
    };
    this.#cursors.add(cursor);
    return cursor;
  }

  /** Calls `wake` after each event and at the end. */
  addWaiting(wake: () => void): void {
    this.#waiting.add(wake);
  }

  /** No longer calls `wake`. */
  removeWaiting(wake: () => void): void {
    this.#waiting.delete(wake);
  }

  #wakeReaders(): void {
    for (const wake of this.#waiting) wake();
  }

  #pauseIfBehind(): void {
    for (const { bytes } of this.#cursors) {
      if (this.#totalBytes - bytes > PAUSE_ABOVE) this.#pause ??= Promise.withResolvers();
    }
  }

  #take(cursor: Cursor): StreamEvent | undefined {
    const at = cursor.index - this.#dropped;
    if (at < 0) this.#refuseClosed();
    const event = this.#events[at];
    const bytes = this.#sizes[at];
    if (event === undefined || bytes === undefined) return undefined;
    cursor.index += 1;
    cursor.bytes = bytes;
    if (this.#pause) this.#continueIfRead();
    return event;
  }

  /** Throws to a reader whose events are gone, because the stream was closed. */
  #refuseClosed(): void {
    if (this.outcome && "error" in this.outcome) throw this.outcome.error;
    this.checkReadable();
  }

  #detach(cursor: Cursor): boolean {
    const wasAttached = this.#cursors.delete(cursor);
    if (this.#pause) this.#continueIfRead();
    return wasAttached && this.#cursors.size === 0;
  }

  #continueIfRead(): void {
    for (const { bytes } of this.#cursors) if (this.#totalBytes - bytes > CONTINUE_AT) return;
    this.#continue();
  }

  #continue(): void {
    this.#pause?.resolve();
    this.#pause = null;
  }

  /** Drops the events that every reader has received, in large steps. */
  #dropConsumed(): void {
    let first = this.length;
    for (const { index } of this.#cursors) first = Math.min(first, index);
    const isEnough = 2 * (first - this.#dropped) >= this.#events.length;
    if (isEnough) this.#dropBefore(first);
  }

  #dropBefore(index: number): void {
    this.#events = this.#events.slice(index - this.#dropped);
    this.#sizes = this.#sizes.slice(index - this.#dropped);
    this.#dropped = index;
  }
}

interface Cursor extends LogCursor {
  /** Index of the next event. */
  index: number;
  /** Bytes of all events before the next one. */
  bytes: number;
}
