import { raceAbort } from "../../base/clock.ts";
import { digestText } from "../../base/digest-text.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { findDenial } from "../../tools/policy.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import type { ApprovableCall } from "../approvals/approvable-call.ts";
import { APPROVED, decideApproval, type Verdict } from "../approvals/decide-approval.ts";
import { createToolContext, type Evaluation } from "../evaluation.ts";

/**
 * Decides whether a call may run. Call it before the call is recorded as started. A call that is parked is added to
 * the evaluation's parked calls; a call that its policies deny is not shown to a person.
 */
export async function decideCall(call: ApprovableCall, evaluation: Evaluation): Promise<Verdict> {
  const { session, resources, guard } = evaluation;
  const ofCall = resources.forCall();
  try {
    return await session.lock.runNested(async (scope) => {
      const { callId } = call;
      const context = createToolContext(evaluation, { callId, resources: ofCall, scope });
      return await raceAbort(decideInContext(call, evaluation, context), guard.signal);
    }, guard.signal);
  } finally {
    await ofCall[Symbol.asyncDispose]();
  }
}

async function decideInContext(
  call: ApprovableCall,
  evaluation: Evaluation,
  context: ToolContext,
): Promise<Verdict> {
  const { name, callId, params } = call;
  const { prompt, session, guard, isDurable, parked } = evaluation;
  const early = await findEarlyVerdict(call, evaluation, context);
  if (early) return early;
  const key = call.isRepeated ? await createRepeatedKey(call, evaluation) : context.callKey;
  const request = Object.freeze({
    key,
    callId,
    name,
    params,
    promptName: prompt.name,
    sessionId: session.id,
  });
  const settings = { ...selectApproval(call, key, evaluation), isDurable };
  const verdict = await decideApproval(request, settings, guard.signal);
  if (verdict.kind === "parked") parked.push(request);
  return verdict;
}

/** Creates the key of a call that is identified by its params, because the model makes it again. */
async function createRepeatedKey(
  { name, params }: ApprovableCall,
  { session }: Evaluation,
): Promise<string> {
  return `${session.id}:${name}:${await digestText(JSON.stringify(params))}`;
}

/** Leaves out decisions that were already used: each counts for one call. */
function selectApproval(
  { isRepeated = false }: ApprovableCall,
  key: string,
  { approval, usedApprovals }: Evaluation,
): Evaluation["approval"] {
  if (!isRepeated) return approval;
  const isUsed = usedApprovals.has(key);
  usedApprovals.add(key);
  return isUsed ? { approve: approval.approve } : approval;
}

/** Returns the verdict on a call that a policy denies, or that needs no approval; `null` if it needs approval. */
async function findEarlyVerdict(
  { name, params, needsApproval }: ApprovableCall,
  { rendered, guard }: Evaluation,
  context: ToolContext,
): Promise<Verdict | null> {
  let step = "checking its policies";
  try {
    const policies = rendered.policies.get(name) ?? [];
    const denial = await findDenial(policies, { tool: name, params }, context);
    if (denial !== null) return { kind: "denied", message: denial };
    step = "finding out whether it needs approval";
    const isNeeded =
      typeof needsApproval === "boolean" ? needsApproval : await needsApproval(params, context);
    // Anything but `false` is a need: a function that returns nothing must not approve the call.
    return isNeeded === false ? APPROVED : null;
  } catch (error) {
    guard.signal.throwIfAborted();
    const problem = `${step} failed: ${getErrorMessage(error)}`;
    return { kind: "denied", message: `The call was not made: ${problem}` };
  }
}
