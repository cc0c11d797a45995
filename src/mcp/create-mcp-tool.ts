import { getErrorMessage } from "../base/errors.ts";
import type { UnknownRecord } from "../base/json.ts";
import { validate } from "../base/schema/schema.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { McpConnection } from "./mcp-connection.ts";
import type { McpToolsSettings } from "./mcp-tools-section-options.ts";
import type { SelectedTool } from "./select-tools.ts";
import { toToolResult } from "./to-tool-result.ts";

/** The server that receives a tool's calls. */
export interface McpToolSource {
  /** The server, at the start of a sentence. */
  readonly title: string;
  /** `null` while there is no connection. */
  readonly connection: McpConnection | null;
  /** Returns a tool as the server has listed it last. */
  findTool(name: string): SelectedTool | undefined;
  /** Has the tools listed again before the next turn. */
  markChanged(): void;
}

/** Creates a tool whose handler calls the server's tool. A failure becomes a result that the model can read. */
export function createMcpTool(
  selected: SelectedTool,
  source: McpToolSource,
  settings: McpToolsSettings,
): Tool {
  const { name, description, params, listed } = selected;
  const { effects, needsApproval, callTimeoutMs } = settings;
  return new Tool({
    name,
    description,
    params,
    handler: (args, { signal }) =>
      callTool(selected, args, { source, signal, timeoutMs: callTimeoutMs }),
    acceptsOverrides: false,
    effects: effects ?? (listed.annotations?.readOnlyHint === true ? "none" : "once"),
    needsApproval,
  });
}

interface CallOptions {
  readonly source: McpToolSource;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

async function callTool(
  called: SelectedTool,
  params: UnknownRecord,
  { source, signal, timeoutMs }: CallOptions,
): Promise<ToolResult<unknown>> {
  const { connection, title } = source;
  if (!connection || connection.isClosed) {
    source.markChanged();
    return ToolResult.error(`${title} is not connected. It is tried again next turn.`);
  }
  const newest = source.findTool(called.name);
  if (!newest) return ToolResult.error(`${title} no longer has this tool.`);
  if (newest !== called) {
    const checked = await validate(newest.params, params);
    if (!checked.ok) {
      return ToolResult.error(
        `The tool has changed, and the arguments no longer fit: ${checked.problem}`,
      );
    }
  }
  try {
    return toToolResult(await connection.call(newest.listed, params, { signal, timeoutMs }));
  } catch (error) {
    signal.throwIfAborted();
    if (connection.isClosed) source.markChanged();
    return ToolResult.error(getErrorMessage(error));
  }
}
