import { messageOf, WinkError } from "../base/errors.ts";

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
