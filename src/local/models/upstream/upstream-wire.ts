import type { TokenUsage } from "../../../base/usage.ts";
import type { ArrangedTurn } from "./arrange-turns.ts";
import type { ChatFunctions } from "./chat-functions.ts";

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
}

/** An upstream model's answer, independent of the API. */
export interface UpstreamAnswer {
  readonly thought: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly UpstreamCall[];
}

/** An upstream model's function call. */
export interface UpstreamCall {
  readonly name: string;
  /** The arguments as the model wrote them. A string should be JSON. */
  readonly args: unknown;
}
