import type { TokenUsage } from "../../../base/usage.ts";
import type { AnswerReporter } from "./answer-reporter.ts";
import type { ArrangedTurn } from "./arrange-turns.ts";
import type { ChatFunctions } from "./chat-functions.ts";
import type { UpstreamAnswer } from "./upstream-answer.ts";

/** An API of model servers: chat completions or Responses. */
export interface UpstreamWire {
  /** The path below the base URL. */
  readonly path: string;
  /** Creates the body of a request. */
  createRequest(question: UpstreamInput): object;
  /** Reads the body of a successful response. Returns a string with the reason if it cannot be read. */
  readAnswer(body: Readonly<Record<string, unknown>>): UpstreamAnswer | string;
  /** Reads the `usage` of a response. Returns `null` if the server reports none. */
  readUsage(usage: unknown): TokenUsage | null;
  /** Creates a reader of a streamed response, which reports the answer while it arrives. */
  createStream(reporter: AnswerReporter): AnswerStream;
}

/** Reads a streamed response. */
export interface AnswerStream {
  /** Adds the data of an event. Resolves when the next one can be read. */
  add(data: Readonly<Record<string, unknown>>): Promise<void>;
  /** The body of the same response without a stream. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The input of an upstream model, independent of the API. */
export interface UpstreamInput {
  readonly model: string;
  /** The system text, which comes first. */
  readonly system: string | null;
  readonly turns: readonly ArrangedTurn[];
  readonly functions: ChatFunctions;
  /** The client's `text.format`. */
  readonly format: Readonly<Record<string, unknown>> | null;
  /** Whether the server streams its answer. */
  readonly stream: boolean;
}
