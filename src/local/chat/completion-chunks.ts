import { readRecords, readString } from "../../base/json.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ApiProblem } from "../api-problem.ts";
import { splitIntoChunks } from "../split-into-chunks.ts";
import type { TurnOutcome } from "../turn/turn.ts";
import {
  createCommonFields,
  createCompletionUsage,
  getFinishReason,
  type StartedCompletion,
  toToolCall,
} from "./completion-object.ts";

/** Creates the chunks of one streamed completion, in order. */
export class CompletionChunks {
  readonly #started: StartedCompletion;
  readonly #fields: WireItem;
  #calls = 0;

  constructor(started: StartedCompletion) {
    this.#started = started;
    this.#fields = {
      ...createCommonFields(started, "chat.completion.chunk"),
      ...(started.request.includesUsage ? { usage: null } : {}),
    };
  }

  /** Creates the first chunk, with the role. */
  *createStart(): Iterable<WireItem> {
    yield this.#createChunk({ role: "assistant" });
  }

  /** Creates the chunks of one output item. Reasoning has none. */
  *createItem(item: WireItem): Iterable<WireItem> {
    const parts = item["type"] === "message" ? readRecords(item, "content") : [];
    for (const part of parts) {
      const key = part["type"] === "refusal" ? "refusal" : "text";
      const field = key === "text" ? "content" : key;
      for (const text of splitIntoChunks(readString(part, key)))
        yield this.#createChunk({ [field]: text });
    }
    for (const call of toToolCall(item)) yield* this.#createCall(call);
  }

  /** Creates the last chunks: the finish reason, and the usage if the request asks for it. */
  *createEnd(outcome: TurnOutcome): Iterable<WireItem> {
    yield this.#createChunk({}, getFinishReason(this.#started, outcome));
    if (!this.#started.request.includesUsage) return;
    yield { ...this.#fields, choices: [], usage: createCompletionUsage(this.#started, outcome) };
  }

  /** Creates the chunks of a call: first its id and name, then its arguments. */
  *#createCall(call: WireItem): Iterable<WireItem> {
    const index = this.#calls++;
    const { type } = call;
    const [kind, key] = type === "custom" ? ["custom", "input"] : ["function", "arguments"];
    const called: WireItem = Object(call[kind]);
    const first = { index, ...call, [kind]: { ...called, [key]: "" } };
    yield this.#createChunk({ tool_calls: [first] });
    for (const part of splitIntoChunks(String(called[key])))
      yield this.#createChunk({ tool_calls: [{ index, [kind]: { [key]: part } }] });
  }

  #createChunk(delta: WireItem, finish_reason: string | null = null): WireItem {
    return { ...this.#fields, choices: [{ index: 0, delta, logprobs: null, finish_reason }] };
  }
}

/** Formats a chunk, or the error that ends a stream, as a server-sent event. */
export function formatChunk(chunk: WireItem | ApiProblem["body"]): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** The last event of a complete stream. */
export const END_OF_CHUNKS = "data: [DONE]\n\n";
