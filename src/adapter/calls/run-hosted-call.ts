import { raceAbort } from "../../base/clock.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { quoteNames } from "../../base/quote-value.ts";
import { type Schema, validate } from "../../base/schema/schema.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { Validation } from "../../base/validation.ts";
import type { Scope } from "../../session/session-lock.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { ProviderTool } from "../../tools/provider-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { renderValue, ToolResult } from "../../tools/tool-result.ts";
import { createToolContext, type Evaluation } from "../evaluation.ts";
import type { HostedOrigin, RejectedToolParams, ToolInvoked } from "../events.ts";
import { publishEvent } from "../events.ts";
import type { DelegatedCall, HostedCall, HostedOutcome } from "../model-client.ts";
import { runInTransaction } from "./run-in-transaction.ts";
import { runHandler } from "./run-tool-call.ts";

/**
 * Processes a call that the provider has run: passes its output to the tool's hook, or else to its
 * handler, if any, and publishes `ToolInvoked`. Returns the call with the resulting output.
 */
export async function runHostedCall(
  call: HostedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<HostedCall> {
  const resolved = await resolveCall(call, evaluation);
  const { params, result } = await processOutcome(resolved, evaluation, async () => call);
  const origin = createOrigin(call, evaluation.adapterName);
  publishInvocation(resolved, evaluation, { params, result, usage, durationMs: null, origin });
  const { success, message } = result;
  const output = success && result.value !== null ? result.value : call.output;
  return Object.freeze({ ...call, params, success, message, output });
}

/**
 * Runs a call that the provider delegates to this process, and processes it like any hosted call.
 */
export async function runDelegatedCall(
  delegated: DelegatedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<HostedCall> {
  const { name, kind, callId, raw } = delegated;
  const resolved = await resolveCall(delegated, evaluation);
  const started = evaluation.clock.now();
  let outcome: HostedOutcome | null = null;
  const { params, result } = await processOutcome(resolved, evaluation, async (context) => {
    outcome = await delegated.run(context);
    return outcome;
  });
  const durationMs = evaluation.clock.now() - started;
  publishInvocation(resolved, evaluation, { params, result, usage, durationMs });
  const { success, message } = result;
  const output = getDelegatedOutput(outcome, result);
  return Object.freeze({ name, kind, callId, params, output, success, message, raw });
}

/** Returns the output that the model learns of: `null` if a failing hook rolled the call back. */
function getDelegatedOutput(outcome: HostedOutcome | null, result: ToolResult<unknown>): unknown {
  if (outcome === null || (outcome.success && !result.success)) return null;
  return result.success ? (result.value ?? outcome.output) : outcome.output;
}

interface ResolvedCall {
  readonly call: HostedCall | DelegatedCall;
  readonly hosted: HostedTool;
  /** The native or provider tool that declared the hosted tool, if any. */
  readonly tool: Tool | null;
  /** Params, validated if the tool declares them, otherwise as the provider sent them. */
  readonly checkedParams: Validation<unknown>;
}

async function resolveCall(
  call: HostedCall | DelegatedCall,
  evaluation: Evaluation,
): Promise<ResolvedCall> {
  const { guard, rendered } = evaluation;
  guard.enter("tool");
  const hosted = rendered.hostedTools.find(({ name }) => name === call.name);
  if (!hosted) throw createUnknownToolError(call, evaluation);
  const tool = evaluation.tools.get(call.name) ?? null;
  const checkedParams = await raceAbort(
    validateIfDeclared(tool?.params ?? null, call.params),
    guard.signal,
  );
  return { call, hosted, tool, checkedParams };
}

/** Gets the call's outcome and passes it to the tool's hook or handler, in one transaction. */
async function processOutcome(
  resolved: ResolvedCall,
  evaluation: Evaluation,
  getOutcome: (context: ToolContext) => Promise<HostedOutcome>,
): Promise<{ readonly params: unknown; readonly result: ToolResult<unknown> }> {
  const { call, checkedParams } = resolved;
  const touches = "run" in call ? call.touches : undefined;
  const work = (scope: Scope) =>
    runHandler(call.name, evaluation, async (resources) => {
      const outcome = await getOutcome(createToolContext(evaluation, { resources, scope }));
      const context = createToolContext(evaluation, {
        resources,
        scope,
        providerOutput: outcome.output,
      });
      return await toToolResult(resolved, outcome, context);
    });
  const result = await evaluation.session.lock.runNested(
    (scope) => runInTransaction(evaluation, () => work(scope), touches),
    evaluation.guard.signal,
  );
  return {
    params: checkedParams.ok
      ? checkedParams.value
      : rejectParams(call.params, checkedParams.problem),
    result,
  };
}

/** Returns the result of the hook, or else of the handler, or else the outcome itself. */
async function toToolResult(
  { call, hosted, tool, checkedParams }: ResolvedCall,
  { output: rawOutput, success, message }: HostedOutcome,
  context: ToolContext,
): Promise<ToolResult<unknown>> {
  if (rawOutput === null) return { success, message, value: null };
  const output = await validateIfDeclared(
    tool?.result ?? null,
    selectDeclaredForm(tool, rawOutput, call.raw),
  );
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

/**
 * Returns the form of the output that a native tool declares: the parsed output, the provider's
 * item, or the item as `payload`. The first form with all fields that the result schema requires is
 * used.
 */
function selectDeclaredForm(tool: Tool | null, output: unknown, raw: object): unknown {
  if (!(tool instanceof NativeTool)) return output;
  const required: unknown = tool.resultSchema?.["required"];
  const fields = Array.isArray(required) ? required : [];
  const forms: readonly unknown[] = [output, raw, { payload: raw }];
  return (
    forms.find((form) => fields.every((field) => Object.hasOwn(Object(form), field))) ?? output
  );
}

async function validateIfDeclared(
  schema: Schema | null,
  value: unknown,
): Promise<Validation<unknown>> {
  return schema ? await validate(schema, value) : { ok: true, value };
}

function publishInvocation(
  { call: { name, callId }, tool }: ResolvedCall,
  evaluation: Evaluation,
  invocation: Pick<ToolInvoked, "params" | "result" | "usage" | "durationMs" | "origin">,
): void {
  const renderedOutput = renderValue(invocation.result.value, tool?.render);
  publishEvent(evaluation, { type: "ToolInvoked", name, callId, ...invocation, renderedOutput });
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
