import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";

/** The error of a run, as `wink run --json` prints it on standard error. */
export interface FailureDocument {
  readonly error: {
    readonly name: string;
    readonly message: string;
    readonly sessionId: string | null;
    /** The phase in which the evaluation failed. Absent if it had not started. */
    readonly phase?: string;
    /** Calls that wait for approval. */
    readonly approvals?: readonly object[];
    /** The results so far. */
    readonly partial?: object;
  };
}

/** Converts the error of a run to its document. */
export function toFailureDocument(error: unknown, sessionId: string | null): FailureDocument {
  const name = error instanceof Error ? error.name : typeof error;
  const common = { name, message: getErrorMessage(error), sessionId };
  if (!(error instanceof PromptEvaluationError)) return { error: common };
  const { phase, partial } = error;
  const { text, usage, costUsd, turns } = partial;
  return {
    error: {
      ...common,
      phase,
      partial: { text, usage, ...(costUsd !== undefined && { costUsd }), turns },
      ...(error instanceof EvaluationParkedError && { approvals: error.approvals }),
    },
  };
}
