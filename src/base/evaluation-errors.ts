import { WinkError } from "./errors.ts";
import { noUsage, type TokenUsage } from "./usage.ts";

/** Where in one evaluation an error arose. */
export type EvaluationPhase = "render" | "request" | "response" | "tool" | "parse" | "budget";

/** What an evaluation had when it stopped. */
export interface PartialResponse {
  /** The model's last words, if it had said any. */
  readonly text: string | null;
  readonly hostedCalls: readonly object[];
  readonly usage: TokenUsage;
  readonly responseId: string | null;
  readonly turns: number;
}

export interface EvaluationErrorDetails {
  readonly promptName: string;
  readonly phase: EvaluationPhase;
  readonly providerPayload?: unknown;
  readonly requestId?: string | null | undefined;
  readonly partial?: PartialResponse | undefined;
  readonly cause?: unknown;
}

/** A prompt could not be evaluated: `phase` says where, `cause` why, `partial` what was had. */
export class PromptEvaluationError extends WinkError {
  override readonly name: string = "PromptEvaluationError";
  readonly promptName: string;
  readonly phase: EvaluationPhase;
  /** What the provider sent, if it sent anything. */
  readonly providerPayload: unknown;
  readonly requestId: string | null;
  readonly partial: PartialResponse;

  constructor(message: string, details: EvaluationErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.promptName = details.promptName;
    this.phase = details.phase;
    this.providerPayload = details.providerPayload ?? null;
    this.requestId = details.requestId ?? null;
    this.partial = details.partial ?? nothingYet;
  }
}

/** Why the provider could not take a request; all but `quota_exhausted` are worth another try. */
export type ThrottleKind = "rate_limit" | "quota_exhausted" | "timeout" | "server" | "network";

export interface ThrottleErrorDetails extends Omit<EvaluationErrorDetails, "phase"> {
  readonly kind: ThrottleKind;
  readonly retryAfterMs?: number | null | undefined;
  /** @default 1 */
  readonly attempts?: number | undefined;
}

/** The provider could not take the request now; it was tried `attempts` times. */
export class ThrottleError extends PromptEvaluationError {
  override readonly name = "ThrottleError";
  readonly kind: ThrottleKind;
  /** How long the provider asked to wait, if it did. */
  readonly retryAfterMs: number | null;
  readonly attempts: number;

  constructor(message: string, details: ThrottleErrorDetails) {
    super(message, { ...details, phase: "request" });
    this.kind = details.kind;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.attempts = details.attempts ?? 1;
  }
}

/** The deadline passed; what was in flight was aborted. */
export class DeadlineExceededError extends PromptEvaluationError {
  override readonly name = "DeadlineExceededError";
}

export type BudgetDimension = "inputTokens" | "outputTokens" | "totalTokens";

/** More tokens were used than the budget allows. */
export class BudgetExceededError extends PromptEvaluationError {
  override readonly name = "BudgetExceededError";
  readonly dimension: BudgetDimension;
  readonly used: number;
  readonly limit: number;

  constructor(excess: BudgetExcess, details: Omit<EvaluationErrorDetails, "phase">) {
    const { dimension, used, limit } = excess;
    const remedy = "raise the budget or shorten the task";
    super(`${used} ${dimension} were used and the budget allows ${limit}: ${remedy}`, {
      ...details,
      phase: "budget",
    });
    this.dimension = dimension;
    this.used = used;
    this.limit = limit;
  }
}

export interface BudgetExcess {
  readonly dimension: BudgetDimension;
  readonly used: number;
  readonly limit: number;
}

const nothingYet: PartialResponse = Object.freeze({
  text: null,
  hostedCalls: Object.freeze([]),
  usage: noUsage,
  responseId: null,
  turns: 0,
});
