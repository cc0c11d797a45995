import { runFencedCall } from "../../base/call-fence.ts";
import { raceAbort } from "../../base/clock.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { runObserved } from "../../session/event-bus.ts";
import type { Scope } from "../../session/session-lock.ts";
import { renderValue, ToolResult, toModelText } from "../../tools/tool-result.ts";
import type { Evaluation } from "../evaluation.ts";
import type { ToolAnswer, ToolCall } from "../model-client.ts";
import {
  type CallFate,
  type InterruptedCalls,
  NEW_CALL,
  UNKNOWN_OUTCOME,
} from "../resume/interrupted-calls.ts";
import { startCalls } from "../resume/start-calls.ts";
import { collectFeedback } from "./collect-feedback.ts";
import { decideCall } from "./decide-call.ts";
import { publishInvocation } from "./publish-invocation.ts";
import { runInTransaction } from "./run-in-transaction.ts";
import { type PreparedCall, prepareCall, runToolCall } from "./run-tool-call.ts";

/**
 * Runs a turn's calls in order, with adjacent `parallel` calls running concurrently, and returns
 * their results. `interrupted` knows their outcomes before the evaluation was resumed.
 */
export async function runToolCalls(
  calls: readonly ToolCall[],
  evaluation: Evaluation,
  usage: TokenUsage,
  interrupted: InterruptedCalls | null,
): Promise<readonly ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  const preparing = Promise.all(calls.map((call) => prepareCall(call, evaluation.tools)));
  const prepared = await raceAbort(preparing, evaluation.guard.abortSignal);
  const pending = prepared.map((call) => ({
    prepared: call,
    fate: interrupted?.takeFate(call.call.callId) ?? NEW_CALL,
  }));
  for (const group of groupCalls(pending)) {
    evaluation.guard.enter("tool");
    const decided = group.some(needsDecision) ? await decideGroup(group, evaluation) : group;
    for (const done of await runGroup(decided, evaluation)) {
      answers.push(await createAnswer(done, evaluation, usage));
    }
  }
  return answers;
}

/** A call to run, and its earlier outcome. */
interface PendingCall {
  readonly prepared: PreparedCall;
  readonly fate: CallFate;
}

interface CompletedCall extends PendingCall {
  readonly result: ToolResult<unknown>;
  readonly durationMs: number;
}

/** Groups adjacent calls of parallel tools. Any other call gets its own group. */
function groupCalls(pending: readonly PendingCall[]): readonly (readonly PendingCall[])[] {
  const groups: PendingCall[][] = [];
  for (const call of pending) {
    const last = groups.at(-1);
    if (last && isParallel(call) && last.every(isParallel)) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

function isParallel({ prepared }: PendingCall): boolean {
  return prepared.kind === "ready" && prepared.tool.parallel;
}

/** Whether a call may need approval. A call that was started before has it. */
function needsDecision({ prepared, fate }: PendingCall): boolean {
  if (prepared.kind !== "ready" || fate.state !== "new") return false;
  return prepared.tool.needsApproval !== false;
}

/** Decides about the calls of a group. Returns those that do not wait for approval. */
async function decideGroup(
  group: readonly PendingCall[],
  evaluation: Evaluation,
): Promise<readonly PendingCall[]> {
  const decided = await Promise.all(
    group.map(async (pending): Promise<PendingCall | null> => {
      const { prepared } = pending;
      if (prepared.kind === "refused" || !needsDecision(pending)) return pending;
      const { call, params, tool } = prepared;
      const { needsApproval } = tool;
      const verdict = await decideCall({ ...call, params, needsApproval }, evaluation);
      if (verdict.kind === "parked") return null;
      if (verdict.kind === "approved") return pending;
      const result = ToolResult.error(verdict.message);
      return { ...pending, prepared: { kind: "refused", call, params, result } };
    }),
  );
  return decided.filter((pending) => pending !== null);
}

async function runGroup(
  group: readonly PendingCall[],
  evaluation: Evaluation,
): Promise<readonly CompletedCall[]> {
  const { session, guard, clock, isDurable } = evaluation;
  if (isDurable) await startCalls(evaluation, listStartingCalls(group));
  const runCall = async (pending: PendingCall, scope: Scope) => {
    const started = clock.now();
    const result = await runPendingCall(pending, evaluation, scope);
    return { ...pending, result, durationMs: clock.now() - started };
  };
  const [only, ...others] = group;
  if (only && others.length === 0) {
    return [await session.lock.runNested((scope) => runCall(only, scope), guard.abortSignal)];
  }
  return await session.lock.runNested(
    (scope) => Promise.all(group.map((pending) => runCall(pending, scope))),
    guard.abortSignal,
  );
}

/** Lists the calls of `once` tools that were not started before. */
function listStartingCalls(group: readonly PendingCall[]): readonly ToolCall[] {
  return group.flatMap(({ prepared, fate }) => {
    const isOnce = prepared.kind === "ready" && prepared.tool.effects === "once";
    return isOnce && fate.state === "new" ? [prepared.call] : [];
  });
}

/** Runs a call, unless its outcome is known. */
function runPendingCall(
  { prepared, fate }: PendingCall,
  evaluation: Evaluation,
  scope: Scope,
): Promise<ToolResult<unknown>> | ToolResult<unknown> {
  if (fate.state === "answered") return fate.invoked.result;
  const isStarted = fate.state === "started";
  // A call that was started and no longer has a tool, or other params, may have taken effect.
  if (prepared.kind === "refused") {
    return isStarted ? ToolResult.error(UNKNOWN_OUTCOME) : prepared.result;
  }
  const isLost = isStarted && prepared.tool.effects === "once";
  const { id: sessionId, bus } = evaluation.session;
  const { name, callId } = prepared.call;
  const run = () => runToolCall(prepared, evaluation, scope, { isLost });
  return runObserved(bus, { type: "call", sessionId, name, callId, hostedKind: null }, () =>
    prepared.tool.parallel ? runFencedCall(run) : runInTransaction(evaluation, run),
  );
}

/** Publishes the event and returns the text for the model: the result, followed by feedback. */
async function createAnswer(
  { prepared, fate, result, durationMs }: CompletedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<ToolAnswer> {
  const { call, params } = prepared;
  const { name, callId } = call;
  const isStored = fate.state === "answered";
  const render = prepared.kind === "ready" ? prepared.tool.render : null;
  const renderedOutput = isStored ? fate.invoked.renderedOutput : renderValue(result.value, render);
  if (!isStored) {
    const invocation = { name, callId, params, result, renderedOutput };
    const kept = evaluation.isDurable ? await evaluation.keepFiles() : null;
    publishInvocation(evaluation, { ...invocation, usage, durationMs }, kept);
  }
  const hasFeedback = evaluation.prompt.template.feedback.length > 0;
  const feedback = hasFeedback ? await collectFeedback(evaluation) : "";
  const text = toModelText(result, renderedOutput);
  return { call, result, text: feedback === "" ? text : `${text}\n\n${feedback}` };
}
