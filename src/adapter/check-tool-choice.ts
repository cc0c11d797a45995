import { InvalidOptionError } from "../base/errors.ts";
import { readString } from "../base/json.ts";
import { quoteNames } from "../base/quote-value.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";
import { runsAtProvider } from "../tools/as-hosted-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { AllowedTools, ChosenTool, ToolChoice } from "./model-client.ts";
import {
  type ChoosableTools,
  getServerLabel,
  isRestriction,
  isTyped,
  selectAllowedTools,
} from "./tool-choice.ts";

const refuse = InvalidOptionError.at("toolChoice");

/**
 * Throws for a tool choice that the prompt cannot satisfy. `hidden` are the tools of sections that
 * the model may open later; only a restriction may name them.
 */
export function checkToolChoice(
  choice: ToolChoice,
  visible: ChoosableTools,
  hidden: ChoosableTools,
): void {
  if (choice === "auto" || choice === "none") return;
  if (choice === "required") {
    if (visible.tools.length + visible.hostedTools.length > 0) return;
    throw refuse("", choice, 'must not be "required" for a prompt without tools', 'use "auto"');
  }
  if (!isTyped(choice)) {
    const rule = 'must be "auto", "none", "required" or { type, name }';
    throw refuse("", choice, rule, 'use "auto" to let the model decide');
  }
  if (choice.type !== "allowed_tools") checkChosen(choice, visible, "");
  else if (isRestriction(choice)) checkRestriction(choice, visible, hidden);
  else {
    const rule = "must be { type, mode, tools } with a mode and at least one tool";
    const remedy =
      'use the mode "auto" or "required", and tools such as { type: "function", name }';
    throw refuse("", choice, rule, remedy);
  }
}

/** Creates the error for a choice of a tool that does not exist, with the most similar name. */
export function createUnknownToolChoiceError(
  place: string,
  choice: ChosenTool,
  expected: { readonly what: string; readonly given: string; readonly names: readonly string[] },
): InvalidOptionError {
  const { what, given } = expected;
  const names = new Set(expected.names);
  const near = suggestSpelling(given, names);
  const others = names.size > 0 ? `use one of ${quoteNames(names)}` : "add one to the prompt";
  return refuse(place, choice, `must name ${what}`, near ? `did you mean "${near}"?` : others);
}

function checkRestriction(
  choice: AllowedTools,
  visible: ChoosableTools,
  hidden: ChoosableTools,
): void {
  const all = {
    tools: [...visible.tools, ...hidden.tools],
    hostedTools: [...visible.hostedTools, ...hidden.hostedTools],
  };
  for (const [index, one] of choice.tools.entries()) checkChosen(one, all, `tools[${index}]`);
  const isOther = choice.tools.some(({ type }) => !["function", "built_in"].includes(type));
  const { tools, hostedTools } = selectAllowedTools(choice, visible);
  if (isOther || tools.length + hostedTools.length > 0) return;
  const names = new Set([...visible.tools, ...visible.hostedTools].map(({ name }) => name));
  const remedy = names.size > 0 ? `add one of ${quoteNames(names)}` : 'use "auto"';
  throw refuse("", choice, "must allow at least one tool of a visible section", remedy);
}

/** Checks a function, a hosted tool and an MCP server. Other types are known to the provider. */
function checkChosen(choice: ChosenTool, all: ChoosableTools, place: string): void {
  const { type } = choice;
  const given = type === "mcp" ? getServerLabel(choice) : readString({ ...choice }, "name");
  const checkName = (what: string, names: readonly string[]) => {
    if (!names.includes(given)) {
      throw createUnknownToolChoiceError(place, choice, { what, given, names });
    }
  };
  if (type === "function") checkName("a tool that runs locally", listFunctions(all.tools));
  if (type === "built_in") {
    checkName(
      "a hosted tool",
      all.hostedTools.map(({ name }) => name),
    );
  }
  if (type === "mcp" && given !== "") {
    const servers = all.hostedTools.filter(({ kind }) => kind === "mcp");
    checkName(
      "an MCP server",
      servers.map(({ config }) => readString({ ...config }, "serverLabel")),
    );
  }
}

function listFunctions(tools: readonly Tool[]): readonly string[] {
  return tools.filter((tool) => !runsAtProvider(tool)).map(({ name }) => name);
}
