import type { ThrottleError } from "../../../base/evaluation-errors.ts";
import type { SyncFailure } from "../../../files/sync/sync-failure.ts";

/** The result of downloading the changes that code made. */
export interface PullResult {
  readonly failed: readonly SyncFailure[];
  /** Whether another attempt would download nothing more. */
  readonly isComplete: boolean;
  /** The error of a download that stayed throttled, after which no other was started. @default none */
  readonly throttled?: ThrottleError | null | undefined;
}
