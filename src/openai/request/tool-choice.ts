import { createUnknownToolChoiceError } from "../../adapter/check-tool-choice.ts";
import type { AllowedTools, ChosenTool, ToolChoice } from "../../adapter/model-client.ts";
import { getServerLabel, isRestriction } from "../../adapter/tool-choice.ts";
import { readString } from "../../base/json.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../../tools/as-hosted-tool.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { Codecs } from "../codecs/codec.ts";
import type { WireTool, WireToolChoice } from "../wire.ts";

/** The tools of a request: those of the prompt, and how the hosted ones are sent. */
export interface OfferedTools extends Pick<RenderedPrompt, "tools" | "hostedTools"> {
  readonly codecs: Codecs;
  /** Returns the request's entry for a hosted tool; `undefined` if it is not sent. */
  getEntry(tool: HostedTool): WireTool | undefined;
}

/**
 * Converts a tool choice to the API's format. The type `built_in` is never sent. A restriction
 * leaves out tools that the request does not offer: sections with them may be opened later.
 */
export function toWireToolChoice(
  choice: Exclude<ToolChoice, string>,
  offered: OfferedTools,
): WireToolChoice {
  return isRestriction(choice) ? toAllowedTools(choice, offered) : toNamedTool(choice, offered);
}

interface NamedTool {
  readonly type: string;
  readonly name?: string;
}

function toAllowedTools({ mode, tools }: AllowedTools, offered: OfferedTools): WireToolChoice {
  const allowed = tools.flatMap((one, index) => {
    const found = findTool(one, offered);
    if (found) return [found];
    if (isNamed(one)) return []; // the loop has checked the name
    throw createKindError(one, offered, `tools[${index}]`);
  });
  return allowed.length > 0 ? { type: "allowed_tools", mode, tools: allowed } : "none";
}

function toNamedTool(choice: ChosenTool, offered: OfferedTools): NamedTool {
  const found = findTool(choice, offered);
  if (found) return found;
  throw createKindError(choice, offered, "");
}

/** Finds one tool: a function by its name, a hosted tool by its name, kind or API type. */
function findTool(choice: ChosenTool, offered: OfferedTools): NamedTool | null {
  const { type } = choice;
  const name = readString({ ...choice }, "name");
  if (type === "function") {
    const found = offered.tools.find((tool) => tool.name === name && !runsAtProvider(tool));
    return found ? { type, name } : null;
  }
  for (const tool of offered.hostedTools) {
    const entry = offered.getEntry(tool);
    if (!entry) continue;
    const wire = offered.codecs.get(tool.kind)?.toolChoice?.(tool) ?? { type: entry.type };
    const types = [tool.kind, entry.type, getWireType(wire)];
    const isMatch = type === "built_in" ? tool.name === name : types.includes(type);
    if (isMatch && matchesLabel(choice, wire)) return addRemoteName(choice, wire);
  }
  return null;
}

function isNamed(choice: ChosenTool): boolean {
  const { type } = choice;
  return type === "function" || type === "built_in" || getServerLabel(choice) !== "";
}

/** A choice may select an MCP server by its label. */
function matchesLabel(choice: ChosenTool, wire: object): boolean {
  const label = getServerLabel(choice);
  return label === "" || ("server_label" in wire && wire.server_label === label);
}

/** `{ type: "mcp", serverLabel, name }` forces a particular tool on the server. */
function addRemoteName(choice: ChosenTool, wire: object): NamedTool {
  const name = readString({ ...choice }, "name");
  const remote = choice.type === "mcp" && name !== "" ? { name } : {};
  return { ...wire, type: getWireType(wire), ...remote };
}

function getWireType(wire: object): string {
  return "type" in wire ? String(wire.type) : "";
}

function createKindError(choice: ChosenTool, { hostedTools }: OfferedTools, place: string) {
  const names = hostedTools.map(({ kind }) => kind);
  const expected = { what: "a tool in this prompt", given: choice.type, names };
  return createUnknownToolChoiceError(place, choice, expected);
}
