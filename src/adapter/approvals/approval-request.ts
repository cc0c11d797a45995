/** A call that waits for approval. */
export interface ApprovalRequest {
  /**
   * Identifies the call: its `callKey`, which is the same when the evaluation is resumed in another process. Use it
   * in `approvals` of `evaluate`.
   */
  readonly key: string;
  /** Id of the call in its turn. */
  readonly callId: string;
  /** Name of the tool. */
  readonly name: string;
  /** The call's params, validated if the tool has a schema. */
  readonly params: unknown;
  /** Name of the prompt that is evaluated. */
  readonly promptName: string;
  /** Id of the session. */
  readonly sessionId: string;
}

/**
 * What happens to a call that waits for approval: it runs, it is denied, or the evaluation stops until it is resumed
 * with the answer.
 */
export type ApprovalDecision = "approve" | "deny" | "park";

/** Decides about a call, for example by asking a person. An error denies the call. */
export type Approver = (request: ApprovalRequest) => Promise<ApprovalDecision>;
