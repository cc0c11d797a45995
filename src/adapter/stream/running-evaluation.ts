import type { OutputContract } from "../../prompt/output-contract.ts";
import type {
  DeepPartial,
  EvaluationStream,
  StreamEvent,
  StreamResponseInit,
} from "../evaluation-stream.ts";
import type { PromptResponse } from "../prompt-response.ts";
import { createEventResponse } from "./create-event-response.ts";
import type { EventLog, LogCursor } from "./event-log.ts";
import { LogReader, type ReaderHost, type ReaderSource } from "./log-reader.ts";
import { PartialOutput } from "./partial-output.ts";

/** An evaluation that has started. */
export interface StartedEvaluation<Output> {
  readonly log: EventLog<Output>;
  /** Cancels the evaluation. */
  readonly stop: AbortController;
  readonly response: Promise<PromptResponse<Output>>;
  /** The declared output; `null` if it is text. */
  readonly contract: OutputContract | null;
}

/** The stream of an evaluation that has started. */
export class RunningEvaluation<Output> implements EvaluationStream<Output> {
  readonly response: Promise<PromptResponse<Output>>;
  readonly #stop: AbortController;
  readonly #contract: OutputContract | null;
  readonly #host: ReaderHost<Output>;

  constructor({ log, stop, response, contract }: StartedEvaluation<Output>) {
    this.response = response;
    this.#stop = stop;
    this.#contract = contract;
    this.#host = { log, onAbandoned: () => this.#onAbandoned() };
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<StreamEvent, undefined> {
    return new LogReader(this.#host, allEvents);
  }

  text(): AsyncIterableIterator<string, undefined> {
    return new LogReader(this.#host, textOnly);
  }

  partialOutput(): AsyncIterableIterator<DeepPartial<Output>, undefined> {
    return new LogReader(this.#host, new PartialOutput<Output>(this.#contract));
  }

  toResponse(init: StreamResponseInit = {}): Response {
    return createEventResponse(this.#host, init);
  }

  cancel(reason?: unknown): void {
    if (!this.#host.log.outcome) this.#stop.abort(reason);
  }

  async close(): Promise<void> {
    this.cancel();
    await this.response.catch(() => {}); // the caller of `close` is not interested in it
    this.#host.log.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #onAbandoned(): void {
    const message = "The last reader left the stream before the evaluation ended";
    this.cancel(new DOMException(message, "AbortError"));
  }
}

const allEvents: ReaderSource<StreamEvent, unknown> = { read: (cursor) => cursor.take() };

const textOnly: ReaderSource<string, unknown> = { read: takeText };

function takeText(cursor: LogCursor): string | undefined {
  for (let event = cursor.take(); event; event = cursor.take()) {
    if (event.type === "text") return event.delta;
  }
  return undefined;
}
