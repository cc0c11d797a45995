import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { HostedKind, Obstacle } from "./hosted-kind.ts";

/** The kinds for which the SDK has no tool. */
export const refusedKinds: readonly HostedKind[] = [
  refusedKind("file_search", "fileSearchTool", {
    why: "the Claude Agent SDK has no vector stores",
    instead: "mount the files by a ClaudeAgentWorkspaceSection, or write a Tool that searches them",
  }),
  refusedKind("image_generation", "imageGenerationTool", {
    why: "Claude draws no images",
    instead: "write a Tool that has them drawn",
  }),
  refusedKind("mcp", "mcpTool", {
    why: "the adapter connects the model to no other server",
    instead: "write a Tool whose handler calls the server",
  }),
];

/** The obstacle of a tool whose kind the SDK has nothing for. */
export function refuseKind({ name, kind }: HostedTool, remedy: string): Obstacle {
  const rule = "must be one that Claude has a tool for";
  return { field: `Hosted tool "${name}" kind`, value: kind, rule, remedy };
}

function refusedKind(
  kind: string,
  factory: string,
  { why, instead }: { readonly why: string; readonly instead: string },
): HostedKind {
  return {
    kind,
    madeBy: `\`${factory}\``,
    tools: [],
    becomes: `refused: ${why}`,
    refused: instead,
    findObstacles: (tool) => [refuseKind(tool, `${why}; ${instead}`)],
  };
}
