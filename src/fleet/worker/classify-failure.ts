import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import type { StandingEvaluation } from "../../adapter/resume/standing.ts";
import { InvalidOptionError, PromptRenderError } from "../../base/errors.ts";
import {
  BudgetExceededError,
  DeadlineExceededError,
  PromptEvaluationError,
  ThrottleError,
} from "../../base/evaluation-errors.ts";
import { WorkspaceBudgetExceededError } from "../../base/filesystem-error.ts";
import { SnapshotRestoreError } from "../../session/snapshot-errors.ts";

/** The consequence of an attempt's error. */
export type FailureClass =
  /** It may succeed later: the run goes back to the queue after a delay. */
  | "retry"
  /** It would fail again: the run has failed. */
  | "fail"
  /** Calls wait for approval. */
  | "approval"
  /** The provider asked for a long pause. */
  | "pause";

/** How far the run has got when its attempt failed. */
export interface FailedRun {
  /** The run's evaluation; `null` if it has not started. */
  readonly standing: StandingEvaluation | null;
  readonly maxTurns: number;
}

/**
 * Decides about the consequence of an attempt's error. In doubt it is tried again: the limit of attempts without a new turn
 * ends that.
 */
export function classifyFailure(error: unknown, run: FailedRun): FailureClass {
  if (error instanceof EvaluationParkedError) return "approval";
  if (error instanceof DeadlineExceededError || error instanceof BudgetExceededError) return "fail";
  if (error instanceof ThrottleError) return isLongPause(error) ? "pause" : "retry";
  if (error instanceof InvalidOptionError || error instanceof SnapshotRestoreError) return "fail";
  if (isTooLarge(error)) return "fail";
  if (!(error instanceof PromptEvaluationError)) return "retry"; // prepare, finalize or a cleanup failed
  if (error.cause instanceof InvalidOptionError) return "fail";
  switch (error.phase) {
    case "store":
      return "retry";
    case "render":
      return isTransientRendering(error) ? "retry" : "fail";
    case "request":
      return isTransientRequest(error) ? "retry" : "fail";
    case "response":
    case "parse":
      return isFinal(run) ? "fail" : "retry"; // a turn that was not stored is sent again
    case "tool":
    case "budget":
      return "fail";
  }
}

/** Longest pause that a run waits out in its worker, in milliseconds. */
export const MAX_PAUSE_MS = 60_000;

function isLongPause({ retryAfterMs }: ThrottleError): boolean {
  return retryAfterMs !== null && retryAfterMs > MAX_PAUSE_MS;
}

/** The files of a run do not fit where they are stored. */
function isTooLarge(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof WorkspaceBudgetExceededError) return true;
  }
  return false;
}

/** A section could not be prepared, or the overrides could not be loaded, because of another failure. */
function isTransientRendering({ cause }: PromptEvaluationError): boolean {
  return cause instanceof PromptRenderError ? cause.cause !== undefined : cause !== undefined;
}

/** The container of a workspace was lost, or this machine has run out of something. */
function isTransientRequest(error: PromptEvaluationError): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause.name === "ContainerExpiredError") return true;
    if ("code" in cause && MACHINE_CODES.has(String(cause.code))) return true;
    if ("reason" in cause && (cause.reason === "network" || cause.reason === "timeout"))
      return true;
    if ("status" in cause && isTransientStatus(Number(cause.status))) return true;
  }
  return false;
}

const MACHINE_CODES: ReadonlySet<string> = new Set([
  "ENOSPC",
  "EIO",
  "EMFILE",
  "ENFILE",
  "EDQUOT",
  "EAGAIN",
  "ENOMEM",
]);

function isTransientStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Whether the last stored turn is the answer, or no more turns are allowed: the same error would come again. */
function isFinal({ standing, maxTurns }: FailedRun): boolean {
  if (!standing?.last) return false;
  const { toolCalls, delegatedCalls = [], continues, turn } = standing.last;
  const isAnswer = toolCalls.length + delegatedCalls.length === 0 && !continues;
  return isAnswer || turn >= maxTurns;
}
