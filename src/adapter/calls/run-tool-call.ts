import { raceAbort } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { quoteNames, quoteValue } from "../../base/quote-value.ts";
import { validate } from "../../base/schema/schema.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import type { Scope } from "../../session/session-lock.ts";
import { runsAtProvider } from "../../tools/as-hosted-tool.ts";
import { findDenial } from "../../tools/policy.ts";
import type { Resources } from "../../tools/resources.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolContext, ToolHandler } from "../../tools/tool-context.ts";
import { isToolResult, ToolResult } from "../../tools/tool-result.ts";
import { createToolContext, type Evaluation } from "../evaluation.ts";
import type { RejectedToolParams } from "../events.ts";
import type { ToolCall } from "../model-client.ts";
import { UNKNOWN_OUTCOME } from "../resume/interrupted-calls.ts";

/** A checked call: ready to run, or rejected with a result for the model. */
export type PreparedCall = ReadyCall | RejectedCall;

/** A call that is ready to run. */
export interface ReadyCall {
  readonly kind: "ready";
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly handler: ToolHandler<unknown, unknown>;
  readonly params: unknown;
}

/** A call that was rejected or denied, with the result that the model reads. */
export interface RejectedCall {
  readonly kind: "refused";
  readonly call: ToolCall;
  /** The validated params of a call that was denied, or why the params were rejected. */
  readonly params: unknown;
  readonly result: ToolResult<never>;
}

/**
 * Checks a call. A mistake of the model becomes a result that tells the model what to do instead.
 */
export async function prepareCall(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
): Promise<PreparedCall> {
  const tool = tools.get(call.name);
  const handler = tool && !runsAtProvider(tool) ? tool.handler : null;
  if (!tool || !handler) return rejectCall(call, describeUnknownTool(call.name, tools));
  const args = parseJson(call.arguments.trim() === "" ? "{}" : call.arguments);
  if (!args.ok) return rejectCall(call, `The arguments are not JSON: ${args.problem}`);
  if (!isPlainObject(args.value)) {
    return rejectCall(call, `The arguments must be a JSON object, not ${quoteValue(args.value)}`);
  }
  if (tool.params) {
    const params = await validate(tool.params, args.value);
    if (!params.ok)
      return rejectCall(call, `The arguments do not fit the tool's parameters: ${params.problem}`);
    return { kind: "ready", call, tool, handler, params: params.value };
  }
  const extra = Object.keys(args.value);
  return extra.length === 0
    ? { kind: "ready", call, tool, handler, params: null }
    : rejectCall(call, `The tool takes no arguments, but got ${quoteNames(extra)}`);
}

/** Runs a call's handler. Its failures become results. Only cancellation throws, immediately. */
export async function runToolCall(
  { call, tool, handler, params }: ReadyCall,
  evaluation: Evaluation,
  scope: Scope,
  { isLost }: { readonly isLost: boolean },
): Promise<ToolResult<unknown>> {
  const policies = evaluation.rendered.policies.get(call.name) ?? [];
  return await runHandler(call.name, evaluation, async (resources) => {
    const context = createToolContext(evaluation, { callId: call.callId, resources, scope });
    const found = isLost ? await reconcileCall(tool, params, context) : null;
    if (found) return found;
    const policyCall = { tool: call.name, params };
    const denial = policies.length > 0 ? await findDenial(policies, policyCall, context) : null;
    return denial === null ? await handler(params, context) : ToolResult.error(denial);
  });
}

/** Returns the result of a call that was started before its process was lost; `null` to run it. */
async function reconcileCall(
  { reconcile }: Tool,
  params: unknown,
  context: ToolContext,
): Promise<ToolResult<unknown> | null> {
  if (!reconcile) return ToolResult.error(UNKNOWN_OUTCOME);
  try {
    const outcome: unknown = await reconcile(params, context);
    if (outcome === "not-started") return null;
    if (isToolResult(outcome)) return outcome;
    if (outcome === "unknown") return ToolResult.error(UNKNOWN_OUTCOME);
    const problem = `The tool's reconcile returned ${quoteValue(outcome)} instead of a tool result, "not-started" or "unknown".`;
    return ToolResult.error(`${UNKNOWN_OUTCOME} ${problem}`);
  } catch (error) {
    context.signal.throwIfAborted();
    const problem = `Looking for its effect failed: ${getErrorMessage(error)}`;
    return ToolResult.error(`${UNKNOWN_OUTCOME} ${problem}`);
  }
}

/** Runs user code for one call, with the resources of that call. */
export async function runHandler(
  name: string,
  { resources, guard: { signal, abortSignal } }: Evaluation,
  work: (resources: Resources) => Promise<unknown>,
): Promise<ToolResult<unknown>> {
  try {
    return await raceAbort(withCallResources(), abortSignal);
  } catch (error) {
    signal.throwIfAborted();
    return ToolResult.error(`Tool "${name}" failed: ${getErrorMessage(error)}`);
  }

  async function withCallResources(): Promise<ToolResult<unknown>> {
    const ofCall = resources.forCall();
    let result: unknown;
    try {
      result = await work(ofCall);
    } catch (error) {
      await ofCall.close()?.catch(() => {}); // the handler's own error is reported
      throw error;
    }
    await ofCall.close();
    if (isToolResult(result)) return result;
    return ToolResult.error(
      `Tool "${name}" returned ${quoteValue(result)} instead of a tool result. Its handler must return ToolResult.ok(…) or ToolResult.error(…).`,
    );
  }
}

function rejectCall(call: ToolCall, problem: string): RejectedCall {
  const params: RejectedToolParams = Object.freeze({
    rejected: true,
    given: call.arguments,
    problem,
  });
  return { kind: "refused", call, params, result: ToolResult.error(problem) };
}

function describeUnknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const names = [...tools.values()]
    .filter((tool) => !runsAtProvider(tool))
    .map((tool) => tool.name);
  const suggested = suggestSpelling(name, names);
  if (suggested) return `There is no tool named "${name}". Did you mean "${suggested}"?`;
  const available =
    names.length > 0 ? `Available tools: ${quoteNames(names)}.` : "No tools are available.";
  return `There is no tool named "${name}". ${available}`;
}
