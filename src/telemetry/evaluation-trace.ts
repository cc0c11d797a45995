import type { ContainerReplaced } from "../adapter/container-replaced.ts";
import type { ContextCompacted } from "../adapter/context-compacted.ts";
import type {
  EvaluationStarted,
  TurnResubmitted,
  TurnSubmitted,
} from "../adapter/durable-events.ts";
import type {
  HistoryRepaired,
  PromptExecuted,
  PromptFailed,
  PromptRendered,
  ToolInvoked,
  TurnCompleted,
} from "../adapter/events.ts";
import { systemClock } from "../base/clock.ts";
import { getErrorMessage } from "../base/errors.ts";
import { isPlainObject } from "../base/freeze.ts";
import { addUsage, noUsage } from "../base/usage.ts";
import type { ObservedCall, ObservedEvaluation, ObservedTurn } from "../session/observed-work.ts";
import { EvaluationContent } from "./evaluation-content.ts";
import type { Attributes, Context, OpenTelemetryApi, Span, Tracer } from "./load-open-telemetry.ts";
import type { OperationMetrics } from "./operation-metrics.ts";
import {
  toErrorAttributes,
  toFailedOutcome,
  toFinishReason,
  toProviderName,
  toResponseAttributes,
  toToolType,
  toUsageAttributes,
} from "./outcome-attributes.ts";

/** The events that change spans. */
export const TRACED_EVENTS = [
  "PromptRendered",
  "EvaluationStarted",
  "TurnSubmitted",
  "TurnResubmitted",
  "TurnCompleted",
  "ToolInvoked",
  "ContextCompacted",
  "ContainerReplaced",
  "HistoryRepaired",
  "PromptExecuted",
  "PromptFailed",
] as const;

/** An event that changes spans. */
export type TracedEvent =
  | PromptRendered
  | EvaluationStarted
  | TurnSubmitted
  | TurnResubmitted
  | TurnCompleted
  | ToolInvoked
  | ContextCompacted
  | ContainerReplaced
  | HistoryRepaired
  | PromptExecuted
  | PromptFailed;

/** Settings that all traces share. */
export interface TraceSettings {
  readonly api: OpenTelemetryApi;
  readonly tracer: Tracer;
  readonly metrics: OperationMetrics;
  /** Number of characters of content in an attribute; `null` if spans have no content. */
  readonly maxContentLength: number | null;
}

/** How an evaluation ended. `unfinished` means that it still runs, but is no longer observed. */
export type TraceEnd =
  | { readonly outcome: "completed" }
  | { readonly outcome: "failed"; readonly error: unknown }
  | { readonly outcome: "unfinished" };

/** The span of one request. */
export interface TurnSpan {
  readonly span: Span;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** As {@link readTime} returns it. */
  readonly startTime: number;
}

/** The spans and metrics of one evaluation. */
export class EvaluationTrace {
  readonly sessionId: string;
  /** The evaluation's span. */
  readonly span: Span;
  /** The context of the spans below. */
  readonly #context: Context;
  readonly #settings: TraceSettings;
  readonly #content: EvaluationContent | null;
  readonly #startTime = readTime();
  /** The attributes of every metric, without the operation. */
  readonly #model: Attributes;
  #turn: TurnSpan | null = null;
  /** The last request that was answered. Hosted calls ran in it. */
  #lastTurn: TurnSpan | null = null;
  readonly #calls = new Set<CallSpan>();
  #usage = noUsage;
  /** Tokens of compactions since the last turn. The next turn's usage contains them. */
  #compactionUsage = noUsage;
  #turns = 0;
  #isResumed = false;
  #isEnded = false;

  constructor(work: ObservedEvaluation, settings: TraceSettings, parent: Context) {
    const { sessionId, promptName, adapter, model } = work;
    const { api, tracer, maxContentLength } = settings;
    this.sessionId = sessionId;
    this.#settings = settings;
    this.#content = maxContentLength === null ? null : new EvaluationContent(maxContentLength);
    this.#model = {
      "gen_ai.provider.name": toProviderName(adapter),
      ...(model && { "gen_ai.request.model": model }),
    };
    const attributes = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": promptName,
      "gen_ai.conversation.id": sessionId,
      ...this.#model,
    };
    const about = { kind: api.SpanKind.INTERNAL, attributes };
    this.span = tracer.startSpan(`invoke_agent ${promptName}`, about, parent);
    this.#context = api.trace.setSpan(parent, this.span);
  }

  /** Starts the span of a request. `TurnCompleted` ends it. */
  startTurn({ wantsJson }: ObservedTurn): TurnSpan {
    const startTime = readTime();
    const startedAt = systemClock.now();
    const attributes = {
      "gen_ai.operation.name": "chat",
      "gen_ai.conversation.id": this.sessionId,
      ...this.#model,
      ...(wantsJson && { "gen_ai.output.type": "json" }),
      ...this.#content?.takeInput(),
    };
    const model = this.#model["gen_ai.request.model"];
    const name = model ? `chat ${model}` : "chat";
    const { api, tracer } = this.#settings;
    const about = { kind: api.SpanKind.CLIENT, startTime: startedAt, attributes };
    const span = tracer.startSpan(name, about, this.#context);
    this.#turn = { span, startedAt, startTime };
    return this.#turn;
  }

  /** Ends the span of a request that failed, after all retries. */
  failTurn(turn: TurnSpan, error: unknown): void {
    if (this.#turn !== turn) return; // the evaluation is no longer observed
    const attributes = toErrorAttributes(error);
    this.#markFailed(turn.span, attributes, error);
    this.#endTurn(turn, { "error.type": attributes["error.type"] });
  }

  /** Starts the span of a call. `ToolInvoked` ends it. */
  startCall({ name, callId, hostedKind }: Omit<ObservedCall, "sessionId" | "type">): CallSpan {
    const turn = hostedKind === null ? null : this.#lastTurn;
    const attributes = {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.call.id": callId,
      "gen_ai.tool.type": toToolType(hostedKind),
      ...(hostedKind !== null && { "wink.tool.hosted_kind": hostedKind }),
    };
    const { api, tracer } = this.#settings;
    const about = {
      kind: api.SpanKind.INTERNAL,
      attributes,
      ...(turn && { startTime: turn.startedAt }), // providers do not report when a call started
    };
    const parent = turn ? api.trace.setSpan(this.#context, turn.span) : this.#context;
    const span = tracer.startSpan(`execute_tool ${name}`, about, parent);
    const call = new CallSpan(span, callId);
    this.#calls.add(call);
    return call;
  }

  record(event: TracedEvent): void {
    switch (event.type) {
      case "PromptRendered":
        if (this.#content) this.span.setAttributes(this.#content.onRendered(event));
        break;
      case "EvaluationStarted":
        this.#isResumed = event.isResumed;
        this.span.setAttribute("wink.evaluation.resumed", event.isResumed);
        break;
      case "TurnCompleted":
        this.#completeTurn(event);
        break;
      case "ToolInvoked":
        this.#completeCall(event);
        break;
      case "PromptExecuted":
        this.#onExecuted(event);
        break;
      case "PromptFailed":
        this.#setTotals(event);
        break;
      default:
        this.#addEvent(event);
    }
  }

  /** Ends all spans of the evaluation. Repeating it does nothing. */
  end(ending: TraceEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const isFailed = ending.outcome === "failed";
    const outcome = isFailed ? toFailedOutcome(ending.error) : ending.outcome;
    const isError = outcome === "failed" || outcome === "cancelled";
    const error = isFailed && isError ? toErrorAttributes(ending.error) : {};
    for (const { span, endedAt } of this.#calls) {
      if (isFailed && isError) this.#markFailed(span, error, ending.error);
      span.end(endedAt ?? undefined);
    }
    this.#calls.clear();
    this.#turn?.span.end(readTime());
    this.#turn = null;
    this.span.setAttributes({
      "wink.evaluation.outcome": outcome,
      "wink.evaluation.turns": this.#turns,
      ...toUsageAttributes(this.#usage),
    });
    if (isFailed && isError) this.#markFailed(this.span, error, ending.error);
    this.span.end();
    if (outcome === "unfinished") return;
    this.#settings.metrics.recordDuration(readTime() - this.#startTime, {
      "gen_ai.operation.name": "invoke_agent",
      ...this.#model,
      ...(isError && { "error.type": error["error.type"] }),
    });
  }

  #completeTurn(event: TurnCompleted): void {
    const turn = this.#turn;
    this.#turns += 1;
    this.#usage = addUsage(this.#usage, event.usage);
    this.#compactionUsage = noUsage;
    if (!turn) return;
    turn.span.setAttributes(toResponseAttributes(event));
    if (event.costUsd !== undefined) turn.span.setAttribute("wink.cost_usd", event.costUsd);
    if (this.#content) turn.span.setAttributes(this.#content.onTurn(event));
    const model = event.model ? { "gen_ai.response.model": event.model } : {};
    this.#endTurn(turn, model);
    const operation = { "gen_ai.operation.name": "chat", ...this.#model, ...model };
    this.#settings.metrics.recordTokens(event.usage, operation);
    this.#lastTurn = turn;
  }

  #endTurn({ span, startTime }: TurnSpan, details: Attributes): void {
    const now = readTime();
    span.end(now);
    this.#turn = null;
    const operation = { "gen_ai.operation.name": "chat", ...this.#model, ...details };
    this.#settings.metrics.recordDuration(now - startTime, operation);
  }

  #completeCall(event: ToolInvoked): void {
    const { name, callId, origin, params, result } = event;
    const started = [...this.#calls].find(
      (call) => call.callId === callId && call.endedAt !== null,
    );
    // A call that was refused did not run.
    const hostedKind = origin?.capability ?? null;
    const call = started ?? this.startCall({ name, callId, hostedKind });
    this.#calls.delete(call);
    if (this.#content) call.span.setAttributes(this.#content.onInvoked(event));
    if (!result.success) {
      const isRejected = isPlainObject(params) && params["rejected"] === true;
      const type = isRejected ? "invalid_arguments" : "tool_error";
      this.#markFailed(call.span, { "error.type": type }, result.message);
    }
    call.span.end(call.endedAt ?? undefined);
  }

  #onExecuted(event: PromptExecuted): void {
    const { model, finishReason } = event;
    this.#setTotals(event);
    this.span.setAttributes({
      ...(model && { "gen_ai.response.model": model }),
      "gen_ai.response.finish_reasons": [toFinishReason(finishReason)],
      ...this.#content?.onExecuted(event),
    });
  }

  /** Sets the cost, and the usage, which includes requests after the last turn. */
  #setTotals({ usage, costUsd }: PromptExecuted | PromptFailed): void {
    // The event's usage includes the turns of earlier processes.
    this.#usage = this.#isResumed ? addUsage(this.#usage, this.#compactionUsage) : usage;
    if (costUsd !== undefined) this.span.setAttribute("wink.cost_usd", costUsd);
  }

  /** Adds what else happened as an event of the evaluation's span. */
  #addEvent(
    event: TurnSubmitted | TurnResubmitted | ContextCompacted | ContainerReplaced | HistoryRepaired,
  ): void {
    switch (event.type) {
      case "ContextCompacted": {
        const { strategy, tokensBefore, tokensAfter, usage } = event;
        if (usage) this.#compactionUsage = addUsage(this.#compactionUsage, usage);
        this.span.addEvent("wink.context_compacted", {
          "wink.compaction.strategy": strategy,
          "wink.compaction.tokens_before": tokensBefore,
          ...(tokensAfter !== null && { "wink.compaction.tokens_after": tokensAfter }),
        });
        break;
      }
      case "ContainerReplaced":
        this.span.addEvent("wink.container_replaced", { "wink.container.id": event.replacedBy });
        break;
      case "HistoryRepaired":
        this.span.addEvent("wink.history_repaired", {
          "wink.history.dropped_items": event.dropped.length,
        });
        break;
      default: {
        const isLost = event.type === "TurnResubmitted";
        this.span.addEvent(isLost ? "wink.turn_resubmitted" : "wink.turn_submitted", {
          "gen_ai.response.id": event.responseId,
        });
      }
    }
  }

  /** Marks a span as failed. The message may quote content. */
  #markFailed(span: Span, attributes: Attributes, problem: unknown): void {
    const message = typeof problem === "string" ? problem : getErrorMessage(problem);
    span.setAttributes(attributes);
    span.setStatus({
      code: this.#settings.api.SpanStatusCode.ERROR,
      ...(this.#content && { message: this.#content.limitText(message) }),
    });
  }
}

/** The span of a call. */
class CallSpan {
  readonly span: Span;
  readonly callId: string;
  /** When the handler returned; `null` before that. */
  endedAt: number | null = null;

  constructor(span: Span, callId: string) {
    this.span = span;
    this.callId = callId;
  }

  /** Remembers when the handler returned. The event follows after parallel calls. */
  onReturned(): void {
    this.endedAt = readTime();
  }
}

/** Returns the time in milliseconds since the process started. Spans accept it, and it has more digits than a date. */
function readTime(): number {
  return performance.now();
}
