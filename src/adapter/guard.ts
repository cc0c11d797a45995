import { type Budget, BudgetTracker } from "../base/budget.ts";
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
}

/** Ends an evaluation early on cancellation, at the deadline, or when the budget is exceeded. */
export class Guard {
  /** Aborts on cancellation and when the deadline passes. */
  readonly signal: AbortSignal;
  readonly deadline: Deadline | null;
  /** The budget tracker that tool handlers see. */
  readonly tracker: BudgetTracker | null;
  /** Current phase of the evaluation, for the error that ends it. */
  phase: EvaluationPhase = "request";
  readonly #promptName: string;
  readonly #cancelled: AbortSignal | null;
  readonly #trackers: readonly BudgetTracker[];
  /** The tracker of the evaluation's own budget. */
  readonly #ownTracker: BudgetTracker | null;
  readonly #progress: PartialProgress;

  constructor(options: GuardOptions, progress: PartialProgress) {
    this.#promptName = options.promptName;
    this.#progress = progress;
    this.#cancelled = options.signal ?? null;
    this.deadline = options.deadline ?? null;
    this.#ownTracker = options.budget ? new BudgetTracker(options.budget) : null;
    this.#trackers = [
      ...(options.budgetTracker ? [options.budgetTracker] : []),
      ...(this.#ownTracker ? [this.#ownTracker] : []),
    ];
    this.tracker = this.#trackers[0] ?? null;
    this.signal = AbortSignal.any(
      [options.signal, options.deadline?.signal()].filter((signal) => signal !== undefined),
    );
  }

  /**
   * Enters `phase`. Throws if the evaluation was aborted, missed its deadline or exceeds its
   * budget.
   */
  enter(phase: EvaluationPhase): void {
    this.phase = phase;
    this.#cancelled?.throwIfAborted();
    if (this.deadline && this.deadline.remainingMs() <= 0) throw this.#createDeadlineError();
    for (const tracker of this.#trackers) {
      const excess = tracker.excess();
      if (excess) throw new BudgetExceededError(excess, { promptName: this.#promptName });
    }
  }

  /** Counts the usage of an evaluation before it was interrupted, towards `budget` only. */
  recordEarlier(usage: TokenUsage): void {
    this.#ownTracker?.record(usage);
  }

  record(usage: TokenUsage): void {
    for (const tracker of this.#trackers) tracker.record(usage);
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
