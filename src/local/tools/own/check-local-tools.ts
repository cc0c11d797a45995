import { builtInTools } from "../index.ts";
import type { LocalTool } from "../local-tool.ts";
import type { ToolRecord } from "../tool-record.ts";
import { checkItems } from "./check-items.ts";
import { checkOfferedFunctions } from "./check-offered-functions.ts";
import {
  checkFunctions,
  checkKeys,
  checkNonBlank,
  OMIT_REMEDY,
  type ReservedNames,
  reserveName,
  throwInvalidOption,
} from "./option-checks.ts";
import { toToolRecord } from "./to-tool-record.ts";

/** Validates a provider's `tools` option and returns the records that the server uses. */
export function checkLocalTools(tools: unknown, field: string): readonly ToolRecord[] {
  if (tools === undefined) return [];
  if (!Array.isArray(tools))
    throwInvalidOption(
      field,
      tools,
      "must be an array of LocalTools",
      "use [{ kind, items, run }]",
    );
  const taken = listReservedNames();
  return tools.map((tool, place) => {
    checkTool(tool, `${field}[${place}]`, taken);
    return toToolRecord(tool);
  });
}

/** Names that a tool cannot have, with their owners. */
interface AllReservedNames {
  readonly types: ReservedNames;
  readonly items: ReservedNames;
  readonly functions: ReservedNames;
}

/** The API's own types of tools, choices and items that are not hosted tools. */
const RESERVED: readonly string[] = [
  ...["function", "custom", "namespace", "allowed_tools", "none", "auto", "required"],
  ...["message", "reasoning", "item_reference", "additional_tools", "configuration_update"],
  ...["function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"],
  ...["compaction", "compaction_trigger"],
];

function listReservedNames(): AllReservedNames {
  const reserved = RESERVED.map((name) => [name, "the API itself"] as const);
  const listOwned = (toNames: (tool: ToolRecord) => readonly string[]) =>
    builtInTools.flatMap((tool) =>
      toNames(tool).map((name) => [name, `the built-in tool ${tool.kind}`] as const),
    );
  const types = listOwned(({ kind, aliases = [], choiceTypes = [] }) => [
    kind,
    ...aliases,
    ...choiceTypes,
  ]);
  return {
    types: new Map([...reserved, ...types]),
    items: new Map([...reserved, ...listOwned(({ items }) => Object.keys(items))]),
    functions: new Map(listOwned(({ functions = [] }) => functions.map(({ name }) => name))),
  };
}

function checkTool(
  tool: unknown,
  field: string,
  taken: AllReservedNames,
): asserts tool is LocalTool {
  checkKeys(tool, field, KEYS);
  const given: Partial<LocalTool> = tool;
  const { kind, aliases = [], items, run, containerField } = given;
  const { description, parameters, functions } = given;
  const mine = `${field}.kind`;
  reserveName(kind, mine, { names: taken.types, by: mine });
  if (!Array.isArray(aliases))
    throwInvalidOption(`${field}.aliases`, aliases, "must be an array", OMIT_REMEDY);
  for (const [place, alias] of aliases.entries())
    reserveName(alias, `${field}.aliases[${place}]`, { names: taken.types, by: mine });
  if (typeof run !== "function")
    throwInvalidOption(
      `${field}.run`,
      run,
      "must be a function",
      "define run({ args }, context) { … }",
    );
  checkFunctions(tool, field, ["check", "checkChoice", "echo"]);
  if (containerField !== undefined) checkNonBlank(containerField, `${field}.containerField`);
  checkItems(items, `${field}.items`, { names: taken.items, by: mine });
  checkOfferedFunctions({ kind, description, parameters, functions }, field, {
    names: taken.functions,
    by: mine,
  });
}

const KEYS = [
  ...["kind", "aliases", "items", "run", "description", "parameters", "functions"],
  ...["check", "checkChoice", "echo", "containerField"],
];
