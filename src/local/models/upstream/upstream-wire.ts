import type { OfferedFunctions } from "./offered-functions.ts";
import type { SpokenTurn } from "./spoken-history.ts";

/** One of the two ways to ask a model server. */
export interface UpstreamWire {
  /** Below the base URL. */
  readonly path: string;
  /** The request's body. */
  ask(question: UpstreamQuestion): object;
  /** What a body with status 200 says; a text says why it cannot be read. */
  read(body: Readonly<Record<string, unknown>>): UpstreamAnswer | string;
}

/** What a model server is asked, whichever way. */
export interface UpstreamQuestion {
  readonly model: string;
  readonly instructions: string | null;
  readonly turns: readonly SpokenTurn[];
  readonly offered: OfferedFunctions;
  /** The client's `text.format`. */
  readonly format: Readonly<Record<string, unknown>> | null;
}

/** What a model answered, whichever way. */
export interface UpstreamAnswer {
  readonly thought: string;
  readonly text: string;
  readonly refusal: string;
  readonly calls: readonly UpstreamCall[];
}

export interface UpstreamCall {
  readonly name: string;
  /** As the model wrote them: a text should be JSON. */
  readonly args: unknown;
}
