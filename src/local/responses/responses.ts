import type { Clock } from "../../base/clock.ts";
import { recordsAt } from "../../base/reading.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { TurnOutcome, TurnServices } from "../turn/turn.ts";
import { withIncludes } from "./check/includes.ts";
import { type CheckedRequest, createRequestCheck, type RequestCheck } from "./check/request.ts";
import { allowedBy } from "./check/tool-choice.ts";
import { refuseUnsupportedTools } from "./check/unsupported-tools.ts";
import { compactionItem } from "./conversation/compaction.ts";
import type { Conversation } from "./conversation/conversation.ts";
import type { Conversations } from "./conversation/conversations.ts";
import { inputTokens } from "./conversation/input-tokens.ts";
import { checkContainers } from "./resolve-container.ts";
import { responseObject } from "./response-object.ts";
import { runTurn } from "./run-turn.ts";
import { usageOf } from "./usage.ts";

/** What responses are made with. */
export interface ResponsesOptions {
  readonly turns: TurnServices;
  readonly conversations: Conversations;
  readonly clock: Clock;
}

/** A request that was found good, and the response that has begun with it. */
export interface Begun {
  readonly request: CheckedRequest;
  readonly conversation: Conversation;
  /** `in_progress`. */
  readonly response: WireItem;
}

/** Makes responses: checks a request, runs its turn, keeps what came of it. */
export class Responses {
  readonly #turns: TurnServices;
  readonly #conversations: Conversations;
  readonly #clock: Clock;
  readonly #checkRequest: RequestCheck;

  constructor({ turns, conversations, clock }: ResponsesOptions) {
    this.#turns = turns;
    this.#conversations = conversations;
    this.#clock = clock;
    this.#checkRequest = createRequestCheck(turns.catalog);
  }

  /** Throws what OpenAI would answer, before anything has run. */
  begin(body: unknown): Begun {
    const { catalog, tools } = this.#turns;
    const request = this.#checkRequest(body);
    refuseUnsupportedTools(request, catalog);
    const conversation = this.#conversations.of(request);
    const { containers } = tools;
    checkContainers(request.tools, conversation.notable, { containers, catalog });
    const id = this.#turns.ids.next("resp_");
    const parts = { id, createdAt: this.#seconds(), output: [], echo: request.echo };
    return {
      request,
      conversation,
      response: responseObject({ ...parts, status: "in_progress" }, catalog),
    };
  }

  /** Runs the turn; tells each item when it is done. */
  async finish(
    begun: Begun,
    signal: AbortSignal,
    onItem: (item: WireItem) => void = () => {},
  ): Promise<WireItem> {
    const { request, conversation } = begun;
    const { catalog } = this.#turns;
    const shown = (item: WireItem) => withIncludes(item, request.include, catalog);
    const outcome = request.compactNow
      ? compactNow(conversation, this.#turns)
      : await this.#run(begun, signal, (item) => onItem(shown(item)));
    if (request.compactNow) for (const item of outcome.output) onItem(shown(item));
    const tokens = inputTokens(request, conversation);
    const output = this.#withCompaction(begun, outcome, tokens, (item) => onItem(shown(item)));
    const response = responseObject(
      {
        id: String(begun.response["id"]),
        createdAt: Number(begun.response["created_at"]),
        completedAt: this.#seconds(),
        status: outcome.status,
        output: output.map(shown),
        usage: usageOf(tokens, output),
        error: outcome.error,
        incompleteReason: outcome.incompleteReason,
        echo: request.echo,
        containerId: outcome.containerId,
      },
      catalog,
    );
    const { include } = request;
    if (request.store) this.#conversations.keep({ response, output, include, conversation });
    return response;
  }

  async #run(begun: Begun, signal: AbortSignal, onItem: (item: WireItem) => void) {
    const { request, conversation } = begun;
    const added = conversation.notable
      .filter(({ type }) => type === "additional_tools")
      .flatMap((item) => recordsAt(item, "tools"));
    const { tools } = allowedBy(
      request.toolChoice,
      [...request.tools, ...added],
      this.#turns.catalog,
    );
    const input = {
      model: request.model,
      instructions: request.instructions,
      items: conversation.readable,
      tools,
      toolChoice: request.toolChoice,
      format: request.textFormat,
      maxToolCalls: request.maxToolCalls,
      maxOutputTokens: request.maxOutputTokens,
      parallelToolCalls: request.parallelToolCalls,
      signal,
    };
    return await runTurn(input, this.#turns, onItem);
  }

  /** Where the conversation has grown beyond what the client allows, one more item stands for it. */
  #withCompaction(
    { request, conversation }: Begun,
    { output, status }: TurnOutcome,
    tokens: number,
    onItem: (item: WireItem) => void,
  ): readonly WireItem[] {
    const { compactThreshold } = request;
    const isOver = compactThreshold !== null && tokens > compactThreshold;
    const isDone = output.some(({ type }) => type === "compaction");
    // A call that the client is to answer must stay before its answer.
    const hasSpoken = output.at(-1)?.["type"] === "message";
    if (!isOver || isDone || !hasSpoken || status !== "completed") return output;
    const item = compactionItem([...conversation.readable, ...output], this.#turns);
    onItem(item);
    return [...output, item];
  }

  #seconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

function compactNow({ readable }: Conversation, turns: TurnServices): TurnOutcome {
  const output = [compactionItem(readable, turns)];
  return { status: "completed", output, incompleteReason: null, error: null, containerId: null };
}
