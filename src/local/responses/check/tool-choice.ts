import { isPlainObject } from "../../../base/freeze.ts";
import type { WireItem } from "../../../openai/wire.ts";
import { ApiProblem } from "../../api-problem.ts";
import { errorOrders } from "../../tools/index.ts";
import { type, typeOnly } from "../../tools/item-fields.ts";
import type { ToolCatalog } from "../../tools/tool-catalog.ts";
import {
  array,
  either,
  object,
  oneOf,
  unionByTag,
  type Validator,
} from "../../validators/validator.ts";
import { orderKeys } from "./order-keys.ts";
import { toolName } from "./tools.ts";

/** A validated `tool_choice`: a keyword or an object. */
export type ToolChoice = "none" | "auto" | "required" | WireItem;

/** The tools that the model may call, and whether it must call one. */
export interface Allowed {
  readonly mustCall: boolean;
  readonly tools: readonly WireItem[];
}

/** Validates a `tool_choice` and returns it. Returns `"auto"` if it is missing. */
export type ToolChoiceCheck = (choice: unknown, tools: readonly WireItem[]) => ToolChoice;

/**
 * Creates the check that rejects, as OpenAI does, a malformed `tool_choice`, or a choice of a tool that is not
 * in `tools`.
 */
export function createToolChoiceCheck(catalog: ToolCatalog): ToolChoiceCheck {
  const shape = createChoiceValidator(catalog);
  return (choice, tools) => {
    if (choice === undefined || choice === null) return "auto";
    const problem = shape(choice, "tool_choice");
    if (problem) throw problem;
    if (choice === "required" && tools.length === 0)
      throw createToolChoiceProblem(
        "Tool choice 'required' must be specified with 'tools' parameter.",
      );
    if (!isPlainObject(choice)) return choice === "required" || choice === "none" ? choice : "auto";
    const missing = listChoices(choice).find(
      (each) => selectTools(tools, each, catalog).length === 0,
    );
    if (missing)
      throw createToolChoiceProblem(
        `Tool choice '${describeChoice(missing)}' not found in 'tools' parameter.`,
      );
    return choice;
  };
}

/** Returns the tools that a choice allows. A namespace keeps only its chosen tools. */
export function selectAllowedTools(
  choice: ToolChoice,
  tools: readonly WireItem[],
  catalog: ToolCatalog,
): Allowed {
  if (choice === "none") return { mustCall: false, tools: [] };
  if (choice === "auto" || choice === "required") return { mustCall: choice !== "auto", tools };
  const mustCall = choice["type"] !== "allowed_tools" || choice["mode"] === "required";
  const chosen = listChoices(choice).flatMap((each) => selectTools(tools, each, catalog));
  return { mustCall, tools: [...new Set(chosen)] };
}

const named = object({ type, name: toolName });

function createChoiceValidator({ byChoice }: ToolCatalog): Validator {
  const hosted = [...byChoice].map(([name, { checkChoice = typeOnly }]) => [
    String(name),
    checkChoice,
  ]);
  const all = { function: named, custom: named, ...Object.fromEntries(hosted) };
  const one = orderKeys<Validator>(all, errorOrders.choices);
  const allowed = object({
    type,
    mode: oneOf("auto", "required"),
    tools: array(unionByTag(one), { min: 1 }),
  });
  return either({
    string: oneOf("none", "auto", "required"),
    object: unionByTag({ ...one, allowed_tools: allowed }),
  });
}

/** Returns the individual tools that a choice names. */
function listChoices(choice: WireItem): readonly WireItem[] {
  const tools = choice["type"] === "allowed_tools" ? choice["tools"] : [choice];
  return Array.isArray(tools) ? tools.filter(isPlainObject) : [];
}

function selectTools(
  tools: readonly WireItem[],
  choice: WireItem,
  catalog: ToolCatalog,
): readonly WireItem[] {
  return tools.flatMap((tool) => {
    if (isChosen(tool, choice, catalog)) return [tool];
    const inner = tool["type"] === "namespace" ? tool["tools"] : [];
    const within = Array.isArray(inner)
      ? inner.filter((each) => isChosen(each, choice, catalog))
      : [];
    return within.length > 0 ? [{ ...tool, tools: within }] : [];
  });
}

/** Functions are chosen by name, hosted tools by any type of their kind. */
function isChosen(tool: WireItem, choice: WireItem, catalog: ToolCatalog): boolean {
  if (catalog.findKind(tool["type"]) !== catalog.findKind(choice["type"])) return false;
  const hosted = catalog.byType.get(tool["type"]);
  const label = hosted ? hosted.label : "name";
  return label === undefined || tool[label] === choice[label] || !(label in tool);
}

function describeChoice(choice: WireItem): string {
  return String(choice["name"] ?? choice["server_label"] ?? choice["type"]);
}

function createToolChoiceProblem(message: string): ApiProblem {
  return new ApiProblem(400, message, { param: "tool_choice" });
}
