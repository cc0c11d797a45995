import type { NeedsApproval } from "../../tools/tool-context.ts";

/** A call that may need approval. */
export interface ApprovableCall {
  readonly name: string;
  readonly callId: string;
  readonly params: unknown;
  readonly needsApproval: NeedsApproval<unknown>;
  /**
   * Whether the model must make a parked call again, because its client runs it. Then the call is identified by
   * its params, and an approval counts once. @default false
   */
  readonly isRepeated?: boolean | undefined;
}
