import {
  filterByType,
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
} from "../../base/json.ts";
import { quoteValue } from "../../base/quote-value.ts";
import type { McpCall, McpConfig, McpListedTool } from "../../tools/hosted/mcp.ts";
import type { WireItem } from "../wire.ts";
import { describeFailure, hasFailed } from "./codec-call.ts";
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
    [...filterByType(items, "mcp_approval_response"), ...filterByType(items, "mcp_call")].map(
      (item) => readString(item, "approval_request_id"),
    ),
  );
  const requests = filterByServer(items, "mcp_approval_request", config);
  return requests.filter((item) => !settled.has(readString(item, "id")));
}

/** Finds the server's last list of its tools; `undefined` if there is none. */
export function findListedTools(
  items: readonly WireItem[],
  config: McpConfig,
): readonly McpListedTool[] | undefined {
  const list = filterByServer(items, "mcp_list_tools", config).at(-1);
  return list && readRecords(list, "tools").map(toListedTool);
}

/** Converts an `mcp_call` item. */
export function parseMcpCall(item: WireItem): McpCall {
  return {
    id: readString(item, "id"),
    ...readMcpParams(item),
    output: readStringOrNull(item, "output"),
    error: toErrorText(item["error"]),
  };
}

/** Reads the tool and arguments, from a call or from a request to approve it. */
export function readMcpParams(item: WireItem) {
  return {
    name: readString(item, "name"),
    serverLabel: readString(item, "server_label"),
    arguments: readString(item, "arguments"),
  };
}

/** Formats a tool and its server for messages. */
export function formatToolName(item: WireItem): string {
  return `${quoteValue(readString(item, "name"))} on ${quoteValue(readString(item, "server_label"))}`;
}

/** Reports whether a call succeeded. Most calls have no status. */
export function summarizeMcpCall(item: WireItem): {
  readonly success: boolean;
  readonly message: string;
} {
  const error = toErrorText(item["error"]);
  const status = readString(item, "status");
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
  return filterByType(items, type).filter((item) => item["server_label"] === serverLabel);
}

function toListedTool(tool: WireItem): McpListedTool {
  return {
    name: readString(tool, "name"),
    description: readStringOrNull(tool, "description"),
    inputSchema: readRecord(tool, "input_schema"),
  };
}
