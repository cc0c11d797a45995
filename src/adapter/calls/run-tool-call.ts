import { orAborted } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { parseJson } from "../../base/json.ts";
import { suggestion } from "../../base/nearest.ts";
import { validate } from "../../base/schema/schema.ts";
import { list, show } from "../../base/show.ts";
import type { Scope } from "../../session/session-lock.ts";
import { deniedBy } from "../../tools/policy.ts";
import { runsAtProvider } from "../../tools/projected-tool.ts";
import type { Resources } from "../../tools/resources.ts";
import type { Tool } from "../../tools/tool.ts";
import type { ToolHandler } from "../../tools/tool-context.ts";
import { isToolResult, ToolResult } from "../../tools/tool-result.ts";
import { contextOf, type Evaluation } from "../evaluation.ts";
import type { RejectedToolParams } from "../events.ts";
import type { ToolCall } from "../model-client.ts";

/** A call, looked at before anything runs: what will run, or why nothing will. */
export type PreparedCall = ReadyCall | RefusedCall;

export interface ReadyCall {
  readonly kind: "ready";
  readonly call: ToolCall;
  readonly tool: Tool;
  readonly handler: ToolHandler<unknown, unknown>;
  readonly params: unknown;
}

export interface RefusedCall {
  readonly kind: "refused";
  readonly call: ToolCall;
  readonly params: RejectedToolParams;
  readonly result: ToolResult<never>;
}

/** A model's mistake is a result that tells it what to do instead. */
export async function prepareCall(
  call: ToolCall,
  tools: ReadonlyMap<string, Tool>,
): Promise<PreparedCall> {
  const tool = tools.get(call.name);
  const handler = tool && !runsAtProvider(tool) ? tool.handler : null;
  if (!tool || !handler) return refused(call, unknownTool(call.name, tools));
  const args = parseJson(call.arguments.trim() === "" ? "{}" : call.arguments);
  if (!args.ok) return refused(call, `The arguments are not JSON: ${args.problem}`);
  if (!isPlainObject(args.value)) {
    return refused(call, `The arguments must be a JSON object, not ${show(args.value)}`);
  }
  if (tool.params) {
    const params = await validate(tool.params, args.value);
    if (!params.ok) return refused(call, `The arguments do not fit: ${params.problem}`);
    return { kind: "ready", call, tool, handler, params: params.value };
  }
  const extra = Object.keys(args.value);
  return extra.length === 0
    ? { kind: "ready", call, tool, handler, params: null }
    : refused(call, `The tool takes no arguments, and was given ${list(extra)}`);
}

/** Runs a handler. Its failures are results too; only cancellation throws, at once. */
export async function runCall(
  { call, handler, params }: ReadyCall,
  evaluation: Evaluation,
  scope: Scope,
): Promise<ToolResult<unknown>> {
  const policies = evaluation.rendered.policies.get(call.name) ?? [];
  return await runHandler(call.name, evaluation, async (resources) => {
    const context = contextOf(evaluation, { resources, scope });
    const asked = { tool: call.name, params };
    const denial = policies.length > 0 ? await deniedBy(policies, asked, context) : null;
    return denial === null ? await handler(params, context) : ToolResult.error(denial);
  });
}

/** Runs what a user wrote for one call, with the resources of that call. */
export async function runHandler(
  name: string,
  { resources, guard: { signal } }: Evaluation,
  work: (resources: Resources) => Promise<unknown>,
): Promise<ToolResult<unknown>> {
  try {
    return await orAborted(withCallResources(), signal);
  } catch (error) {
    signal.throwIfAborted();
    return ToolResult.error(`Tool "${name}" failed: ${messageOf(error)}`);
  }

  async function withCallResources(): Promise<ToolResult<unknown>> {
    const ofCall = resources.forCall();
    let result: unknown;
    try {
      result = await work(ofCall);
    } catch (error) {
      await ofCall[Symbol.asyncDispose]().catch(() => {}); // the handler's own failure says more
      throw error;
    }
    await ofCall[Symbol.asyncDispose]();
    if (isToolResult(result)) return result;
    return ToolResult.error(
      `Tool "${name}" returned ${show(result)} and no result: its handler must return ToolResult.ok(…) or ToolResult.error(…)`,
    );
  }
}

function refused(call: ToolCall, problem: string): RefusedCall {
  const params = Object.freeze({ rejected: true as const, given: call.arguments, problem });
  return { kind: "refused", call, params, result: ToolResult.error(problem) };
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const there = [...tools.values()]
    .filter((tool) => !runsAtProvider(tool))
    .map((tool) => tool.name);
  const near = suggestion(name, there);
  if (near) return `There is no tool named "${name}". Did you mean "${near}"?`;
  return `There is no tool named "${name}". There ${there.length > 0 ? `are ${list(there)}` : "are none"}.`;
}
