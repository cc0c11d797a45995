import type { Clock } from "../../base/clock.ts";
import { runTurn } from "../responses/run-turn.ts";
import type { TurnListener } from "../responses/turn-progress.ts";
import type { TurnOutcome, TurnServices } from "../turn/turn.ts";
import { UsageMeter } from "../turn/usage-meter.ts";
import { createChatModel } from "./chat-model.ts";
import { type ChatCheck, createChatCheck } from "./check/request.ts";
import { createCompletionObject, type StartedCompletion } from "./completion-object.ts";
import type { CompletionStore } from "./completion-store.ts";

/** Options of {@link ChatCompletions}. */
export interface ChatOptions {
  readonly turns: TurnServices;
  readonly clock: Clock;
  /** Receives the completions of requests with `store: true`. */
  readonly store: CompletionStore;
}

/** Creates chat completions: validates a request, runs its turn as one of the Responses API, and stores the result. */
export class ChatCompletions {
  /** The stored completions. */
  readonly store: CompletionStore;
  readonly #turns: TurnServices;
  /** The time source. */
  readonly clock: Clock;
  #check: ChatCheck | null = null;

  constructor({ turns, clock, store }: ChatOptions) {
    this.#turns = turns;
    this.clock = clock;
    this.store = store;
  }

  /** Validates a request. Throws the error that OpenAI would return, before anything runs. */
  start(body: unknown): StartedCompletion {
    this.#check ??= createChatCheck(this.#turns.catalog);
    const request = this.#check(body);
    const created = Math.floor(this.clock.now() / 1000);
    return { id: this.#turns.ids.next("chatcmpl-"), created, request, usage: new UsageMeter() };
  }

  /** Runs the turn. Throws if it fails: unlike a response, a completion has no failed status. */
  async finish(
    started: StartedCompletion,
    signal: AbortSignal,
    listener?: TurnListener,
  ): Promise<TurnOutcome> {
    const { request, usage } = started;
    const { model, items, tools, toolChoice, format, maxOutputTokens, parallelToolCalls } = request;
    const input = {
      model,
      instructions: null,
      items,
      tools,
      toolChoice,
      format,
      maxToolCalls: null,
      maxOutputTokens,
      parallelToolCalls,
      codeTimeoutMs: null,
      inputFiles: () => [], // only containers receive files
      signal,
      usage,
    };
    const services = { ...this.#turns, model: createChatModel(this.#turns.model, request.stop) };
    const outcome = await runTurn(input, services, listener);
    if (outcome.problem) throw outcome.problem;
    const { storedMessages } = request;
    if (storedMessages) this.store.add(createCompletionObject(started, outcome), storedMessages);
    return outcome;
  }
}
