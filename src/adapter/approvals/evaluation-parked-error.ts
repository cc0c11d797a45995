import {
  type EvaluationErrorDetails,
  PromptEvaluationError,
} from "../../base/evaluation-errors.ts";
import { quoteNames } from "../../base/quote-value.ts";
import type { ApprovalRequest } from "./approval-request.ts";

/**
 * Thrown when calls wait for approval and `approve` parked them. The other calls of the turn have run, and the
 * session is stored. To continue, in any process, evaluate the same prompt with `resume: true` and `approvals`.
 */
export class EvaluationParkedError extends PromptEvaluationError {
  override readonly name = "EvaluationParkedError";
  /** The calls that wait. */
  readonly approvals: readonly ApprovalRequest[];

  constructor(
    approvals: readonly ApprovalRequest[],
    details: Omit<EvaluationErrorDetails, "phase">,
  ) {
    const names = quoteNames([...new Set(approvals.map(({ name }) => name))]);
    const calls = approvals.length === 1 ? "a call" : `${approvals.length} calls`;
    const remedy = "Evaluate again with resume: true, and approvals with a decision for each key.";
    super(`The evaluation waits for the approval of ${calls} to ${names}. ${remedy}`, {
      ...details,
      phase: "tool",
    });
    this.approvals = Object.freeze([...approvals]);
  }
}
