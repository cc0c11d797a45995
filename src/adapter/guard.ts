import { type Budget, BudgetTracker } from "../base/budget.ts";
import type { Deadline } from "../base/deadline.ts";
import { messageOf } from "../base/errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  type EvaluationPhase,
  type PartialResponse,
  PromptEvaluationError,
} from "../base/evaluation-errors.ts";
import type { TokenUsage } from "../base/usage.ts";

/** What an evaluation has so far, for the error that ends it. */
export interface PartialProgress {
  readonly turns: number;
  partial(): PartialResponse;
}

export interface GuardOptions {
  readonly promptName: string;
  readonly deadline?: Deadline | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly budget?: Budget | undefined;
  readonly budgetTracker?: BudgetTracker | undefined;
}

/** What ends an evaluation early: cancellation, the deadline, the budget. Asked at every step. */
export class Guard {
  /** Aborts on cancellation and when the deadline passes. */
  readonly signal: AbortSignal;
  readonly deadline: Deadline | null;
  /** The one tools see. */
  readonly tracker: BudgetTracker | null;
  /** Where the evaluation is, for the error that ends it. */
  phase: EvaluationPhase = "request";
  readonly #promptName: string;
  readonly #cancelled: AbortSignal | null;
  readonly #trackers: readonly BudgetTracker[];
  readonly #progress: PartialProgress;

  constructor(options: GuardOptions, progress: PartialProgress) {
    this.#promptName = options.promptName;
    this.#progress = progress;
    this.#cancelled = options.signal ?? null;
    this.deadline = options.deadline ?? null;
    this.#trackers = [
      ...(options.budgetTracker ? [options.budgetTracker] : []),
      ...(options.budget ? [new BudgetTracker(options.budget)] : []),
    ];
    this.tracker = this.#trackers[0] ?? null;
    this.signal = AbortSignal.any(
      [options.signal, options.deadline?.signal()].filter((signal) => signal !== undefined),
    );
  }

  /** Goes on to `phase`, unless something has ended the evaluation. */
  enter(phase: EvaluationPhase): void {
    this.phase = phase;
    this.#cancelled?.throwIfAborted();
    if (this.deadline && this.deadline.remainingMs() <= 0) throw this.#late();
    for (const tracker of this.#trackers) {
      const excess = tracker.excess();
      if (excess) throw new BudgetExceededError(excess, { promptName: this.#promptName });
    }
  }

  record(usage: TokenUsage): void {
    for (const tracker of this.#trackers) tracker.record(usage);
  }

  /** What the caller gets for `error`: a cancellation's reason untouched, else one of ours. */
  explained(error: unknown): unknown {
    if (this.#cancelled?.aborted) return this.#cancelled.reason;
    const ours = error instanceof PromptEvaluationError ? error : this.#explain(error);
    return Object.assign(ours, { promptName: this.#promptName, partial: this.#progress.partial() });
  }

  #explain(cause: unknown): PromptEvaluationError {
    if (this.deadline?.signal().aborted) return this.#late(cause);
    const { phase } = this;
    return new PromptEvaluationError(messageOf(cause), {
      promptName: this.#promptName,
      phase,
      cause,
    });
  }

  #late(cause?: unknown): DeadlineExceededError {
    const { phase } = this;
    const after = `after ${this.#progress.turns} turns, in phase ${phase}`;
    const message = `The deadline passed ${after}: give it more time or a smaller task`;
    return new DeadlineExceededError(message, { promptName: this.#promptName, phase, cause });
  }
}
