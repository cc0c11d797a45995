import type { TokenUsage } from "../../base/usage.ts";
import type { ModelAction } from "../model-action.ts";
import type { ToolCatalog } from "../tools/tool-catalog.ts";

/** A model that decides, from the conversation so far, what to do next. */
export interface LocalModel {
  /** Returns the next actions. Called again with the results until it answers or calls the client's functions. */
  respond(request: ModelRequest, options?: ModelOptions): Promise<readonly ModelAction[]>;
  /**
   * Whether the model may answer with text although the request forces a call, as models on some servers do.
   * @default false: such an answer is an error
   */
  readonly mayIgnoreToolChoice?: boolean | undefined;
}

/** Options of one call to a {@link LocalModel}. */
export interface ModelOptions {
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Receives the tokens that this call used, if the model knows them. Several reports are added up. Without a
   * report the server estimates them, and the response has the header `x-wink-usage: estimated`.
   */
  readonly onUsage?: ((usage: Partial<TokenUsage>) => void) | undefined;
  /**
   * Receives the answer while the model writes it, if the client streams: at most one complete thought, then text in
   * pieces. `respond` then returns the same thought and the whole text first. Await the promise: it is pending while
   * the client does not read.
   */
  readonly onPart?: ((part: AnswerPart) => Promise<void>) | undefined;
}

/** A part of an answer that a model is writing. */
export type AnswerPart =
  | {
      /** A complete thought, as in the action `think`. */
      readonly think: string;
    }
  | {
      /** The next piece of the text of the action `say`. */
      readonly say: string;
    };

/** The input of one call to a {@link LocalModel}. */
export interface ModelRequest {
  /** The model name that the client sent. */
  readonly model: string;
  /** The request's `instructions`, or `null`. */
  readonly instructions: string | null;
  /** The whole conversation, including hosted tool calls and their outputs. */
  readonly items: readonly object[];
  /** The tools that the model may use, in OpenAI's format. */
  readonly tools: readonly object[];
  /** The request's `tool_choice`, in OpenAI's format. */
  readonly toolChoice: unknown;
  /** The format of the answer (`text.format`), or `null` for plain text. */
  readonly format: object | null;
  /**
   * The number of the step, from 0: how many times this server has called the model before, without steps that
   * could not be performed.
   */
  readonly turn: number;
  /** The text of the last user or system message. */
  readonly text: string;
  /**
   * The server's hosted tools. `echoModel` and `upstreamModel` need them: pass them on if you wrap one.
   * @default the built-in ones
   */
  readonly hostedTools?: ToolCatalog | undefined;
}
