import { raceAbort } from "../../base/clock.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { validate } from "../../base/schema/schema.ts";
import type { Validation } from "../../base/schema/validation.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { runObserved } from "../../session/event-bus.ts";
import type { ObservedWork } from "../../session/observed-work.ts";
import { hearsEvent } from "../../session/session.ts";
import type { Scope } from "../../session/session-lock.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { ProviderTool } from "../../tools/provider-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { renderValue, ToolResult } from "../../tools/tool-result.ts";
import type { Verdict } from "../approvals/decide-approval.ts";
import { createToolContext, type Evaluation } from "../evaluation.ts";
import type { HostedOrigin, RejectedToolParams } from "../events.ts";
import type { DelegatedCall, HostedCall, HostedOutcome } from "../model-client.ts";
import { type InterruptedCalls, NEW_CALL, UNKNOWN_OUTCOME } from "../resume/interrupted-calls.ts";
import { startCalls } from "../resume/start-calls.ts";
import type { SettledCall } from "./combine-outputs.ts";
import { decideCall } from "./decide-call.ts";
import { parseHostedOutput } from "./parse-declared-output.ts";
import { type Invocation, publishInvocation } from "./publish-invocation.ts";
import { runInTransaction } from "./run-in-transaction.ts";
import { runHandler } from "./run-tool-call.ts";
import { settleStoredCall } from "./settle-stored-call.ts";

/**
 * Processes a call that the provider has run: passes its output to the tool's hook, or else to its
 * handler, if any, and publishes `ToolInvoked`. Returns the call with the resulting output.
 */
export async function runHostedCall(
  call: HostedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
  interrupted: InterruptedCalls | null,
): Promise<SettledCall> {
  const found = findTool(call, evaluation);
  const resolved = isPlain(found) ? null : await checkParams(found, evaluation);
  const { tool } = found;
  const fate = interrupted?.takeFate(call.callId) ?? NEW_CALL;
  if (fate.state === "answered") return await settleStoredCall(call, fate.invoked, tool);
  const { params, result, declared } = resolved
    ? await processOutcome(resolved, evaluation, async () => call)
    : await takeOutcome(call, evaluation);
  if (evaluation.session[hearsEvent]("ToolInvoked")) {
    const origin = createOrigin(call, evaluation.adapterName);
    await publishResult(found, evaluation, { params, result, usage, durationMs: null, origin });
  }
  const { success, message } = result;
  const output = success ? (result.value ?? declared) : declared;
  const settled = Object.freeze({ ...call, params, success, message, output });
  return { call: settled, declared, tool };
}

/**
 * Runs a call that the provider delegates to this process, and processes it like any hosted call. Returns `null` if
 * the call waits for approval.
 */
export async function runDelegatedCall(
  delegated: DelegatedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
  interrupted: InterruptedCalls | null,
): Promise<SettledCall | null> {
  const { name, kind, callId, raw } = delegated;
  const resolved = await checkParams(findTool(delegated, evaluation), evaluation);
  const fate = interrupted?.takeFate(callId) ?? NEW_CALL;
  if (fate.state === "answered") {
    return await settleStoredCall(delegated, fate.invoked, resolved.tool);
  }
  const isNew = fate.state === "new";
  const verdict = isNew ? await decideDelegated(delegated, resolved, evaluation) : null;
  if (verdict?.kind === "parked") return null;
  const known = verdict?.kind === "denied" ? toFailure(verdict.message) : null;
  if (isNew && !known) await startCalls(evaluation, [{ name, callId }]);
  const started = evaluation.clock.now();
  let outcome: HostedOutcome | null = null;
  const processed = await processOutcome(resolved, evaluation, async (context) => {
    outcome = known ?? (isNew ? await delegated.run(context) : toFailure(UNKNOWN_OUTCOME));
    return outcome;
  });
  const { params, result, declared } = processed;
  const durationMs = evaluation.clock.now() - started;
  if (evaluation.session[hearsEvent]("ToolInvoked")) {
    await publishResult(resolved, evaluation, { params, result, usage, durationMs });
  }
  const { success, message } = result;
  const output = getDelegatedOutput(outcome, result);
  const call = Object.freeze({ name, kind, callId, params, output, success, message, raw });
  return { call, declared, tool: resolved.tool };
}

/** Decides whether a call may run; `null` if it needs no approval. */
async function decideDelegated(
  { name, callId, needsApproval = false }: DelegatedCall,
  { checkedParams, call }: ResolvedCall,
  evaluation: Evaluation,
): Promise<Verdict | null> {
  if (needsApproval === false) return null;
  const params = checkedParams.ok ? checkedParams.value : call.params;
  return await decideCall({ name, callId, params, needsApproval }, evaluation);
}

/** Creates the outcome of a call that did not run, or whose outcome is not known. */
function toFailure(message: string): HostedOutcome {
  return { output: null, success: false, message };
}

/** Returns the output that the model learns of: `null` if a failing hook rolled the call back. */
function getDelegatedOutput(outcome: HostedOutcome | null, result: ToolResult<unknown>): unknown {
  if (outcome === null || (outcome.success && !result.success)) return null;
  return result.success ? (result.value ?? outcome.output) : outcome.output;
}

/** A call and its tool. */
interface FoundTool {
  readonly call: HostedCall | DelegatedCall;
  readonly hosted: HostedTool;
  /** The native or provider tool that declared the hosted tool, if any. */
  readonly tool: Tool | null;
}

interface ResolvedCall extends FoundTool {
  /** Params, validated if the tool declares them, otherwise as the provider sent them. */
  readonly checkedParams: Validation<unknown>;
}

function findTool(call: HostedCall | DelegatedCall, evaluation: Evaluation): FoundTool {
  const { guard, rendered, tools } = evaluation;
  guard.enter("tool");
  const hosted = rendered.hostedTools.find(({ name }) => name === call.name);
  if (!hosted) throw createUnknownToolError(call, evaluation);
  return { call, hosted, tool: tools.get(call.name) ?? null };
}

/** Validates the params of a call, if its tool declares them. */
async function checkParams(found: FoundTool, { guard }: Evaluation): Promise<ResolvedCall> {
  const { call, tool } = found;
  const { params } = call;
  const checkedParams: Validation<unknown> = tool?.params
    ? await raceAbort(validate(tool.params, params), guard.abortSignal)
    : { ok: true, value: params };
  return { ...found, checkedParams };
}

/** A call's params and result, and its output before the hook or handler. */
interface ProcessedOutcome {
  readonly params: unknown;
  readonly result: ToolResult<unknown>;
  readonly declared: unknown;
}

/** Whether no hook, handler or schema of the prompt reads the outcome of a call. */
function isPlain({ hosted, tool }: FoundTool): boolean {
  return tool === null && !hosted.handleProviderOutput;
}

/** Returns the outcome of a plain call. Nothing runs here, so there is nothing to roll back. */
function takeOutcome(call: HostedCall, evaluation: Evaluation): Promise<ProcessedOutcome> {
  const { params, output, success, message } = call;
  const result = { success, message, value: output };
  const outcome = { params, result, declared: output };
  const { bus } = evaluation.session;
  return runObserved(bus, toObserved(call, evaluation), async () => result).then(() => outcome);
}

/** Gets the call's outcome and passes it to the tool's hook or handler, in one transaction. */
async function processOutcome(
  resolved: ResolvedCall,
  evaluation: Evaluation,
  getOutcome: (context: ToolContext) => Promise<HostedOutcome>,
): Promise<ProcessedOutcome> {
  const { call, checkedParams, tool } = resolved;
  let declared: unknown = null;
  const touches = "run" in call ? call.touches : undefined;
  const work = (scope: Scope) =>
    runHandler(call.name, evaluation, async (resources) => {
      const { callId } = call;
      const outcome = await getOutcome(createToolContext(evaluation, { callId, resources, scope }));
      const context = createToolContext(evaluation, {
        callId,
        resources,
        scope,
        providerOutput: outcome.output,
      });
      const output = await parseHostedOutput(tool, outcome.output, call.raw);
      declared = output.ok ? output.value : outcome.output;
      return await toToolResult(resolved, { ...outcome, parsed: output }, context);
    });
  const { bus, lock } = evaluation.session;
  const result = await runObserved(bus, toObserved(call, evaluation), () =>
    lock.runNested(
      (scope) => runInTransaction(evaluation, () => work(scope), touches),
      evaluation.guard.abortSignal,
    ),
  );
  return {
    params: checkedParams.ok
      ? checkedParams.value
      : rejectParams(call.params, checkedParams.problem),
    result,
    declared,
  };
}

/** Describes a call for observers. A call that runs here is not hosted. */
function toObserved(call: HostedCall | DelegatedCall, { session }: Evaluation): ObservedWork {
  const { name, callId, kind } = call;
  const hostedKind = "run" in call ? null : kind;
  return { type: "call", sessionId: session.id, name, callId, hostedKind };
}

/** The outcome of a call, and its output parsed by the tool's result schema. */
interface ParsedOutcome extends HostedOutcome {
  readonly parsed: Validation<unknown>;
}

/** Returns the result of the hook, or else of the handler, or else the outcome itself. */
async function toToolResult(
  { hosted, tool, checkedParams }: ResolvedCall,
  { output: rawOutput, parsed: output, success, message }: ParsedOutcome,
  context: ToolContext,
): Promise<ToolResult<unknown>> {
  if (rawOutput === null) return { success, message, value: null };
  const hook = hosted.handleProviderOutput;
  const handler = tool instanceof ProviderTool ? tool.handler : null;
  if (!output.ok) {
    const problem = `The provider's output does not match the tool's result schema: ${output.problem}`;
    return ToolResult.error(problem, rawOutput);
  }
  if (hook) return await hook(output.value, context);
  if (!checkedParams.ok)
    return ToolResult.error(
      `The call's params do not match the tool's schema: ${checkedParams.problem}`,
      output.value,
    );
  if (handler) return await handler(tool?.params ? checkedParams.value : null, context);
  return { success, message, value: output.value };
}

async function publishResult(
  { call: { name, callId }, tool }: FoundTool,
  evaluation: Evaluation,
  invocation: Pick<Invocation, "params" | "result" | "usage" | "durationMs" | "origin">,
): Promise<void> {
  const renderedOutput = renderValue(invocation.result.value, tool?.render);
  const kept = evaluation.isDurable ? await evaluation.keepFiles() : null;
  publishInvocation(evaluation, { name, callId, ...invocation, renderedOutput }, kept);
}

function rejectParams(given: unknown, problem: string): RejectedToolParams {
  return Object.freeze({ rejected: true, given, problem });
}

function createOrigin({ kind, containerId }: HostedCall, provider: string): HostedOrigin {
  const origin = { execution: "provider", provider, capability: kind } as const;
  return Object.freeze(containerId === undefined ? origin : { ...origin, containerId });
}

function createUnknownToolError(
  call: HostedCall | DelegatedCall,
  { rendered, prompt }: Evaluation,
): PromptEvaluationError {
  const names = rendered.hostedTools.map(({ name }) => name);
  const available = names.length > 0 ? `It has ${quoteNames(names)}.` : "It has no hosted tools.";
  const message = `The provider ran "${call.name}" (${call.kind}), which is not a hosted tool of the prompt. ${available}`;
  return new PromptEvaluationError(message, {
    promptName: prompt.name,
    phase: "tool",
    providerPayload: call.raw,
  });
}
