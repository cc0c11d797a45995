import { getErrorMessage } from "../../base/errors.ts";
import { readString } from "../../base/json.ts";
import type { McpConfig, McpLive, McpResult } from "../../tools/hosted/mcp.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import type { CallOutcome } from "./codec-call.ts";
import { formatToolName, readMcpParams } from "./mcp-calls.ts";

/** An MCP tool with its optional `approve` callback. */
export type LiveMcpTool = HostedTool<McpConfig, McpResult, McpLive>;

/**
 * Asks the `approve` callback about one call. Any value other than `true` denies the call. Without a callback the
 * evaluation has approved it.
 */
export async function requestApproval(
  item: WireItem,
  { live: { approve } }: LiveMcpTool,
): Promise<CallOutcome<McpResult>> {
  const deny = (why: string) => ({
    output: null,
    success: false,
    message: `Did not call ${formatToolName(item)}: ${why}`,
  });
  try {
    const request = { id: readString(item, "id"), ...readMcpParams(item) };
    const verdict: unknown = approve ? await approve(request) : true;
    if (verdict !== true) return deny("the call was not approved");
  } catch (error) {
    return deny(`the approval failed: ${getErrorMessage(error)}`);
  }
  return { output: null, success: true, message: `Approved the call to ${formatToolName(item)}` };
}
