import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { PromptEvaluationError, ThrottleError } from "../../base/evaluation-errors.ts";
import { toSentence } from "../../base/to-sentence.ts";

/** A container expired or was deleted, and it was not or could not be replaced. */
export class ContainerExpiredError extends WinkError {
  override readonly name = "ContainerExpiredError";
  /** The container's id at the provider. */
  readonly containerId: string;
  /** Why the container is unavailable. */
  readonly originalError: unknown;

  constructor(containerId: string, originalError: unknown, remedy: string) {
    const why = getErrorMessage(originalError);
    super(`Container ${containerId} no longer exists (${why}). ${toSentence(remedy)}`, {
      cause: originalError,
    });
    this.containerId = containerId;
    this.originalError = originalError;
  }
}

/** A conversation could not be compacted. */
export class CompactionError extends PromptEvaluationError {
  override readonly name: string = "CompactionError";
  /** The number of tokens in the conversation. */
  readonly tokenCount: number;
  /** Why compaction failed. */
  readonly originalError: unknown;

  constructor(tokenCount: number, error: unknown, promptName: string) {
    // The request's own error, also if its retries are used up.
    const originalError = error instanceof ThrottleError ? error.cause : error;
    const problem = `The conversation of ${tokenCount} tokens could not be compacted`;
    const message = `${problem}: ${getErrorMessage(originalError)}`;
    super(message, { promptName, phase: "request", cause: originalError });
    this.tokenCount = tokenCount;
    this.originalError = originalError;
  }
}
