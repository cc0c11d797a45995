import type { Clock } from "../../base/clock.ts";
import { runTurn } from "../responses/run-turn.ts";
import type { TurnListener } from "../responses/turn-progress.ts";
import type { TurnOutcome, TurnServices } from "../turn/turn.ts";
import { UsageMeter } from "../turn/usage-meter.ts";
import { createChatModel } from "./chat-model.ts";
import { type ChatCheck, createChatCheck } from "./check/request.ts";
import type { StartedCompletion } from "./completion-object.ts";

/** Creates chat completions: validates a request and runs its turn as one of the Responses API. */
export class ChatCompletions {
  readonly #turns: TurnServices;
  readonly #clock: Clock;
  #check: ChatCheck | null = null;

  constructor(turns: TurnServices, clock: Clock) {
    this.#turns = turns;
    this.#clock = clock;
  }

  /** Validates a request. Throws the error that OpenAI would return, before anything runs. */
  start(body: unknown): StartedCompletion {
    this.#check ??= createChatCheck(this.#turns.catalog);
    const request = this.#check(body);
    const created = Math.floor(this.#clock.now() / 1000);
    return { id: this.#turns.ids.next("chatcmpl-"), created, request, usage: new UsageMeter() };
  }

  /** Runs the turn. Throws if it fails: unlike a response, a completion has no failed status. */
  async finish(
    { request, usage }: StartedCompletion,
    signal: AbortSignal,
    listener?: TurnListener,
  ): Promise<TurnOutcome> {
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
    return outcome;
  }
}
