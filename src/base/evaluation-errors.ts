import { WinkError } from "./errors.ts";
import { noUsage, type TokenUsage } from "./usage.ts";

/** The part of an evaluation in which an error occurred. */
export type EvaluationPhase =
  | "render"
  | "request"
  | "response"
  | "tool"
  | "parse"
  | "budget"
  | "store";

/** Results that an evaluation had collected before it failed. */
export interface PartialResponse {
  /** The model's last text, or `null` if it has not produced any. */
  readonly text: string | null;
  /** Hosted tool calls that have completed. */
  readonly hostedCalls: readonly object[];
  /** Tokens used so far. */
  readonly usage: TokenUsage;
  /** Cost so far in US dollars. Absent if it is unknown. */
  readonly costUsd?: number;
  /** The provider's id of the last response, if any. */
  readonly responseId: string | null;
  /** Number of completed turns. */
  readonly turns: number;
}

/** Details of a {@link PromptEvaluationError}. */
export interface EvaluationErrorDetails {
  /** Name of the prompt. */
  readonly promptName: string;
  /** Where the evaluation failed. */
  readonly phase: EvaluationPhase;
  /** The provider's answer, parsed if it was JSON. @default null */
  readonly providerPayload?: unknown;
  /** Provider's id of the failed request. @default null */
  readonly requestId?: string | null | undefined;
  /** Results collected before the failure. @default no results */
  readonly partial?: PartialResponse | undefined;
  /** The underlying error. */
  readonly cause?: unknown;
}

/** Thrown when a prompt cannot be evaluated. `partial` has the results collected so far. */
export class PromptEvaluationError extends WinkError {
  override readonly name: string = "PromptEvaluationError";
  /** Name of the prompt that was evaluated. */
  readonly promptName: string;
  /** The part of the evaluation that failed. */
  readonly phase: EvaluationPhase;
  /** The provider's response body, or `null` without one. */
  readonly providerPayload: unknown;
  /** The provider's id of the failed request, or `null` without one. */
  readonly requestId: string | null;
  /** Results collected before the failure. */
  readonly partial: PartialResponse;

  constructor(message: string, details: EvaluationErrorDetails) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.promptName = details.promptName;
    this.phase = details.phase;
    this.providerPayload = details.providerPayload ?? null;
    this.requestId = details.requestId ?? null;
    this.partial = details.partial ?? emptyPartial;
  }
}

/** Why the provider did not accept a request. Every kind except `quota_exhausted` is retried. */
export type ThrottleKind = "rate_limit" | "quota_exhausted" | "timeout" | "server" | "network";

/** Details of a {@link ThrottleError}. */
export interface ThrottleErrorDetails extends Omit<EvaluationErrorDetails, "phase"> {
  /** Why the provider did not accept the request. */
  readonly kind: ThrottleKind;
  /** How long the provider asked to wait, in milliseconds. @default null */
  readonly retryAfterMs?: number | null | undefined;
  /** Number of requests that were sent. @default 1 */
  readonly attempts?: number | undefined;
}

/** Thrown when the provider does not accept the request, after `attempts` attempts. */
export class ThrottleError extends PromptEvaluationError {
  override readonly name = "ThrottleError";
  /** Why the provider did not accept the request. */
  readonly kind: ThrottleKind;
  /** The wait that the provider requested in milliseconds, or `null` if it did not request one. */
  readonly retryAfterMs: number | null;
  /** How many times the request was sent. */
  readonly attempts: number;

  constructor(message: string, details: ThrottleErrorDetails) {
    super(message, { ...details, phase: "request" });
    this.kind = details.kind;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.attempts = details.attempts ?? 1;
  }
}

/** Thrown when the deadline passes. In-flight work has been aborted. */
export class DeadlineExceededError extends PromptEvaluationError {
  override readonly name = "DeadlineExceededError";
}

/** A kind of usage that a budget can limit. */
export type BudgetDimension = "inputTokens" | "outputTokens" | "totalTokens" | "usd";

/** Thrown when an evaluation uses more tokens, or costs more, than its budget allows. */
export class BudgetExceededError extends PromptEvaluationError {
  override readonly name = "BudgetExceededError";
  /** The limit that was exceeded. */
  readonly dimension: BudgetDimension;
  /** Tokens used, or the cost in US dollars. */
  readonly used: number;
  /** Tokens allowed, or US dollars. */
  readonly limit: number;

  constructor(excess: BudgetExcess, details: Omit<EvaluationErrorDetails, "phase">) {
    const { dimension, used, limit } = excess;
    super(`Used ${formatAmounts(excess)}. ${REMEDY}`, {
      ...details,
      phase: "budget",
    });
    this.dimension = dimension;
    this.used = used;
    this.limit = limit;
  }
}

/** The limit that was exceeded, and by how much. */
export interface BudgetExcess {
  /** The limit that was exceeded. */
  readonly dimension: BudgetDimension;
  /** Tokens used, or the cost in US dollars. */
  readonly used: number;
  /** Tokens allowed, or US dollars. */
  readonly limit: number;
}

function formatAmounts({ dimension, used, limit }: BudgetExcess): string {
  return dimension === "usd"
    ? `${formatUsd(used)}, but the budget allows ${formatUsd(limit)}`
    : `${used} ${dimension}, but the budget allows ${limit}`;
}

/** Formats an amount with two decimal places at least, and six digits that matter at most. */
function formatUsd(usd: number): string {
  const digits = String(Number(usd.toPrecision(6)));
  return `$${/^\d+(?:\.\d)?$/.test(digits) ? usd.toFixed(2) : digits}`;
}

const REMEDY = "Raise the budget or shorten the task.";

const emptyPartial: PartialResponse = Object.freeze({
  text: null,
  hostedCalls: Object.freeze([]),
  usage: noUsage,
  responseId: null,
  turns: 0,
});
