import type { UnknownRecord } from "../../base/reading.ts";
import { textAt, textsAt } from "../../base/reading.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { keepInBounds } from "../workspace/bounds.ts";
import type { HostedKind, NativeName, NativeTool } from "./hosted-kind.ts";

interface FileTool extends Required<Omit<NativeTool, "createLog">> {
  readonly kind: string;
  readonly description: string;
}

/** The SDK's tools for files. They stay inside the workspace. */
export const fileNatives: readonly FileTool[] = [
  fileTool("Read", {
    kind: "claude_read",
    description: "Read files of the working folder.",
    isReadOnly: true,
    describe: (input) => `Read ${textAt(input, "file_path")}`,
  }),
  fileTool("Glob", {
    kind: "claude_glob",
    description: "Find files of the working folder by their names.",
    isReadOnly: true,
    describe: describeMatches,
  }),
  fileTool("Grep", {
    kind: "claude_grep",
    description: "Search the files of the working folder.",
    isReadOnly: true,
    describe: describeMatches,
  }),
  fileTool("Write", {
    kind: "claude_write",
    description: "Write files of the working folder.",
    isReadOnly: false,
    describe: (input, response) =>
      `${response["type"] === "update" ? "Overwrote" : "Created"} ${textAt(input, "file_path")}`,
  }),
  fileTool("Edit", {
    kind: "claude_edit",
    description: "Change files of the working folder.",
    isReadOnly: false,
    describe: (input) => `Edited ${textAt(input, "file_path")}`,
  }),
];

/** The kinds `claude_read` to `claude_edit`, which every prompt with a workspace has. */
export const fileKinds: readonly HostedKind[] = fileNatives.map(({ kind, name }) => ({
  kind,
  madeBy: "`ClaudeAgentWorkspaceSection`",
  tools: [name],
  becomes: "never leaves the workspace; events, no typed output",
  refused: "a prompt without `ClaudeAgentWorkspaceSection`",
  needsWorkspace: true,
}));

/** Creates the hosted tools that a workspace adds to a prompt; `"plan"` leaves only those that read. */
export function fileTools(permissionMode?: string): readonly HostedTool[] {
  return fileNatives
    .filter(({ isReadOnly }) => isReadOnly || permissionMode !== "plan")
    .map(
      ({ kind, description }) =>
        new HostedTool({ kind, name: kind, description, config: {}, provider: "claude" }),
    );
}

function fileTool(
  name: NativeName,
  parts: Pick<FileTool, "kind" | "description" | "isReadOnly" | "describe">,
): FileTool {
  return {
    name,
    needsWorkspace: true,
    judge: async ({ input, bounds }) =>
      bounds
        ? await keepInBounds(name, input, bounds)
        : { denied: `${name} has no files to work on` },
    ...parts,
  };
}

function describeMatches(_input: UnknownRecord, response: UnknownRecord): string {
  return (
    textAt(response, "content") || textsAt(response, "filenames").join("\n") || "Nothing found"
  );
}
