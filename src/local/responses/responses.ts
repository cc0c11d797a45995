import type { Clock } from "../../base/clock.ts";
import type { WireItem } from "../../openai/wire.ts";
import { toEventError } from "../api-problem.ts";
import { listInputFiles } from "../input-files.ts";
import type { TurnOutcome, TurnServices } from "../turn/turn.ts";
import { UsageMeter } from "../turn/usage-meter.ts";
import { applyIncludes } from "./check/apply-includes.ts";
import { createRequestCheck, type RequestCheck } from "./check/request.ts";
import { selectAllowedTools } from "./check/tool-choice.ts";
import { rejectUnsupportedTools } from "./check/unsupported-tools.ts";
import { CompactingOutput } from "./conversation/compacting-output.ts";
import { createCompactionItem } from "./conversation/compaction.ts";
import type { Conversation } from "./conversation/conversation.ts";
import type { Conversations } from "./conversation/conversations.ts";
import { countInputTokens } from "./conversation/count-input-tokens.ts";
import { checkContainers } from "./resolve-container.ts";
import { createResponseObject } from "./response-object.ts";
import { runTurn } from "./run-turn.ts";
import type { ConnectionOptions, ResponseRunner, StartedResponse } from "./started-response.ts";
import type { TurnListener } from "./turn-progress.ts";
import { createUsage, toResponseUsage } from "./usage.ts";

/** Options of {@link Responses}. */
export interface ResponsesOptions {
  readonly turns: TurnServices;
  readonly conversations: Conversations;
  readonly clock: Clock;
}

/** Creates responses: validates a request, runs its turn and stores the result. */
export class Responses implements ResponseRunner {
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

  /** Validates a request. Throws the error that OpenAI would return, before anything runs. */
  start(
    body: unknown,
    codeTimeoutMs: number | null = null,
    { recent = null, generate = true }: ConnectionOptions = {},
  ): StartedResponse {
    const { catalog, tools } = this.#turns;
    const request = this.#checkRequest(body, { isInputRequired: generate });
    const conversation = this.#conversations.createConversation(request, recent);
    const { notable } = conversation;
    rejectUnsupportedTools(request.tools, notable, catalog);
    const { containers } = tools;
    checkContainers(request.tools, notable, { containers, catalog });
    const id = this.#turns.ids.next("resp_");
    const status = request.background ? "queued" : "in_progress";
    const parts = { id, createdAt: this.#nowSeconds(), output: [], echo: request.echo };
    return {
      request,
      codeTimeoutMs,
      conversation,
      usage: new UsageMeter(),
      generate: generate && !request.prewarm,
      recent,
      response: createResponseObject({ ...parts, status }, catalog),
    };
  }

  /** Runs the turn and returns the finished response. The turn waits for its listener. */
  finish(
    started: StartedResponse,
    signal: AbortSignal,
    listener: TurnListener = {},
  ): Promise<WireItem> {
    const isNamed = started.conversation.home !== null;
    return isNamed
      ? this.#finishLocked(started, signal, listener)
      : this.#finish(started, signal, listener);
  }

  /** Finishes a response of a conversation that other requests must not change meanwhile. */
  async #finishLocked(
    started: StartedResponse,
    signal: AbortSignal,
    listener: TurnListener,
  ): Promise<WireItem> {
    using _lock = this.#conversations.lock(started.conversation);
    return await this.#finish(started, signal, listener);
  }

  async #finish(
    started: StartedResponse,
    signal: AbortSignal,
    { onBegin, onItem, onProblem, onDrop, ...live }: TurnListener,
  ): Promise<WireItem> {
    const { request, conversation } = started;
    const { catalog } = this.#turns;
    const tokens = countInputTokens(request, conversation);
    const { compactThreshold } = request;
    const isOver = compactThreshold !== null && tokens > compactThreshold;
    const compacting = isOver
      ? new CompactingOutput(conversation, this.#turns, onItem ?? (() => {}))
      : null;
    const addItem = compacting ? (item: WireItem) => compacting.add(item) : onItem;
    const outcome = request.compactNow
      ? await this.#compactNow(conversation, { onBegin, onItem })
      : started.generate
        ? await this.#runTurn(started, signal, {
            ...(compacting ? {} : live), // a compaction may come before the item
            ...{ onBegin, onItem: addItem, onDrop },
          })
        : await skipTurn({ onBegin });
    const output = compacting ? await compacting.finish(outcome) : outcome.output;
    if (outcome.problem) await onProblem?.(outcome.problem);
    if (request.background) signal.throwIfAborted(); // cancelled at the last moment is cancelled
    const { reported } = started.usage;
    const response = createResponseObject(
      {
        id: String(started.response["id"]),
        createdAt: Number(started.response["created_at"]),
        completedAt: this.#nowSeconds(),
        status: outcome.status,
        output: output.map((item) => applyIncludes(item, request.include, catalog)),
        usage: reported ? toResponseUsage(reported) : createUsage(tokens, output),
        error: outcome.error,
        incompleteReason: outcome.incompleteReason,
        echo: request.echo,
        containerId: outcome.containerId,
      },
      catalog,
    );
    const { include, store: isStored } = request;
    if (isStored || conversation.home)
      this.#conversations.store({
        ...{ response, output, include, conversation, isStored },
        replay: createReplay(started, outcome),
      });
    if (!isStored && outcome.status !== "failed")
      started.recent?.add(
        String(response["id"]),
        this.#conversations.continueUnstored(conversation, output),
      );
    return response;
  }

  #runTurn(
    started: StartedResponse,
    signal: AbortSignal,
    listener: TurnListener,
  ): Promise<TurnOutcome> {
    const { request, conversation, codeTimeoutMs } = started;
    const { catalog } = this.#turns;
    const offered = [...request.tools, ...catalog.listAddedTools(conversation.notable)];
    const { tools } = selectAllowedTools(request.toolChoice, offered, catalog);
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
      codeTimeoutMs,
      inputFiles: () => listInputFiles(conversation.notable),
      signal,
      usage: started.usage,
    };
    return runTurn(input, this.#turns, listener);
  }

  /** Compacts the conversation instead of calling the model. */
  async #compactNow(
    { readable }: Conversation,
    { onBegin, onItem }: TurnListener,
  ): Promise<TurnOutcome> {
    await onBegin?.();
    const item = createCompactionItem(readable, this.#turns);
    await onItem?.(item);
    const output = [item];
    return { status: "completed", output, incompleteReason: null, error: null, containerId: null };
  }

  #nowSeconds(): number {
    return Math.floor(this.#clock.now() / 1000);
  }
}

/** Returns what the stream of a response shows and the finished response does not; `null` if nothing. */
function createReplay(
  { response }: StartedResponse,
  { containerId, problem }: TurnOutcome,
): WireItem | null {
  if (containerId === null && !problem) return null;
  return {
    ...(containerId === null ? {} : { tools: response["tools"] }),
    ...(problem ? { problem: toEventError(problem) } : {}),
  };
}

/** Creates the outcome of a request that the model does not answer. */
async function skipTurn({ onBegin }: TurnListener): Promise<TurnOutcome> {
  await onBegin?.();
  const nothing = { incompleteReason: null, error: null, containerId: null };
  return { status: "completed", output: [], ...nothing };
}
