import { getErrorMessage, WinkError } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import { quoteNames } from "../base/quote-value.ts";
import type { Schema } from "../base/schema/schema.ts";
import { suggestSpelling } from "../base/suggest-spelling.ts";
import { cutText } from "./clean-text.ts";
import type { ListedTool } from "./mcp-connection.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import { createToolSchema } from "./tool-schema.ts";

/** Which of a server's tools are offered, and how they are named. */
export interface ToolSelection {
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  readonly prefix: string;
  /** The server, for messages. */
  readonly server: string;
}

/** A tool that is offered. */
export interface SelectedTool {
  /** Name in the prompt. */
  readonly name: string;
  readonly description: string;
  readonly params: Schema<UnknownRecord>;
  readonly listed: ListedTool;
}

/** A tool that is not offered, and why. */
export interface OmittedTool {
  readonly tool: string;
  readonly reason: string;
}

/** The tools of a server that are offered, and those that cannot be. */
export interface SelectedTools {
  readonly tools: readonly SelectedTool[];
  readonly omitted: readonly OmittedTool[];
}

/**
 * Selects the tools to offer. A tool with an unusable name or schema is omitted. If `isFirst`, an `include` that
 * cannot be met and too many tools are refused; later, such a list is only reported, because the evaluation is running.
 */
export function selectTools(
  all: readonly ListedTool[],
  selection: ToolSelection,
  { isFirst }: { readonly isFirst: boolean },
): SelectedTools {
  const { include, exclude, server } = selection;
  const omitted: OmittedTool[] = [];
  const listed = new Map<string, ListedTool>();
  for (const tool of all) {
    if (!listed.has(tool.name)) listed.set(tool.name, tool);
    else omitted.push({ tool: tool.name, reason: "the server lists its name twice" });
  }
  const missing = (include ?? []).filter((name) => !listed.has(name));
  if (isFirst && missing[0] !== undefined) throw createMissingError(missing[0], listed, server);
  for (const tool of missing) omitted.push({ tool, reason: "the server no longer lists it" });
  const wanted = [...listed.values()].filter(
    ({ name }) => (include?.includes(name) ?? true) && !exclude.includes(name),
  );
  if (wanted.length > MCP_LIMITS.tools) {
    throw new WinkError(
      `The MCP server ${server} has ${wanted.length} tools, but at most ${MCP_LIMITS.tools} are offered. Choose some with include.`,
    );
  }
  const tools = wanted.flatMap((tool) => {
    try {
      return [createSelectedTool(tool, selection)];
    } catch (error) {
      const reason = getErrorMessage(error);
      if (isFirst && include) {
        const name = cutText(tool.name, MAX_NAME_CHARS);
        throw new WinkError(
          `The tool "${name}" of the MCP server ${server} cannot be offered: ${reason}. Remove it from include.`,
          { cause: error },
        );
      }
      omitted.push({ tool: cutText(tool.name, MAX_NAME_CHARS), reason });
      return [];
    }
  });
  return { tools, omitted };
}

/** Characters of a server's tool name in messages. */
const MAX_NAME_CHARS = 200;

function createMissingError(
  name: string,
  listed: ReadonlyMap<string, ListedTool>,
  server: string,
): WinkError {
  const names = [...listed.keys()].map((one) => cutText(one, MAX_NAME_CHARS));
  const near = suggestSpelling(name, names);
  const remedy = near ? `Did you mean "${near}"?` : `Its tools are ${quoteNames(names)}.`;
  return new WinkError(
    `The MCP server ${server} has no tool "${name}", which include names. ${names.length === 0 ? "It has no tools." : remedy}`,
  );
}

function createSelectedTool(listed: ListedTool, { prefix }: ToolSelection): SelectedTool {
  const name = `${prefix}${listed.name}`;
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new WinkError(
      `its name in the prompt would be "${cutText(name, MAX_NAME_CHARS)}", but a name must be 1-64 of A-Z, a-z, 0-9, _ and -`,
    );
  }
  return {
    name,
    description: describeTool(listed),
    params: createToolSchema(listed.inputSchema),
    listed,
  };
}

function describeTool({ name, title, description = "", annotations }: ListedTool): string {
  const texts = [description, title ?? "", annotations?.title ?? ""];
  const text = texts.map((one) => cutText(one, MCP_LIMITS.descriptionChars).trim());
  return text.find((one) => one !== "") ?? `The tool ${name}.`;
}
