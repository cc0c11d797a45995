import { messageOf } from "../../base/errors.ts";
import { textAt } from "../../base/reading.ts";
import type { McpConfig, McpLive, McpResult } from "../../tools/hosted/mcp.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { WireItem } from "../wire.ts";
import type { OutcomeOf } from "./codec-parts.ts";
import { mcpParams, toolOf } from "./mcp-items.ts";

/** A tool of an MCP server with what decides over its calls, if anything does. */
export type LiveMcpTool = HostedTool<McpConfig, McpResult, McpLive>;

/** Puts one call to whoever decides. Only a plain `true` allows it; whatever else is a refusal. */
export async function runApproval(
  item: WireItem,
  { live: { approve } }: LiveMcpTool,
): Promise<OutcomeOf<McpResult>> {
  const refused = (why: string) => ({
    output: null,
    success: false,
    message: `Refused to call ${toolOf(item)}: ${why}`,
  });
  if (!approve) return refused("nobody is there to approve it");
  try {
    const verdict: unknown = await approve({ id: textAt(item, "id"), ...mcpParams(item) });
    if (verdict !== true) return refused("it was not approved");
  } catch (error) {
    return refused(`asking for approval failed: ${messageOf(error)}`);
  }
  return { output: null, success: true, message: `Approved the call of ${toolOf(item)}` };
}
