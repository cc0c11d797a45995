import { messageOf, WinkError } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";

/** A container is gone and was not, or could not be, replaced: `originalError` says why. */
export class ContainerExpiredError extends WinkError {
  override readonly name = "ContainerExpiredError";
  readonly containerId: string;
  readonly originalError: unknown;

  constructor(containerId: string, originalError: unknown, remedy: string) {
    const why = messageOf(originalError);
    super(`Container ${containerId} is gone (${why}): ${remedy}`, { cause: originalError });
    this.containerId = containerId;
    this.originalError = originalError;
  }
}

/** A conversation could not be made shorter: `originalError` says why. */
export class CompactionError extends PromptEvaluationError {
  override readonly name: string = "CompactionError";
  /** How many tokens it had. */
  readonly tokenCount: number;
  readonly originalError: unknown;

  constructor(tokenCount: number, originalError: unknown, promptName: string) {
    const problem = `The conversation of ${tokenCount} tokens could not be compacted`;
    const message = `${problem}: ${messageOf(originalError)}`;
    super(message, { promptName, phase: "request", cause: originalError });
    this.tokenCount = tokenCount;
    this.originalError = originalError;
  }
}
