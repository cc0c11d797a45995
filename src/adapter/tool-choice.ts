import { isPlainObject } from "../base/freeze.ts";
import { readString } from "../base/json.ts";
import type { RenderedPrompt } from "../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../tools/as-hosted-tool.ts";
import type { HostedTool } from "../tools/hosted-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { AllowedTools, ChosenTool, DelegatedCallData, ToolChoice } from "./model-client.ts";

/** Tools that a choice may name. The provider's tools are in both lists. */
export type ChoosableTools = Pick<RenderedPrompt, "tools" | "hostedTools">;

/** A turn's calls. */
export interface CalledTools {
  readonly toolCalls: readonly { readonly name: string }[];
  readonly hostedCalls: readonly DelegatedCallData[];
  readonly delegatedCalls?: readonly DelegatedCallData[] | undefined;
}

/** Returns whether a choice restricts the model to some tools, and is complete. */
export function isRestriction(choice: ToolChoice): choice is AllowedTools {
  if (typeof choice !== "object" || choice.type !== "allowed_tools") return false;
  const { mode, tools } = choice as Partial<AllowedTools>;
  const hasMode = mode === "auto" || mode === "required";
  return hasMode && Array.isArray(tools) && tools.length > 0 && tools.every(isTyped);
}

/** Returns the tools that a choice does not exclude. */
export function selectAllowedTools<Tools extends ChoosableTools>(
  choice: ToolChoice,
  { tools, hostedTools }: Tools,
): ChoosableTools {
  if (choice === "none") return { tools: [], hostedTools: [] };
  if (!isRestriction(choice)) return { tools, hostedTools };
  const isNamed = (tool: Tool | HostedTool) => choice.tools.some((one) => isMatch(one, tool));
  const hosted = hostedTools.filter(isNamed);
  const names = new Set(hosted.map(({ name }) => name));
  const isAllowed = (tool: Tool) => (runsAtProvider(tool) ? names.has(tool.name) : isNamed(tool));
  return { tools: tools.filter(isAllowed), hostedTools: hosted };
}

/**
 * Returns the choice for the next turn. A forced choice becomes "auto" once it was satisfied,
 * because a model that must always call never answers. A restriction holds, but no longer requires
 * a call.
 */
export function relaxToolChoice(
  choice: ToolChoice,
  { toolCalls, hostedCalls, delegatedCalls = [] }: CalledTools,
  rendered: ChoosableTools,
): ToolChoice {
  if (choice === "auto" || choice === "none") return choice;
  const hosted = [...hostedCalls, ...delegatedCalls];
  if (isRestriction(choice)) {
    const allowed = new Set(selectAllowedTools(choice, rendered).tools.map(({ name }) => name));
    const isMet = hosted.length > 0 || toolCalls.some(({ name }) => allowed.has(name));
    return isMet && choice.mode === "required"
      ? Object.freeze({ ...choice, mode: "auto" })
      : choice;
  }
  if (typeof choice === "object" && choice.type === "mcp") {
    return hosted.some((call) => isCallTo(choice, call)) ? "auto" : choice;
  }
  if (typeof choice === "object" && "name" in choice) {
    return [...toolCalls, ...hosted].some(({ name }) => name === choice.name) ? "auto" : choice;
  }
  const kind = typeof choice === "object" ? choice.type : null;
  const isKind = rendered.hostedTools.some((tool) => tool.kind === kind);
  const meeting = isKind ? hosted.filter((call) => call.kind === kind) : [...toolCalls, ...hosted];
  return meeting.length > 0 ? "auto" : choice;
}

/** Returns the label of the MCP server that a choice names; `""` if it names none. */
export function getServerLabel(choice: ChosenTool): string {
  const fields = { ...choice };
  return readString(fields, "serverLabel") || readString(fields, "server_label");
}

/** Returns whether a choice names a tool: by its name, its MCP server or its kind. */
function isMatch(choice: ChosenTool, tool: Tool | HostedTool): boolean {
  const { type } = choice;
  const name = readString({ ...choice }, "name");
  if (!("kind" in tool) || !("config" in tool)) return type === "function" && tool.name === name;
  if (type === "built_in") return tool.name === name;
  const label = getServerLabel(choice);
  const isServer = label === "" || readString({ ...tool.config }, "serverLabel") === label;
  return tool.kind === type && isServer;
}

/** Returns whether a hosted call is one to the MCP server, and the tool, that a choice names. */
function isCallTo(
  choice: ChosenTool,
  { kind, params }: { readonly kind: string; readonly params: unknown },
): boolean {
  if (kind !== "mcp" || !isPlainObject(params)) return false;
  const label = getServerLabel(choice);
  const name = readString({ ...choice }, "name");
  const isServer = label === "" || readString(params, "serverLabel") === label;
  return isServer && (name === "" || readString(params, "name") === name);
}

/** Returns whether a value is an object with a type. */
export function isTyped(value: unknown): value is ChosenTool {
  return isPlainObject(value) && typeof value["type"] === "string" && value["type"] !== "";
}
