import {
  type McpConfig,
  type McpResult,
  type McpToolFilter,
  mcpTool,
} from "../../tools/hosted/mcp.ts";
import { checkedConfig } from "../../tools/hosted-tool.ts";
import type { WireMcp, WireMcpFilter, WireOutput } from "../wire.ts";
import type { HostedToolCodec } from "./codec.ts";
import { identityOf, onlySet } from "./codec-parts.ts";
import { type LiveMcpTool, runApproval } from "./mcp-approval.ts";
import { approvalsIn, callOf, callsIn, listedTools, mcpParams, verdictOn } from "./mcp-items.ts";

/** https://platform.openai.com/docs/guides/tools-connectors-mcp */
export const mcpCodec: HostedToolCodec<McpConfig, McpResult> = {
  kind: "mcp",

  params: { name: "string", serverLabel: "string", arguments: "string" },

  label: ({ config: { serverLabel } }) => serverLabel,

  serialize(tool) {
    const { config } = tool;
    checkedConfig(tool, () => mcpTool(config));
    const { serverLabel, serverUrl, allowedTools, requireApproval } = config;
    const entry: WireMcp = {
      type: "mcp",
      server_label: serverLabel,
      server_url: serverUrl,
      ...onlySet({
        server_description: config.serverDescription,
        authorization: config.authorization,
        headers: config.headers,
        allowed_tools: allowedTools && allowedOf(allowedTools),
        require_approval: requireApproval && approvalOf(requireApproval),
      }),
    };
    return entry;
  },

  toolChoice: ({ config: { serverLabel } }) => ({ type: "mcp", server_label: serverLabel }),

  parseOutput(items, { config }) {
    const calls = callsIn(items, config).map(callOf);
    if (calls.length === 0) return null;
    return { calls, ...onlySet({ tools: listedTools(items, config) }) };
  },

  calls(items, tool) {
    return callsIn(items, tool.config).map((item) => {
      const verdict = verdictOn(item);
      const output = verdict.success ? { calls: [callOf(item)] } : null;
      return { ...identityOf(item, tool), params: mcpParams(item), output, ...verdict };
    });
  },

  asked(items, tool: LiveMcpTool) {
    return approvalsIn(items, tool.config).map((item) => ({
      ...identityOf(item, tool),
      params: mcpParams(item),
      run: () => runApproval(item, tool),
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

function allowedOf(
  allowed: NonNullable<McpConfig["allowedTools"]>,
): NonNullable<WireMcp["allowed_tools"]> {
  return "map" in allowed ? allowed : filterOf(allowed);
}

function approvalOf(
  approval: NonNullable<McpConfig["requireApproval"]>,
): NonNullable<WireMcp["require_approval"]> {
  if (typeof approval === "string") return approval;
  const { always, never } = approval;
  return onlySet({ always: always && filterOf(always), never: never && filterOf(never) });
}

function filterOf({ toolNames, readOnly }: McpToolFilter): WireMcpFilter {
  return onlySet({ tool_names: toolNames, read_only: readOnly });
}
