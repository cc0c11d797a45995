import type { ToolChoice } from "../../adapter/model-client.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { list } from "../../base/show.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { runsAtProvider } from "../../tools/projected-tool.ts";
import type { Codecs } from "../codecs/codec.ts";
import type { WireToolChoice } from "../wire.ts";

/** A choice in the provider's words: `built_in` is ours, and never sent. */
export function wireToolChoice(
  choice: Exclude<ToolChoice, string>,
  rendered: RenderedPrompt,
  codecs: Codecs,
): WireToolChoice {
  if (choice.type === "allowed_tools") return allowedTools(choice, rendered, codecs);
  return namedTool(choice, rendered, codecs);
}

interface NamedTool {
  readonly type: string;
  readonly name?: string;
}

/** One tool: a function by its name, a hosted one by its name, its kind or its type on the wire. */
function namedTool(
  choice: { readonly type: string; readonly name?: unknown },
  rendered: RenderedPrompt,
  codecs: Codecs,
): NamedTool {
  const { type, name } = choice;
  if (type === "function") {
    const functions = rendered.tools.filter((tool) => !runsAtProvider(tool));
    const found = functions.find((tool) => tool.name === name);
    if (found) return { type, name: found.name };
    throw refused(choice, "must name a tool that runs here", functions);
  }
  for (const tool of rendered.hostedTools) {
    const codec = codecs.get(tool.kind);
    if (!codec) continue;
    const wire = codec.toolChoice?.(tool) ?? { type: codec.kind };
    const isMeant =
      type === "built_in" ? tool.name === name : [tool.kind, typeOf(wire)].includes(type);
    if (isMeant && labelFits(choice, wire)) return withRemoteName(choice, wire);
  }
  throw refused(choice, "must be a tool choice that this prompt has", rendered.hostedTools);
}

/** A choice among several MCP servers says which by its label. */
function labelFits(choice: object, wire: object): boolean {
  if (!("server_label" in choice)) return true;
  return "server_label" in wire && wire.server_label === choice.server_label;
}

/** `{ type: "mcp", server_label, name }` forces one tool of the server. */
function withRemoteName(
  choice: { readonly type: string; readonly name?: unknown },
  wire: object,
): NamedTool {
  const { type, name } = choice;
  const remote = type === "mcp" && typeof name === "string" ? { name } : {};
  return { ...wire, type: typeOf(wire), ...remote };
}

function allowedTools(
  choice: { readonly type: string; readonly mode?: unknown; readonly tools?: unknown },
  rendered: RenderedPrompt,
  codecs: Codecs,
): WireToolChoice {
  const { mode, tools } = choice;
  const isChoice = Array.isArray(tools) && tools.length > 0 && tools.every(isTyped);
  if (!isChoice || (mode !== "auto" && mode !== "required")) {
    throw refused(choice, "must have a mode and a list of tools", [], "{ type, mode, tools }");
  }
  const allowed = tools.map((one) => namedTool(one, rendered, codecs));
  return { type: "allowed_tools", mode, tools: allowed };
}

function isTyped(value: unknown): value is { readonly type: string } {
  return isPlainObject(value) && typeof value["type"] === "string";
}

function typeOf(wire: object): string {
  return "type" in wire ? String(wire.type) : "";
}

function refused(
  value: object,
  rule: string,
  there: readonly { readonly name: string }[],
  remedy = there.length > 0
    ? `there are ${list(there.map(({ name }) => name))}`
    : 'there are none: use "auto"',
): InvalidOptionError {
  return new InvalidOptionError({ field: "toolChoice", value, rule, remedy });
}
