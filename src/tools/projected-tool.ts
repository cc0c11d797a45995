import { HostedTool } from "./hosted-tool.ts";
import { NativeTool } from "./native-tool.ts";
import { ProviderTool } from "./provider-tool.ts";
import type { Tool } from "./tool.ts";

/** A tool that a provider runs, as a hosted tool; a tool that runs here gives none. */
export function projectedTool(tool: Tool): readonly HostedTool[] {
  const { name, description } = tool;
  if (tool instanceof ProviderTool) {
    const { kind, config, provider, handleProviderOutput } = tool;
    return [new HostedTool({ kind, name, description, config, provider, handleProviderOutput })];
  }
  if (tool instanceof NativeTool) {
    return [new HostedTool({ kind: tool.kind, name, description, config: tool.config })];
  }
  return [];
}

/** Whether the provider runs it, so that its handler, if any, only looks at what was done. */
export function runsAtProvider(tool: Tool): boolean {
  return tool instanceof ProviderTool || tool instanceof NativeTool;
}
