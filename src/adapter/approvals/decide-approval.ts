import { raceAbort } from "../../base/clock.ts";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { ApprovalRequest, Approver } from "./approval-request.ts";

/** The decision about a call. */
export type Verdict =
  | { readonly kind: "approved" }
  /** `message` is the call's result, which the model reads. */
  | { readonly kind: "denied"; readonly message: string }
  | { readonly kind: "parked" };

/** The verdict on calls that need no approval, or have it. */
export const APPROVED: Verdict = Object.freeze({ kind: "approved" });

/** How an evaluation decides about calls that need approval. */
export interface ApprovalSettings {
  readonly approve?: Approver | undefined;
  /** Decisions that were made since the evaluation was parked, by `ApprovalRequest.key`. */
  readonly approvals?: Readonly<Record<string, "approve" | "deny">> | undefined;
  /** Whether the evaluation is stored, so that another process can resume it. */
  readonly isDurable: boolean;
}

/**
 * Decides about a call that needs approval. Throws `InvalidOptionError` if it is to be parked and the evaluation is
 * not stored, and the signal's reason if that aborts.
 */
export async function decideApproval(
  request: ApprovalRequest,
  { approve, approvals = {}, isDurable }: ApprovalSettings,
  signal: AbortSignal,
): Promise<Verdict> {
  if (Object.hasOwn(approvals, request.key)) {
    return approvals[request.key] === "approve" ? APPROVED : DENIED;
  }
  if (!approve) return deny("it needs approval, and there is no one to give it");
  let decision: unknown;
  try {
    decision = await raceAbort(Promise.resolve(approve(request)), signal);
  } catch (error) {
    signal.throwIfAborted();
    return deny(`it needs approval, and asking for it failed: ${getErrorMessage(error)}`);
  }
  if (decision === "approve") return APPROVED;
  if (decision === "deny") return DENIED;
  if (decision === "park") return park(isDurable);
  const expected = '"approve", "deny" or "park"';
  return deny(`it needs approval, and the answer was ${quoteValue(decision)}, not ${expected}`);
}

function park(isDurable: boolean): Verdict {
  if (isDurable) return PARKED;
  throw new InvalidOptionError({
    field: "evaluate(approve)",
    value: "park",
    rule: 'must return "approve" or "deny", because this evaluation is not stored',
    remedy: "use a session with a store; evaluations that a tool handler starts cannot be parked",
  });
}

const PARKED: Verdict = Object.freeze({ kind: "parked" });

const DENIED = deny("it was denied");

/** Creates the verdict on a call that does not run. */
function deny(reason: string): Verdict {
  const advice = "Do not repeat it. Continue without it, or say what you need it for.";
  return Object.freeze({ kind: "denied", message: `The call was not made: ${reason}. ${advice}` });
}
