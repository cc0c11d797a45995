import type { PromptResponse } from "../prompt-response.ts";
import type { EventLog, LogCursor } from "./event-log.ts";

/** Converts the events of a log to the values of one reader. */
export interface ReaderSource<Value, Output> {
  /**
   * Takes events until they make a value. Returns `undefined` if the events so far do not make
   * another one.
   */
  read(cursor: LogCursor): Value | undefined;
  /** Returns a last value that the response adds, or `undefined`. */
  finish?(response: PromptResponse<Output>): Value | undefined;
}

/** The part of a stream that a reader needs. */
export interface ReaderHost<Output> {
  readonly log: EventLog<Output>;
  /** Called when the last reader leaves. */
  onAbandoned(): void;
}

/**
 * Iterates over a log. It is attached to the log from its first `next()` until its end. Calls of
 * `next()` may overlap.
 */
export class LogReader<Value, Output> implements AsyncIterableIterator<Value, undefined> {
  readonly #host: ReaderHost<Output>;
  readonly #source: ReaderSource<Value, Output>;
  #cursor: LogCursor | null = null;
  #isDone = false;
  readonly #requests: PromiseWithResolvers<IteratorResult<Value, undefined>>[] = [];
  readonly #wake = () => this.#answer();

  constructor(host: ReaderHost<Output>, source: ReaderSource<Value, Output>) {
    this.#host = host;
    this.#source = source;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Resolves with the next value. Rejects with the error of the evaluation after the last one. */
  next(): Promise<IteratorResult<Value, undefined>> {
    if (this.#requests.length === 0) {
      try {
        const result = this.#take();
        if (result) return Promise.resolve(result);
      } catch (error) {
        this.#finish();
        return Promise.reject(error);
      }
      this.#host.log.addWaiting(this.#wake);
    }
    const request = Promise.withResolvers<IteratorResult<Value, undefined>>();
    this.#requests.push(request);
    return request.promise;
  }

  /** Leaves the stream. The evaluation is cancelled if no reader is left and it still runs. */
  async return(): Promise<IteratorReturnResult<undefined>> {
    this.leave();
    return END;
  }

  /** Leaves the stream, and rejects with `error`. */
  async throw(error: unknown): Promise<never> {
    this.leave();
    throw error;
  }

  leave(): void {
    if (this.#isDone) return;
    const isLast = this.#finish();
    for (const { resolve } of this.#requests.splice(0)) resolve(END);
    if (isLast) this.#host.onAbandoned();
  }

  /** Returns the next result if there is one. Throws the error of the evaluation. */
  #take(): IteratorResult<Value, undefined> | undefined {
    if (this.#isDone) return END;
    const { log } = this.#host;
    this.#cursor ??= log.attach();
    const value = this.#source.read(this.#cursor);
    if (value !== undefined) return { value, done: false };
    if (!log.outcome) return undefined;
    this.#finish();
    if ("error" in log.outcome) throw log.outcome.error;
    const last = this.#source.finish?.(log.outcome.response);
    return last === undefined ? END : { value: last, done: false };
  }

  /** Answers the requests that wait, as far as there are values. */
  #answer(): void {
    for (let [request] = this.#requests; request; [request] = this.#requests) {
      try {
        const result = this.#take();
        if (!result) return;
        request.resolve(result);
      } catch (error) {
        this.#finish();
        request.reject(error);
      }
      this.#requests.shift();
    }
    this.#host.log.removeWaiting(this.#wake);
  }

  /** Detaches the reader. Returns whether it was the last one. */
  #finish(): boolean {
    this.#isDone = true;
    this.#host.log.removeWaiting(this.#wake);
    return this.#cursor?.detach() ?? false;
  }
}

const END: IteratorReturnResult<undefined> = Object.freeze({ value: undefined, done: true });
