import {
  type McpConfig,
  type McpResult,
  type McpToolFilter,
  mcpTool,
} from "../../tools/hosted/mcp.ts";
import { checkWithFactory } from "../../tools/hosted-tool.ts";
import type { WireMcp, WireMcpFilter, WireOutput } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { identifyCall, omitUndefined } from "./codec-call.ts";
import { type LiveMcpTool, requestApproval } from "./mcp-approval.ts";
import {
  findListedTools,
  findMcpCalls,
  findPendingApprovals,
  parseMcpCall,
  readMcpParams,
  summarizeMcpCall,
} from "./mcp-calls.ts";

/** The mcp tool. https://platform.openai.com/docs/guides/tools-connectors-mcp */
export const mcpCodec: HostedToolCodec<McpConfig, McpResult> = {
  kind: "mcp",

  params: { name: "string", serverLabel: "string", arguments: "string" },

  label: ({ config: { serverLabel } }) => serverLabel,

  serialize(tool) {
    const { config } = tool;
    checkWithFactory(tool, () => mcpTool(config));
    const { serverLabel, serverUrl, allowedTools, requireApproval } = config;
    const entry: WireMcp = {
      type: "mcp",
      server_label: serverLabel,
      server_url: serverUrl,
      ...omitUndefined({
        server_description: config.serverDescription,
        authorization: config.authorization,
        headers: config.headers,
        allowed_tools: allowedTools && toWireAllowedTools(allowedTools),
        require_approval: requireApproval && toWireApproval(requireApproval),
      }),
    };
    return entry;
  },

  toolChoice: ({ config: { serverLabel } }) => ({ type: "mcp", server_label: serverLabel }),

  parseOutput(items, { config }) {
    const calls = findMcpCalls(items, config).map(parseMcpCall);
    if (calls.length === 0) return null;
    return { calls, ...omitUndefined({ tools: findListedTools(items, config) }) };
  },

  calls(items, tool) {
    return findMcpCalls(items, tool.config).map((item) => {
      const verdict = summarizeMcpCall(item);
      const output = verdict.success ? { calls: [parseMcpCall(item)] } : null;
      return { ...identifyCall(item, tool), params: readMcpParams(item), output, ...verdict };
    });
  },

  delegatedCalls(items, tool: LiveMcpTool) {
    return findPendingApprovals(items, tool.config).map((item) => ({
      ...identifyCall(item, tool),
      params: readMcpParams(item),
      needsApproval: !tool.live.approve, // asks the evaluation instead
      run: () => requestApproval(item, tool),
    }));
  },

  answer({ callId, success, message }) {
    const response: WireOutput = {
      type: "mcp_approval_response",
      approval_request_id: callId,
      approve: success,
      ...(!success && { reason: message }),
    };
    return response;
  },
};

function toWireAllowedTools(
  allowed: NonNullable<McpConfig["allowedTools"]>,
): NonNullable<WireMcp["allowed_tools"]> {
  return "map" in allowed ? allowed : toWireFilter(allowed);
}

function toWireApproval(
  approval: NonNullable<McpConfig["requireApproval"]>,
): NonNullable<WireMcp["require_approval"]> {
  if (typeof approval === "string") return approval;
  const { always, never } = approval;
  return omitUndefined({
    always: always && toWireFilter(always),
    never: never && toWireFilter(never),
  });
}

function toWireFilter({ toolNames, readOnly }: McpToolFilter): WireMcpFilter {
  return omitUndefined({ tool_names: toolNames, read_only: readOnly });
}
