import type { EvaluationStream } from "../../src/adapter/evaluation-stream.ts";
import type { NestedOptions } from "../../src/adapter/nested-adapter.ts";
import type { PromptResponse } from "../../src/adapter/prompt-response.ts";
import type { EvaluateOptions } from "../../src/adapter/provider-adapter.ts";
import { streamEvaluation } from "../../src/adapter/stream/stream-evaluation.ts";
import { type StreamFeed, streamFeed } from "../../src/adapter/turn-observer.ts";
import { raceAbort } from "../../src/base/clock.ts";
import { noUsage } from "../../src/base/usage.ts";
import { Prompt } from "../../src/prompt/prompt.ts";
import { MarkdownSection } from "../../src/prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../src/prompt/template.ts";
import { Session } from "../../src/session/session.ts";

/** A stream whose evaluation is the test itself. */
export interface ManualStream {
  readonly stream: EvaluationStream<string>;
  /** What the adapter receives. */
  readonly given: NestedOptions;
  readonly feed: StreamFeed;
  /** Delivers text of turn 1. */
  say(...deltas: readonly string[]): void;
  /** Ends the evaluation. */
  answer(output?: string): Promise<void>;
  fail(error: unknown): Promise<void>;
}

const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
const prompt: Prompt<string> = new Prompt(
  new PromptTemplate({ ns: "demo", key: "manual", sections: [task] }),
);

/** Starts a stream for which the test delivers parts and the outcome. */
export function startManualStream(options: EvaluateOptions = {}): ManualStream {
  const outcome = Promise.withResolvers<PromptResponse<string>>();
  let given: NestedOptions = {};
  const stream = streamEvaluation(prompt, options, (received) => {
    given = received;
    return raceAbort(outcome.promise, received.signal);
  });
  const feed = given[streamFeed];
  if (!feed) throw new Error("The options have no feed");
  return {
    stream,
    given,
    feed,
    say: (...deltas) => {
      for (const delta of deltas) feed.onPart({ type: "text", turn: 1, delta });
    },
    async answer(output = "Done.") {
      outcome.resolve(createResponse(output));
      await stream.response;
    },
    async fail(error) {
      outcome.reject(error);
      await stream.response.catch(() => {});
    },
  };
}

/** Creates a response whose text and output are `output`. */
export function createResponse(output: string): PromptResponse<string> {
  return {
    promptName: "demo:manual",
    text: output,
    output,
    hostedOutputs: new Map() as never,
    hostedCalls: [],
    citations: [],
    usage: noUsage,
    egress: { requests: [], verdict: "nothing stored" },
    finishReason: "stop",
    responseId: null,
    session: new Session(),
  };
}

/** Reads all values. */
export async function readAll<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const all: Value[] = [];
  for await (const value of values) all.push(value);
  return all;
}
