import { itemsOfType, maybeTextAt, recordAt, recordsAt, textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import type { McpCall, McpConfig, McpListedTool } from "../../tools/hosted/mcp.ts";
import type { WireItem } from "../wire.ts";
import { describeFailure, hasFailed } from "./codec-parts.ts";
import { toErrorText } from "./error-text.ts";

/** Finds the calls to one server's tools. */
export function findMcpCalls(items: readonly WireItem[], config: McpConfig): readonly WireItem[] {
  return filterByServer(items, "mcp_call", config);
}

/** Finds the approval requests that are neither answered nor followed by their call. */
export function findPendingApprovals(
  items: readonly WireItem[],
  config: McpConfig,
): readonly WireItem[] {
  const settled = new Set(
    [...itemsOfType(items, "mcp_approval_response"), ...itemsOfType(items, "mcp_call")].map(
      (item) => textAt(item, "approval_request_id"),
    ),
  );
  const requests = filterByServer(items, "mcp_approval_request", config);
  return requests.filter((item) => !settled.has(textAt(item, "id")));
}

/** Finds the server's last list of its tools; `undefined` if there is none. */
export function findListedTools(
  items: readonly WireItem[],
  config: McpConfig,
): readonly McpListedTool[] | undefined {
  const list = filterByServer(items, "mcp_list_tools", config).at(-1);
  return list && recordsAt(list, "tools").map(toListedTool);
}

/** Converts an `mcp_call` item. */
export function parseMcpCall(item: WireItem): McpCall {
  return {
    id: textAt(item, "id"),
    ...readMcpParams(item),
    output: maybeTextAt(item, "output"),
    error: toErrorText(item["error"]),
  };
}

/** Reads the tool and arguments, from a call or from a request to approve it. */
export function readMcpParams(item: WireItem) {
  return {
    name: textAt(item, "name"),
    serverLabel: textAt(item, "server_label"),
    arguments: textAt(item, "arguments"),
  };
}

/** Formats a tool and its server for messages. */
export function formatToolName(item: WireItem): string {
  return `${show(textAt(item, "name"))} on ${show(textAt(item, "server_label"))}`;
}

/** Reports whether a call succeeded. Most calls have no status. */
export function summarizeMcpCall(item: WireItem): {
  readonly success: boolean;
  readonly message: string;
} {
  const error = toErrorText(item["error"]);
  const status = textAt(item, "status");
  if (error !== null)
    return { success: false, message: `Calling ${formatToolName(item)} failed: ${error}` };
  if (hasFailed(status)) return { success: false, message: describeFailure(status) };
  return { success: true, message: `Called ${formatToolName(item)}` };
}

function filterByServer(
  items: readonly WireItem[],
  type: string,
  { serverLabel }: McpConfig,
): readonly WireItem[] {
  return itemsOfType(items, type).filter((item) => item["server_label"] === serverLabel);
}

function toListedTool(tool: WireItem): McpListedTool {
  return {
    name: textAt(tool, "name"),
    description: maybeTextAt(tool, "description"),
    inputSchema: recordAt(tool, "input_schema"),
  };
}
