import { orAborted } from "../base/abort.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { type Schema, type Validation, validate } from "../base/schema.ts";
import { list } from "../base/show.ts";
import type { TokenUsage } from "../base/usage.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { renderValue, ToolResult } from "../tools/tool-result.ts";
import { announce } from "./announce.ts";
import { contextOf, type Evaluation } from "./evaluation.ts";
import type { HostedOrigin, RejectedToolParams } from "./events.ts";
import type { HostedCall } from "./model-client.ts";
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
  const { session, guard, rendered } = evaluation;
  guard.enter("tool");
  const hosted = rendered.hostedTools.find(({ name }) => name === call.name);
  if (!hosted) throw unknownHosted(call, evaluation);
  const tool = evaluation.tools.get(call.name) ?? null;
  const fit = await orAborted(fitted(tool?.params ?? null, call.params), guard.signal);
  const params = fit.ok ? fit.value : rejected(call, fit.problem);
  const result = await session.lock.nest(
    (scope) =>
      inTransaction(evaluation, () =>
        runHandler(call.name, evaluation, async (resources) => {
          const context = contextOf(evaluation, { resources, scope, providerOutput: call.output });
          return await resultOf({ call, hosted, tool, fit }, context);
        }),
      ),
    guard.signal,
  );
  const renderedOutput = renderValue(result.value, tool?.render);
  const { name, callId } = call;
  const origin = originOf(call, evaluation.adapterName);
  const said = { name, callId, params, result, renderedOutput };
  announce(evaluation, { type: "ToolInvoked", ...said, usage, durationMs: null, origin });
  const { success, message } = result;
  const output = success && result.value !== null ? result.value : call.output;
  return Object.freeze({ ...call, params, success, message, output });
}

interface KnownCall {
  readonly call: HostedCall;
  readonly hosted: HostedTool;
  /** The native or provider tool that declared it, if one did. */
  readonly tool: Tool | null;
  /** As declared where the tool declares params, as the provider gave them where it does not. */
  readonly fit: Validation<unknown>;
}

async function resultOf(
  { call, hosted, tool, fit }: KnownCall,
  context: ToolContext,
): Promise<ToolResult<unknown>> {
  const { success, message } = call;
  if (call.output === null) return { success, message, value: null };
  const output = await fitted(tool?.result ?? null, call.output);
  const hook = hosted.handleProviderOutput;
  const handler = tool instanceof ProviderTool ? tool.handler : null;
  if (!output.ok) {
    const problem = `What the provider gave back does not fit the tool's result: ${output.problem}`;
    return ToolResult.error(problem, call.output);
  }
  if (hook) return await hook(output.value, context);
  if (!fit.ok) return ToolResult.error(`The call does not fit: ${fit.problem}`, output.value);
  if (handler) return await handler(tool?.params ? fit.value : null, context);
  return { success, message, value: output.value };
}

async function fitted(schema: Schema | null, value: unknown): Promise<Validation<unknown>> {
  return schema ? await validate(schema, value) : { ok: true, value };
}

function rejected({ params: given }: HostedCall, problem: string): RejectedToolParams {
  return Object.freeze({ rejected: true, given, problem });
}

function originOf({ kind, containerId }: HostedCall, provider: string): HostedOrigin {
  const origin = { execution: "provider", provider, capability: kind } as const;
  return Object.freeze(containerId === undefined ? origin : { ...origin, containerId });
}

function unknownHosted(call: HostedCall, { rendered, prompt }: Evaluation): PromptEvaluationError {
  const there = list(rendered.hostedTools.map(({ name }) => name)) || "none";
  const message = `The provider ran "${call.name}" (${call.kind}), which the prompt does not have: there are ${there}`;
  return new PromptEvaluationError(message, {
    promptName: prompt.name,
    phase: "tool",
    providerPayload: call.raw,
  });
}
