import { itemsOfType, maybeTextAt, recordAt, recordsAt, textAt } from "../../base/reading.ts";
import { show } from "../../base/show.ts";
import type { McpCall, McpConfig, McpListedTool } from "../../tools/hosted/mcp.ts";
import type { WireItem } from "../wire.ts";
import { failureWith, hasFailed } from "./codec-parts.ts";
import { errorText } from "./error-text.ts";

/** The calls of one server's tools. */
export function callsIn(items: readonly WireItem[], config: McpConfig): readonly WireItem[] {
  return ofServer(items, "mcp_call", config);
}

/** The calls that wait to be allowed: neither answered nor already made. */
export function approvalsIn(items: readonly WireItem[], config: McpConfig): readonly WireItem[] {
  const settled = new Set(
    [...itemsOfType(items, "mcp_approval_response"), ...itemsOfType(items, "mcp_call")].map(
      (item) => textAt(item, "approval_request_id"),
    ),
  );
  const requests = ofServer(items, "mcp_approval_request", config);
  return requests.filter((item) => !settled.has(textAt(item, "id")));
}

/** What the server said last that it has; `undefined` if it was not asked. */
export function listedTools(
  items: readonly WireItem[],
  config: McpConfig,
): readonly McpListedTool[] | undefined {
  const list = ofServer(items, "mcp_list_tools", config).at(-1);
  return list && recordsAt(list, "tools").map(listedTool);
}

export function callOf(item: WireItem): McpCall {
  return {
    id: textAt(item, "id"),
    ...mcpParams(item),
    output: maybeTextAt(item, "output"),
    error: errorText(item["error"]),
  };
}

/** What the model asked for: the same of a call and of a request to approve it. */
export function mcpParams(item: WireItem) {
  return {
    name: textAt(item, "name"),
    serverLabel: textAt(item, "server_label"),
    arguments: textAt(item, "arguments"),
  };
}

/** How a tool of a server is named in messages. */
export function toolOf(item: WireItem): string {
  return `${show(textAt(item, "name"))} of ${show(textAt(item, "server_label"))}`;
}

/** Whether it went well: most calls come without a status. */
export function verdictOn(item: WireItem): { readonly success: boolean; readonly message: string } {
  const error = errorText(item["error"]);
  const status = textAt(item, "status");
  if (error !== null)
    return { success: false, message: `Calling ${toolOf(item)} failed: ${error}` };
  if (hasFailed(status)) return { success: false, message: failureWith(status) };
  return { success: true, message: `Called ${toolOf(item)}` };
}

function ofServer(
  items: readonly WireItem[],
  type: string,
  { serverLabel }: McpConfig,
): readonly WireItem[] {
  return itemsOfType(items, type).filter((item) => item["server_label"] === serverLabel);
}

function listedTool(tool: WireItem): McpListedTool {
  return {
    name: textAt(tool, "name"),
    description: maybeTextAt(tool, "description"),
    inputSchema: recordAt(tool, "input_schema"),
  };
}
