import { orAborted } from "../../base/clock.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { type Schema, validate } from "../../base/schema/schema.ts";
import { list } from "../../base/show.ts";
import type { TokenUsage } from "../../base/usage.ts";
import type { Validation } from "../../base/validation.ts";
import type { Scope } from "../../session/session-lock.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { ProviderTool } from "../../tools/provider-tool.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { renderValue, ToolResult } from "../../tools/tool-result.ts";
import { contextOf, type Evaluation } from "../evaluation.ts";
import type { HostedOrigin, RejectedToolParams, ToolInvoked } from "../events.ts";
import { announce } from "../events.ts";
import type { AskedCall, HostedCall, HostedOutcome } from "../model-client.ts";
import { runHandler } from "./run-tool-call.ts";
import { inTransaction } from "./transaction.ts";

/**
 * Takes in a call that the provider has run: the tool's hook, else its handler, else nothing looks
 * at what came back; then the same event as for any tool. Gives back the call as it is now known.
 */
export async function runHostedCall(
  call: HostedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<HostedCall> {
  const known = await knownCall(call, evaluation);
  const { params, result } = await takeIn(known, evaluation, async () => call);
  const origin = originOf(call, evaluation.adapterName);
  tell(known, evaluation, { params, result, usage, durationMs: null, origin });
  const { success, message } = result;
  const output = success && result.value !== null ? result.value : call.output;
  return Object.freeze({ ...call, params, success, message, output });
}

/** Runs a call here that the provider asks of a hosted tool, and takes it in like any other. */
export async function runAskedCall(
  asked: AskedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<HostedCall> {
  const { name, kind, callId, raw } = asked;
  const known = await knownCall(asked, evaluation);
  const started = evaluation.clock.now();
  let outcome: HostedOutcome | null = null;
  const { params, result } = await takeIn(known, evaluation, async (context) => {
    outcome = await asked.run(context);
    return outcome;
  });
  const durationMs = evaluation.clock.now() - started;
  tell(known, evaluation, { params, result, usage, durationMs });
  const { success, message } = result;
  const output = performedOutput(outcome, result);
  return Object.freeze({ name, kind, callId, params, output, success, message, raw });
}

/** What was done stays known unless it was undone: a hook that fails sets the call back. */
function performedOutput(outcome: HostedOutcome | null, result: ToolResult<unknown>): unknown {
  if (outcome === null || (outcome.success && !result.success)) return null;
  return result.success ? (result.value ?? outcome.output) : outcome.output;
}

interface KnownCall {
  readonly call: HostedCall | AskedCall;
  readonly hosted: HostedTool;
  /** The native or provider tool that declared it, if one did. */
  readonly tool: Tool | null;
  /** As declared where the tool declares params, as the provider gave them where it does not. */
  readonly fit: Validation<unknown>;
}

async function knownCall(call: HostedCall | AskedCall, evaluation: Evaluation): Promise<KnownCall> {
  const { guard, rendered } = evaluation;
  guard.enter("tool");
  const hosted = rendered.hostedTools.find(({ name }) => name === call.name);
  if (!hosted) throw unknownHosted(call, evaluation);
  const tool = evaluation.tools.get(call.name) ?? null;
  const fit = await orAborted(fitted(tool?.params ?? null, call.params), guard.signal);
  return { call, hosted, tool, fit };
}

/** What the call came to, and what its tool makes of that, inside one transaction. */
async function takeIn(
  known: KnownCall,
  evaluation: Evaluation,
  outcomeOf: (context: ToolContext) => Promise<HostedOutcome>,
): Promise<{ readonly params: unknown; readonly result: ToolResult<unknown> }> {
  const { call, fit } = known;
  const touches = "run" in call ? call.touches : undefined;
  const work = (scope: Scope) =>
    runHandler(call.name, evaluation, async (resources) => {
      const outcome = await outcomeOf(contextOf(evaluation, { resources, scope }));
      const context = contextOf(evaluation, { resources, scope, providerOutput: outcome.output });
      return await resultOf(known, outcome, context);
    });
  const result = await evaluation.session.lock.nest(
    (scope) => inTransaction(evaluation, () => work(scope), touches),
    evaluation.guard.signal,
  );
  return { params: fit.ok ? fit.value : rejected(call.params, fit.problem), result };
}

/** The hook, else the handler, else what came back as it is. */
async function resultOf(
  { call, hosted, tool, fit }: KnownCall,
  { output: given, success, message }: HostedOutcome,
  context: ToolContext,
): Promise<ToolResult<unknown>> {
  if (given === null) return { success, message, value: null };
  const output = await fitted(tool?.result ?? null, declaredForm(tool, given, call.raw));
  const hook = hosted.handleProviderOutput;
  const handler = tool instanceof ProviderTool ? tool.handler : null;
  if (!output.ok) {
    const problem = `What the provider gave back does not fit the tool's result: ${output.problem}`;
    return ToolResult.error(problem, given);
  }
  if (hook) return await hook(output.value, context);
  if (!fit.ok) return ToolResult.error(`The call does not fit: ${fit.problem}`, output.value);
  if (handler) return await handler(tool?.params ? fit.value : null, context);
  return { success, message, value: output.value };
}

/**
 * A native tool may declare our reading of what came back, the provider's own item, or that as
 * `payload`: what is held to its schema is the first that has all fields the schema requires.
 */
function declaredForm(tool: Tool | null, output: unknown, raw: object): unknown {
  if (!(tool instanceof NativeTool)) return output;
  const required: unknown = tool.resultSchema?.["required"];
  const fields = Array.isArray(required) ? required : [];
  const forms: readonly unknown[] = [output, raw, { payload: raw }];
  return (
    forms.find((form) => fields.every((field) => Object.hasOwn(Object(form), field))) ?? output
  );
}

async function fitted(schema: Schema | null, value: unknown): Promise<Validation<unknown>> {
  return schema ? await validate(schema, value) : { ok: true, value };
}

function tell(
  { call: { name, callId }, tool }: KnownCall,
  evaluation: Evaluation,
  said: Pick<ToolInvoked, "params" | "result" | "usage" | "durationMs" | "origin">,
): void {
  const renderedOutput = renderValue(said.result.value, tool?.render);
  announce(evaluation, { type: "ToolInvoked", name, callId, ...said, renderedOutput });
}

function rejected(given: unknown, problem: string): RejectedToolParams {
  return Object.freeze({ rejected: true, given, problem });
}

function originOf({ kind, containerId }: HostedCall, provider: string): HostedOrigin {
  const origin = { execution: "provider", provider, capability: kind } as const;
  return Object.freeze(containerId === undefined ? origin : { ...origin, containerId });
}

function unknownHosted(
  call: HostedCall | AskedCall,
  { rendered, prompt }: Evaluation,
): PromptEvaluationError {
  const there = list(rendered.hostedTools.map(({ name }) => name)) || "none";
  const message = `The provider ran "${call.name}" (${call.kind}), which the prompt does not have: there are ${there}`;
  return new PromptEvaluationError(message, {
    promptName: prompt.name,
    phase: "tool",
    providerPayload: call.raw,
  });
}
