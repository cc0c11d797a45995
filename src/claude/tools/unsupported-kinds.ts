import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { HostedKind, Obstacle } from "./hosted-kind.ts";

/** Kinds that the SDK has no tool for. */
export const unsupportedKinds: readonly HostedKind[] = [
  createUnsupportedKind("file_search", "fileSearchTool", {
    why: "the Claude Agent SDK has no vector stores",
    instead:
      "mount the files with a ClaudeAgentWorkspaceSection, or write a Tool that searches them",
  }),
  createUnsupportedKind("image_generation", "imageGenerationTool", {
    why: "Claude does not generate images",
    instead: "write a Tool that generates them",
  }),
  createUnsupportedKind("mcp", "mcpTool", {
    why: "the adapter does not connect the model to other servers",
    instead: "write a Tool whose handler calls the server",
  }),
];

/** Creates the obstacle of a tool whose kind is not supported. */
export function toKindObstacle({ name, kind }: HostedTool, remedy: string): Obstacle {
  const rule = "must be a kind that Claude supports";
  return { field: `Hosted tool "${name}" kind`, value: kind, rule, remedy };
}

function createUnsupportedKind(
  kind: string,
  factory: string,
  { why, instead }: { readonly why: string; readonly instead: string },
): HostedKind {
  return {
    kind,
    createdBy: `\`${factory}\``,
    tools: [],
    behavior: `not supported: ${why}`,
    unsupported: instead,
    findObstacles: (tool) => [toKindObstacle(tool, `${instead}; ${why}`)],
  };
}
