import { quoteNames, quoteValue } from "../../base/quote-value.ts";
import { suggestSpelling } from "../../base/suggest-spelling.ts";
import type { WireItem } from "../../openai/wire.ts";
import { ApiProblem } from "../api-problem.ts";
import type { ModelAction } from "../model-action.ts";
import { isClientTool, type ToolCatalog } from "../tools/tool-catalog.ts";
import type { ShorthandCall, ToolRecord } from "../tools/tool-record.ts";
import type { TurnState } from "../turn/turn.ts";
import { createToolContext } from "./tool-context.ts";

/** Performs an action that calls a hosted tool. Returns whether the client has to answer the call. */
export async function useTool(action: ModelAction, state: TurnState): Promise<boolean> {
  const { input, services, output } = state;
  const { catalog } = services;
  const { tool, args, did } = findCall(action, input.tools, catalog);
  if (!isClientTool(tool)) {
    // Like the API, ignores calls beyond `max_tool_calls`.
    if (input.maxToolCalls !== null && state.toolCalls >= input.maxToolCalls) return false;
    state.toolCalls += 1;
  }
  const entry = findEntry(input.tools, { tool, did });
  if (!tool.run)
    throw createToolUseProblem(
      `The model ${did}, but the local provider cannot run this tool. Change the model's action.`,
    );
  const items = await tool.run({ entry, args }, createToolContext(state));
  output.push(...items);
  return isClientTool(tool) || items.some((item) => catalog.needsAnswer(item));
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
  throw createToolUseProblem(
    `The model's action ${quoteValue(action)} does not match any hosted tool.`,
  );
}

function readUse(
  { kind, args }: Extract<ModelAction, { use: unknown }>["use"],
  catalog: ToolCatalog,
): FoundCall {
  const tool = catalog.byType.get(kind);
  if (!tool) throw createUnknownKindProblem(kind, catalog);
  const { functions = [] } = tool;
  const did = `used the tool '${tool.kind}'`;
  const record: WireItem = { ...args };
  if (functions.length === 0) return { tool, args: record, did };
  // The last matching function takes the most arguments.
  const fitting = functions.map(({ read }) => read(record)).findLast((one) => one !== null);
  if (fitting) return { tool, args: fitting, did };
  const schemas = functions.map(({ parameters }) => JSON.stringify(parameters)).join(" or ");
  throw createToolUseProblem(
    `The model ${did} with the arguments ${quoteValue(args)}, which do not match ${schemas}.`,
  );
}

function createUnknownKindProblem(kind: unknown, { tools }: ToolCatalog): ApiProblem {
  const kinds = tools.filter(({ run }) => run).map((tool) => tool.kind);
  const near = suggestSpelling(String(kind), kinds);
  const remedy =
    near === null
      ? "Use a listed kind, or pass your own in new LocalProvider({ tools })."
      : `Did you mean ${quoteValue(near)}?`;
  return createToolUseProblem(
    `The model used a tool of kind ${quoteValue(kind)}, but there are only ${quoteNames(kinds, kinds.length)}. ${remedy}`,
  );
}

/** Returns the request's entry for the tool. Throws if the request does not offer it. */
function findEntry(
  tools: readonly WireItem[],
  { tool: { kind, aliases = [] }, did }: Pick<FoundCall, "tool" | "did">,
): WireItem {
  const types: readonly unknown[] = [kind, ...aliases];
  const entry = tools.find(({ type }) => types.includes(type));
  if (entry) return entry;
  const expected = types.join(" or ");
  throw createToolUseProblem(
    `The model ${did}, but the request offers no tool of type ${expected}. Offer one, or change the model's action.`,
  );
}

function createToolUseProblem(message: string): ApiProblem {
  return new ApiProblem(500, message, { code: "model_error" });
}
