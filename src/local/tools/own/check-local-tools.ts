import { builtInTools } from "../index.ts";
import type { LocalTool } from "../local-tool.ts";
import type { ToolRecord } from "../tool-record.ts";
import { checkOffered } from "./check-functions.ts";
import { checkItems } from "./check-items.ts";
import {
  checkFunctions,
  checkKeys,
  checkText,
  LEAVE_OUT,
  refuse,
  type TakenNames,
  takeName,
} from "./option-checks.ts";
import { toToolRecord } from "./to-tool-record.ts";

/** Checks the option `tools` of a provider and returns the records that the server uses. */
export function checkLocalTools(tools: unknown, field: string): readonly ToolRecord[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools))
    refuse(field, tools, "must be a list of LocalTools", "write [{ kind, items, run }]");
  const taken = listTaken();
  return tools.map((tool, place) => {
    checkTool(tool, `${field}[${place}]`, taken);
    return toToolRecord(tool);
  });
}

/** Names that tools cannot have, and whose they are. */
interface AllTaken {
  readonly types: TakenNames;
  readonly items: TakenNames;
  readonly functions: TakenNames;
}

/** Types of the API that are no hosted tool's: of tools, choices and items. */
const RESERVED: readonly string[] = [
  ...["function", "custom", "namespace", "allowed_tools", "none", "auto", "required"],
  ...["message", "reasoning", "item_reference", "additional_tools", "configuration_update"],
  ...["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"],
  ...["compaction", "compaction_trigger"],
];

function listTaken(): AllTaken {
  const reserved = RESERVED.map((name) => [name, "the API itself"] as const);
  const named = (toNames: (tool: ToolRecord) => readonly string[]) =>
    builtInTools.flatMap((tool) =>
      toNames(tool).map((name) => [name, `the built-in tool ${tool.kind}`] as const),
    );
  const types = named(({ kind, aliases = [], choiceTypes = [] }) => [
    kind,
    ...aliases,
    ...choiceTypes,
  ]);
  return {
    types: new Map([...reserved, ...types]),
    items: new Map([...reserved, ...named(({ items }) => Object.keys(items))]),
    functions: new Map(named(({ functions = [] }) => functions.map(({ name }) => name))),
  };
}

function checkTool(tool: unknown, field: string, taken: AllTaken): asserts tool is LocalTool {
  checkKeys(tool, field, KEYS);
  const given: Partial<LocalTool> = tool;
  const { kind, aliases = [], items, run, containerField } = given;
  const { description, parameters, functions } = given;
  const mine = `${field}.kind`;
  takeName(kind, mine, { names: taken.types, by: mine });
  if (!Array.isArray(aliases)) refuse(`${field}.aliases`, aliases, "must be a list", LEAVE_OUT);
  for (const [place, alias] of aliases.entries())
    takeName(alias, `${field}.aliases[${place}]`, { names: taken.types, by: mine });
  if (typeof run !== "function")
    refuse(`${field}.run`, run, "must be a function", "write run({ args }, context) { … }");
  checkFunctions(tool, field, ["check", "checkChoice", "echo"]);
  if (containerField !== undefined) checkText(containerField, `${field}.containerField`);
  checkItems(items, `${field}.items`, { names: taken.items, by: mine });
  checkOffered({ kind, description, parameters, functions }, field, {
    names: taken.functions,
    by: mine,
  });
}

const KEYS = [
  ...["kind", "aliases", "items", "run", "description", "parameters", "functions"],
  ...["check", "checkChoice", "echo", "containerField"],
];
