import type { HostedTool } from "../../tools/hosted-tool.ts";
import {
  codeObstacles,
  kindObstacle,
  type Obstacle,
  patchObstacles,
  searchObstacles,
  shellObstacles,
  workspaceObstacles,
} from "./ported-config.ts";

/** A tool of the Claude Agent SDK that may be switched on. */
export type NativeName = "Read" | "Glob" | "Grep" | "Write" | "Edit" | "Bash" | "WebSearch";

/** What becomes of one kind of hosted tool. */
export interface PortedKind {
  readonly kind: string;
  /** What makes it, as the guide names it. */
  readonly madeBy: string;
  /** None: it is refused. */
  readonly tools: readonly NativeName[];
  /** What stays of it, or why nothing does. */
  readonly becomes: string;
  /** What of it is refused, or what to do instead. */
  readonly refused: string;
  obstacles(tool: HostedTool, hasWorkspace: boolean): readonly Obstacle[];
}

/** Which of them change nothing. */
const readers: ReadonlySet<NativeName> = new Set(["Read", "Glob", "Grep", "WebSearch"]);

/** The SDK's tools for files, by the kind that each has here. */
export const fileKinds = [
  ["claude_read", "Read", "Read files of the working folder."],
  ["claude_glob", "Glob", "Find files of the working folder by their names."],
  ["claude_grep", "Grep", "Search the files of the working folder."],
  ["claude_write", "Write", "Write files of the working folder."],
  ["claude_edit", "Edit", "Change files of the working folder."],
] as const;

/** Where two kinds switch the same tool on, its calls count as those of the first. */
export const portedKinds: readonly PortedKind[] = [
  {
    kind: "web_search",
    madeBy: "`webSearchTool`",
    tools: ["WebSearch"],
    becomes:
      "typed output and citations as elsewhere; `domainFilter` always holds, and the model may only narrow it",
    refused:
      '`allowLiveAccess: false`; a `domainFilter` that blocks part of what it allows; `geoHint` and `searchContextSize`, which `"omit"` only drops',
    obstacles: searchObstacles,
  },
  {
    kind: "shell",
    madeBy: "`shellTool`",
    tools: ["Bash"],
    becomes: "commands run in the workspace, or else in an empty folder; events, no typed output",
    refused:
      '`environment` of type `"local"`, `containerId`, `fileIds`, `networkPolicy`; `memoryLimit`, which `"omit"` only drops',
    obstacles: shellObstacles,
  },
  {
    kind: "code_interpreter",
    madeBy: "`codeInterpreterTool`",
    tools: ["Bash"],
    becomes:
      "as `shell`, whose calls they are if the prompt has both; any language that is installed; events, no typed output",
    refused:
      'an existing container, `fileIds`, `hostMounts`, `networkPolicy`; `memoryLimit`, which `"omit"` only drops',
    obstacles: codeObstacles,
  },
  {
    kind: "apply_patch",
    madeBy: "`applyPatchTool`",
    tools: ["Write", "Edit"],
    becomes: "files of the workspace are written and edited, not deleted; events, no typed output",
    refused: "a prompt without `ClaudeAgentWorkspaceSection`; `filesystem`",
    obstacles: patchObstacles,
  },
  ...fileKinds.map(
    ([kind, tool]): PortedKind => ({
      kind,
      madeBy: "`ClaudeAgentWorkspaceSection`",
      tools: [tool],
      becomes: "never leaves the workspace; events, no typed output",
      refused: "a prompt without `ClaudeAgentWorkspaceSection`",
      obstacles: workspaceObstacles,
    }),
  ),
  unported("file_search", "fileSearchTool", {
    why: "the Claude Agent SDK has no vector stores",
    instead: "mount the files by a ClaudeAgentWorkspaceSection, or write a Tool that searches them",
  }),
  unported("image_generation", "imageGenerationTool", {
    why: "Claude draws no images",
    instead: "write a Tool that has them drawn",
  }),
  unported("mcp", "mcpTool", {
    why: "the adapter connects the model to no other server",
    instead: "write a Tool whose handler calls the server",
  }),
];

const kinds: ReadonlyMap<string, PortedKind> = new Map(
  portedKinds.map((ported) => [ported.kind, ported]),
);

/** What becomes of a kind; `null` if nobody has heard of it. */
export function portedKind(kind: string): PortedKind | null {
  return kinds.get(kind) ?? null;
}

/** The SDK's tools that a kind of hosted tool switches on in a permission mode. */
export function portedTo(kind: string, permissionMode?: string): readonly NativeName[] {
  const tools = portedKind(kind)?.tools ?? [];
  return permissionMode === "plan" ? tools.filter((tool) => readers.has(tool)) : tools;
}

/** Whose call a call of one of the SDK's tools is; `null` if the prompt has no tool for it. */
export function ownerOf(name: string, hostedTools: readonly HostedTool[]): HostedTool | null {
  const owners = portedKinds.filter(({ tools }) => tools.some((tool) => tool === name));
  const found = owners.flatMap(({ kind }) => hostedTools.filter((tool) => tool.kind === kind));
  return found[0] ?? null;
}

function unported(
  kind: string,
  factory: string,
  { why, instead }: { readonly why: string; readonly instead: string },
): PortedKind {
  return {
    kind,
    madeBy: `\`${factory}\``,
    tools: [],
    becomes: `refused: ${why}`,
    refused: instead,
    obstacles: (tool) => [kindObstacle(tool, `${why}; ${instead}`)],
  };
}
