import { quoteNames, quoteValue } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import type { WireItem } from "../../openai/wire.ts";
import type { ModelAction } from "../model-action.ts";
import { StepFault } from "../step-fault.ts";
import { isClientTool, type ToolCatalog } from "../tools/tool-catalog.ts";
import type { ShorthandCall, ToolRecord } from "../tools/tool-record.ts";
import type { TurnState } from "../turn/turn.ts";
import { describeOfferedTools } from "./offered-tools.ts";
import { createToolContext } from "./tool-context.ts";

/** Performs an action that calls a hosted tool. Returns whether the client has to answer the call. */
export async function useTool(action: ModelAction, state: TurnState): Promise<boolean> {
  const { input, services, output } = state;
  const { tool, args, entry, run } = findToolUse(action, state);
  if (!isClientTool(tool)) {
    // Like the API, ignores calls beyond `max_tool_calls`.
    if (input.maxToolCalls !== null && state.toolCalls >= input.maxToolCalls) return false;
    state.toolCalls += 1;
  }
  const items = await run({ entry, args }, createToolContext(state));
  output.push(...items);
  return isClientTool(tool) || items.some((item) => services.catalog.needsAnswer(item));
}

/** A hosted tool that an action calls, with the request's entry for it. */
export interface ToolUse {
  readonly tool: ToolRecord;
  readonly args: WireItem;
  readonly entry: WireItem;
  readonly run: NonNullable<ToolRecord["run"]>;
}

/** Finds the hosted tool that an action calls. Throws a `StepFault` if it cannot be called. */
export function findToolUse(action: ModelAction, { input, services }: TurnState): ToolUse {
  const { tool, args, did } = findCall(action, input.tools, services.catalog);
  const types: readonly unknown[] = [tool.kind, ...(tool.aliases ?? [])];
  const entry = input.tools.find(({ type }) => types.includes(type));
  if (!entry)
    throw new StepFault(
      `the model ${did}, but the request does not offer ${tool.kind}. ${describeOfferedTools(input)}`,
    );
  const run = tool.run?.bind(tool);
  if (!run)
    throw new StepFault(
      `the model ${did}, which is not supported by the local provider. Change the step.`,
    );
  tool.checkServices?.(services.tools);
  return { tool, args, entry, run };
}

interface FoundCall extends ShorthandCall {
  readonly tool: ToolRecord;
}

function findCall(
  action: ModelAction,
  tools: readonly WireItem[],
  catalog: ToolCatalog,
): FoundCall {
  if ("use" in action) return readUse(action.use, catalog);
  const performers = Object.keys(action).flatMap((key) => catalog.byAction.get(key) ?? []);
  for (const tool of performers) {
    const isOffered = tools.some(({ type }) => catalog.byType.get(type) === tool);
    const call = tool.shorthand?.fromAction(action, isOffered);
    if (call) return { ...call, tool };
  }
  throw new StepFault(
    `the model's action ${quoteValue(action)} does not match any hosted tool. Change the step.`,
  );
}

function readUse(
  { kind, args }: Extract<ModelAction, { use: unknown }>["use"],
  catalog: ToolCatalog,
): FoundCall {
  const tool = catalog.byType.get(kind);
  if (!tool) throw createUnknownKindFault(kind, catalog);
  const { functions = [] } = tool;
  const did = `used the tool '${tool.kind}'`;
  const record: WireItem = { ...args };
  if (functions.length === 0) return { tool, args: record, did };
  // The last matching function takes the most arguments.
  const fitting = functions.map(({ read }) => read(record)).findLast((one) => one !== null);
  if (fitting) return { tool, args: fitting, did };
  const schemas = functions.map(({ parameters }) => JSON.stringify(parameters)).join(" or ");
  throw new StepFault(
    `the model ${did} with the arguments ${quoteValue(args)}, which do not match ${schemas}. Change the step.`,
  );
}

function createUnknownKindFault(kind: unknown, { tools }: ToolCatalog): StepFault {
  const kinds = tools.filter(({ run }) => run).map((tool) => tool.kind);
  const near = suggestSpelling(String(kind), kinds);
  const remedy =
    near === null
      ? "Use a listed kind, or pass your own in new LocalProvider({ tools })."
      : `Did you mean ${quoteValue(near)}?`;
  return new StepFault(
    `the model used a tool of kind ${quoteValue(kind)}, but there are only ${quoteNames(kinds, kinds.length)}. ${remedy}`,
  );
}
