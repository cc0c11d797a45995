import { type Budget, BudgetTracker } from "../base/budget.ts";
import {
  CostMeter,
  type PricedContainers,
  type PricedTurn,
  type TurnTimes,
} from "../base/costs/cost-meter.ts";
import type { Deadline } from "../base/deadline.ts";
import { getErrorMessage } from "../base/errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  type EvaluationPhase,
  type PartialResponse,
  PromptEvaluationError,
} from "../base/evaluation-errors.ts";
import type { TokenUsage } from "../base/usage.ts";
import { SessionStoreError } from "../session/session-store.ts";

/** Results collected so far, for the error that ends an evaluation. */
export interface PartialProgress {
  readonly turns: number;
  toPartialResponse(): PartialResponse;
}

/** Options of a {@link Guard}. */
export interface GuardOptions {
  readonly promptName: string;
  readonly deadline?: Deadline | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly budget?: Budget | undefined;
  readonly budgetTracker?: BudgetTracker | undefined;
  /** The model as the caller names it, for its price. @default the model that each turn reports */
  readonly model?: string | undefined;
}

/** A budget, and what the evaluation costs at its prices. */
interface MeteredTracker {
  readonly tracker: BudgetTracker;
  readonly costs: CostMeter;
}

/** Ends an evaluation early on cancellation, at the deadline, or when the budget is exceeded. */
export class Guard {
  /** Aborts on cancellation and when the deadline passes. */
  readonly signal: AbortSignal;
  /** The signal, or `undefined` if it can never abort, so that no work waits for it. */
  readonly abortSignal: AbortSignal | undefined;
  readonly deadline: Deadline | null;
  /** The budget tracker that tool handlers see. */
  readonly tracker: BudgetTracker | null;
  /** Current phase of the evaluation, for the error that ends it. */
  phase: EvaluationPhase = "request";
  readonly #promptName: string;
  readonly #cancelled: AbortSignal | null;
  readonly #trackers: readonly MeteredTracker[];
  /** The tracker of the evaluation's own budget. */
  readonly #ownTracker: BudgetTracker | null;
  /** The error for a turn whose cost is unknown although a budget limits it. */
  #unpricedError: PromptEvaluationError | null = null;
  readonly #progress: PartialProgress;

  constructor(options: GuardOptions, progress: PartialProgress) {
    this.#promptName = options.promptName;
    this.#progress = progress;
    this.#cancelled = options.signal ?? null;
    this.deadline = options.deadline ?? null;
    this.#ownTracker = options.budget ? new BudgetTracker(options.budget) : null;
    const trackers = [options.budgetTracker, this.#ownTracker].filter((tracker) => !!tracker);
    const { model } = options;
    this.#trackers = trackers.map((tracker) => ({
      tracker,
      costs: new CostMeter({ model, prices: tracker.budget.prices }),
    }));
    this.tracker = trackers[0] ?? null;
    const signals = [options.signal, options.deadline?.signal()].filter((signal) => !!signal);
    this.abortSignal = signals.length > 0 ? AbortSignal.any(signals) : undefined;
    this.signal = this.abortSignal ?? new AbortController().signal;
  }

  /**
   * Enters `phase`. Throws if the evaluation was aborted, missed its deadline or exceeds its
   * budget.
   */
  enter(phase: EvaluationPhase): void {
    this.phase = phase;
    this.#cancelled?.throwIfAborted();
    if (this.deadline && this.deadline.remainingMs() <= 0) throw this.#createDeadlineError();
    if (this.#unpricedError) throw this.#unpricedError;
    for (const { tracker } of this.#trackers) {
      const excess = tracker.excess();
      if (excess) throw new BudgetExceededError(excess, { promptName: this.#promptName });
    }
  }

  /** Counts the usage and cost of an evaluation before it was interrupted, towards `budget` only. */
  recordEarlier(usage: TokenUsage, costUsd: number): void {
    this.#ownTracker?.record(usage, costUsd);
  }

  /** Counts a turn towards all budgets. */
  record(turn: PricedTurn, times: TurnTimes): void {
    for (const { tracker, costs } of this.#trackers) {
      const cost = costs.add(turn, times);
      tracker.record(turn.usage, cost ?? 0);
      const isLimited = tracker.budget.maxUsd !== null && turn.usage.totalTokens > 0;
      if (cost === null && isLimited) {
        this.#unpricedError ??= this.#createUnpricedError(turn.model, costs.date);
      }
    }
  }

  /** Counts tokens and containers that were used outside of turns, until `endedAt`, towards all budgets. */
  recordUsage(finished: PricedContainers & { readonly usage: TokenUsage }, endedAt: number): void {
    const { usage } = finished;
    for (const { tracker, costs } of this.#trackers) {
      tracker.record(usage, costs.addUsage(usage, finished, endedAt) ?? 0);
    }
  }

  /**
   * Returns the error for the caller: the reason of a cancellation unchanged, else an evaluation
   * error.
   */
  toEvaluationError(error: unknown): unknown {
    if (this.#cancelled?.aborted) return this.#cancelled.reason;
    const cause = findStoreError(error) ?? error;
    const evaluationError = cause instanceof PromptEvaluationError ? cause : this.#wrapError(cause);
    return Object.assign(evaluationError, {
      promptName: this.#promptName,
      partial: this.#progress.toPartialResponse(),
    });
  }

  #wrapError(cause: unknown): PromptEvaluationError {
    if (this.deadline?.signal().aborted) return this.#createDeadlineError(cause);
    const phase = cause instanceof SessionStoreError ? "store" : this.phase;
    return new PromptEvaluationError(getErrorMessage(cause), {
      promptName: this.#promptName,
      phase,
      cause,
    });
  }

  #createUnpricedError(model: string | null, date: string): PromptEvaluationError {
    const what = `the price table of ${date} has no price for the model ${JSON.stringify(model)}`;
    const remedy = "Pass prices with an entry for it to Budget, or omit maxUsd.";
    const message = `The turn's cost is unknown, so maxUsd cannot be checked: ${what}. ${remedy}`;
    return new PromptEvaluationError(message, { promptName: this.#promptName, phase: "budget" });
  }

  #createDeadlineError(cause?: unknown): DeadlineExceededError {
    const { phase } = this;
    const after = `after ${this.#progress.turns} turns, in phase ${phase}`;
    const message = `The deadline passed ${after}. Set a later deadline or use a smaller task.`;
    return new DeadlineExceededError(message, { promptName: this.#promptName, phase, cause });
  }
}

/** Returns the error of the store if a client has wrapped it as its own; `null` for other errors. */
function findStoreError(error: unknown): SessionStoreError | null {
  if (!(error instanceof PromptEvaluationError) || error.phase === "store") return null;
  return error.cause instanceof SessionStoreError ? error.cause : null;
}
