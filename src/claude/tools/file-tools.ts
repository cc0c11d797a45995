import { readString, readStrings, type UnknownRecord } from "../../base/json.ts";
import { HostedTool } from "../../tools/hosted-tool.ts";
import { keepInBounds } from "../workspace/bounds.ts";
import type { HostedKind, NativeName, NativeTool } from "./hosted-kind.ts";

interface FileTool extends NativeTool {
  readonly kind: string;
  readonly description: string;
}

/** The SDK's file tools, limited to the workspace. */
export const fileNativeTools: readonly FileTool[] = [
  createFileTool("Read", {
    kind: "claude_read",
    description: "Read files in the working folder.",
    isReadOnly: true,
    describe: (input) => `Read ${readString(input, "file_path")}`,
  }),
  createFileTool("Glob", {
    kind: "claude_glob",
    description: "Find files in the working folder by name.",
    isReadOnly: true,
    describe: describeMatches,
  }),
  createFileTool("Grep", {
    kind: "claude_grep",
    description: "Search the files in the working folder.",
    isReadOnly: true,
    describe: describeMatches,
  }),
  createFileTool("Write", {
    kind: "claude_write",
    description: "Write files in the working folder.",
    isReadOnly: false,
    codeField: "content",
    toParams: (input) => ({
      operation: "create",
      path: readString(input, "file_path"),
      diff: markLines("+", readString(input, "content")),
    }),
    describe: (input, response) =>
      `${response["type"] === "update" ? "Overwrote" : "Created"} ${readString(input, "file_path")}`,
  }),
  createFileTool("Edit", {
    kind: "claude_edit",
    description: "Change files in the working folder.",
    isReadOnly: false,
    codeField: "new_string",
    toParams: (input) => ({
      operation: "update",
      path: readString(input, "file_path"),
      diff:
        markLines("-", readString(input, "old_string")) +
        markLines("+", readString(input, "new_string")),
      ...(input["replace_all"] === true && { replaceAll: true }),
    }),
    describe: (input) => `Edited ${readString(input, "file_path")}`,
  }),
];

/** The kinds `claude_read` to `claude_edit`. Every prompt with a workspace has them. */
export const fileKinds: readonly HostedKind[] = fileNativeTools.map(({ kind, name }) => ({
  kind,
  createdBy: "`ClaudeAgentWorkspaceSection`",
  tools: [name],
  behavior: "limited to the workspace; events, no typed output",
  unsupported: "a prompt without `ClaudeAgentWorkspaceSection`",
  needsWorkspace: true,
}));

/** Creates the hosted tools that a workspace adds to a prompt. Mode `"plan"` has only read tools. */
export function createFileTools(permissionMode?: string): readonly HostedTool[] {
  return fileNativeTools
    .filter(({ isReadOnly }) => isReadOnly || permissionMode !== "plan")
    .map(
      ({ kind, description }) =>
        new HostedTool({ kind, name: kind, description, config: {}, provider: "claude" }),
    );
}

function createFileTool(
  name: NativeName,
  parts: Pick<
    FileTool,
    "kind" | "description" | "isReadOnly" | "codeField" | "toParams" | "describe"
  >,
): FileTool {
  return {
    name,
    needsWorkspace: true,
    judge: async ({ input, bounds }) =>
      bounds
        ? await keepInBounds(name, input, bounds)
        : { denied: `${name} is not available without a workspace` },
    ...parts,
  };
}

/** Writes a mark before each line of a text. */
function markLines(mark: "+" | "-", text: string): string {
  return text
    .split("\n")
    .map((line) => `${mark}${line}\n`)
    .join("");
}

function describeMatches(_input: UnknownRecord, response: UnknownRecord): string {
  return (
    readString(response, "content") ||
    readStrings(response, "filenames").join("\n") ||
    "Nothing found"
  );
}
