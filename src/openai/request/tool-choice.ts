import type { ToolChoice } from "../../adapter/model-client.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { quoteNames } from "../../base/quote-value.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../../tools/as-hosted-tool.ts";
import type { Codecs } from "../codecs/codec.ts";
import type { WireToolChoice } from "../wire.ts";

/** Converts a tool choice to the API's format. The type `built_in` is never sent. */
export function toWireToolChoice(
  choice: Exclude<ToolChoice, string>,
  rendered: RenderedPrompt,
  codecs: Codecs,
): WireToolChoice {
  if (choice.type === "allowed_tools") return toAllowedTools(choice, rendered, codecs);
  return toNamedTool(choice, rendered, codecs);
}

interface NamedTool {
  readonly type: string;
  readonly name?: string;
}

/** Finds one tool: a function by its name, a hosted tool by its name, kind or API type. */
function toNamedTool(
  choice: { readonly type: string; readonly name?: unknown },
  rendered: RenderedPrompt,
  codecs: Codecs,
): NamedTool {
  const { type, name } = choice;
  if (type === "function") {
    const functions = rendered.tools.filter((tool) => !runsAtProvider(tool));
    const found = functions.find((tool) => tool.name === name);
    if (found) return { type, name: found.name };
    throw createChoiceError(choice, "must name a tool that runs locally", functions);
  }
  for (const tool of rendered.hostedTools) {
    const codec = codecs.get(tool.kind);
    if (!codec) continue;
    const wire = codec.toolChoice?.(tool) ?? { type: codec.kind };
    const isMatch =
      type === "built_in" ? tool.name === name : [tool.kind, getWireType(wire)].includes(type);
    if (isMatch && matchesLabel(choice, wire)) return addRemoteName(choice, wire);
  }
  throw createChoiceError(choice, "must name a tool in this prompt", rendered.hostedTools);
}

/** A choice may select an MCP server by its label. */
function matchesLabel(choice: object, wire: object): boolean {
  if (!("server_label" in choice)) return true;
  return "server_label" in wire && wire.server_label === choice.server_label;
}

/** `{ type: "mcp", server_label, name }` forces a particular tool on the server. */
function addRemoteName(
  choice: { readonly type: string; readonly name?: unknown },
  wire: object,
): NamedTool {
  const { type, name } = choice;
  const remote = type === "mcp" && typeof name === "string" ? { name } : {};
  return { ...wire, type: getWireType(wire), ...remote };
}

function toAllowedTools(
  choice: { readonly type: string; readonly mode?: unknown; readonly tools?: unknown },
  rendered: RenderedPrompt,
  codecs: Codecs,
): WireToolChoice {
  const { mode, tools } = choice;
  const isChoice = Array.isArray(tools) && tools.length > 0 && tools.every(isTyped);
  if (!isChoice || (mode !== "auto" && mode !== "required")) {
    const remedy = "use { type, mode, tools }";
    throw createChoiceError(choice, "must have a mode and an array of tools", [], remedy);
  }
  const allowed = tools.map((one) => toNamedTool(one, rendered, codecs));
  return { type: "allowed_tools", mode, tools: allowed };
}

function isTyped(value: unknown): value is { readonly type: string } {
  return isPlainObject(value) && typeof value["type"] === "string";
}

function getWireType(wire: object): string {
  return "type" in wire ? String(wire.type) : "";
}

function createChoiceError(
  value: object,
  rule: string,
  available: readonly { readonly name: string }[],
  remedy = available.length > 0
    ? `use one of ${quoteNames(available.map(({ name }) => name))}`
    : 'use "auto": the prompt does not have any',
): InvalidOptionError {
  return new InvalidOptionError({ field: "toolChoice", value, rule, remedy });
}
