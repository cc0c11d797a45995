import type { WireItem } from "../../openai/wire.ts";
import { findShellName, findTextEditorName } from "./client-tools.ts";
import { type PatchEdit, quoteForShell, toPatchEdits } from "./patch-edits.ts";
import type { SdkToolUse } from "./sdk-tool-use.ts";

/**
 * Converts a patch to calls of the client's file tools. Anthropic's text editor creates and changes files. So do
 * Write and Edit of the Claude Agent SDK, whose Edit needs a file that was read before. The shell deletes files.
 */
export function toPatchToolUses(
  operations: readonly object[],
  tools: readonly WireItem[],
): readonly SdkToolUse[] {
  const editor = findTextEditorName(tools);
  const shell = findShellName(tools) ?? "Bash";
  const canRead = tools.some(({ name }) => name === "Read");
  let lastRead: string | null = null;
  return toPatchEdits(operations).flatMap((edit) => {
    const { kind, path } = edit;
    if (kind === "delete")
      return [{ name: shell, input: { command: `rm -- ${quoteForShell(path)}` } }];
    if (editor !== null) return [{ name: editor, input: toEditorInput(edit) }];
    if (kind === "create")
      return [{ name: "Write", input: { file_path: path, content: edit.text } }];
    const read = { name: "Read", input: { file_path: path } };
    const use = {
      name: "Edit",
      input: { file_path: path, old_string: edit.before, new_string: edit.after },
    };
    const isRead = lastRead === path || !canRead;
    lastRead = path;
    return isRead ? [use] : [read, use];
  });
}

/** Returns the arguments with which Anthropic's text editor makes an edit. */
export function toEditorInput(edit: Exclude<PatchEdit, { kind: "delete" }>): WireItem {
  const { path } = edit;
  return edit.kind === "create"
    ? { command: "create", path, file_text: edit.text }
    : { command: "str_replace", path, old_str: edit.before, new_str: edit.after };
}
