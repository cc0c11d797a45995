import { createHostedTool, type HostedTool } from "./hosted-tool.ts";
import { NativeTool } from "./native-tool.ts";
import { ProviderTool } from "./provider-tool.ts";
import type { Tool } from "./tool.ts";

/**
 * Converts a tool that the provider runs to a hosted tool. Returns an empty array for a tool with a
 * local handler.
 */
export function asHostedTool(tool: Tool): readonly HostedTool[] {
  const { name, description } = tool;
  if (tool instanceof ProviderTool) {
    const { kind, config, provider, handleProviderOutput } = tool;
    return [createHostedTool({ kind, name, description, config, provider, handleProviderOutput })];
  }
  if (tool instanceof NativeTool) {
    const { kind, config } = tool;
    return [
      createHostedTool({
        kind,
        name,
        description,
        config,
        provider: null,
        handleProviderOutput: null,
      }),
    ];
  }
  return [];
}

/** Returns whether the provider runs the tool. Its handler, if any, only processes the output. */
export function runsAtProvider(tool: Tool): boolean {
  return tool instanceof ProviderTool || tool instanceof NativeTool;
}
