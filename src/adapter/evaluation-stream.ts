import type { BusEvent } from "../session/event-map.ts";
import type { PromptResponse } from "./prompt-response.ts";
import type { ResponsePart } from "./turn-observer.ts";

/** A part of an evaluation, as `adapter.stream` delivers it. */
export type StreamEvent =
  | ResponsePart
  | {
      /** The turn's request is sent again: discard the parts of the turn that arrived before. */
      readonly type: "restart";
      /** Number of the turn, starting at 1. */
      readonly turn: number;
    }
  | {
      /** An event of the session's bus. */
      readonly type: "bus";
      /** The event, as subscribers of `"*"` receive it. */
      readonly event: BusEvent;
    };

/**
 * An evaluation whose parts can be read as they arrive. It runs whether or not anything is read.
 *
 * Every reader gets all events. A reader counts from its first `next()`. Events are kept until the
 * stream is closed, up to 8 MiB; after that, a new reader throws `StreamReadError`. A reader with 1 MiB waiting pauses
 * the connection to the provider. When the last reader leaves before the end, the evaluation is
 * cancelled.
 *
 * @example
 * ```ts
 * import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
 * import { OpenAIAdapter } from "weakincentives/openai";
 *
 * const task = new MarkdownSection({ key: "task", title: "Task", template: "Write a haiku." });
 * const prompt = new Prompt(new PromptTemplate({ ns: "poems", key: "haiku", sections: [task] }));
 * const stream = new OpenAIAdapter({ model: "gpt-5.2" }).stream(prompt);
 * for await (const delta of stream.text()) process.stdout.write(delta);
 * const { usage } = await stream.response;
 * ```
 */
export interface EvaluationStream<Output = unknown>
  extends AsyncIterable<StreamEvent>,
    AsyncDisposable {
  /**
   * The response, as `evaluate` returns it. Rejects with the error of the evaluation. It may be
   * ignored: a rejection is never unhandled.
   */
  readonly response: Promise<PromptResponse<Output>>;
  /**
   * Iterates over the text of every turn as it arrives. Throws the error of the evaluation. If a turn
   * is sent again, its text is repeated; iterate over the stream itself to see the `restart`.
   */
  text(): AsyncIterable<string>;
  /**
   * Iterates over the structured output as it grows. Values are not validated, except for the last
   * one, which equals the response's `output`. Without an output schema, the values are text.
   */
  partialOutput(): AsyncIterable<DeepPartial<Output>>;
  /**
   * Creates a response with server-sent events, for any web framework: one `data:` line of JSON per
   * event, then `event: response` with the text, output, citations, usage and finish reason, or
   * `event: error` with the class name of the error. A comment is sent every 15 seconds while there
   * is nothing else to send. Cancelling the body leaves the stream.
   */
  toResponse(init?: StreamResponseInit): Response;
  /**
   * Cancels the evaluation. `response` rejects with `reason`, which is an `AbortError` by default.
   */
  cancel(reason?: unknown): void;
  /** Cancels the evaluation if it still runs, and waits until it has ended. */
  close(): Promise<void>;
}

/** Options of {@link EvaluationStream.toResponse}. */
export interface StreamResponseInit extends ResponseInit {
  /**
   * The events to send. Bus events, reasoning and arguments contain prompts and tool results.
   * @default ["text", "hostedCall"], hosted calls without their code
   */
  readonly include?: readonly StreamEvent["type"][] | undefined;
}

/** A value of which any part may be missing, at any depth. */
export type DeepPartial<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepPartial<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]?: DeepPartial<Value[Key]> }
    : Value;
