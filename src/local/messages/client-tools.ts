import type { WireItem } from "../../openai/wire.ts";

/** Returns the name of the client's shell: Anthropic's `bash` tool, or the Agent SDK's `Bash`. */
export function findShellName(tools: readonly WireItem[]): string | null {
  const tool = tools.find(({ type }) => isOfKind(type, "bash"));
  if (tool) return String(tool["name"]);
  return tools.some(({ name }) => name === "Bash") ? "Bash" : null;
}

/** Returns the name of Anthropic's text editor tool, or `null` if the client does not offer it. */
export function findTextEditorName(tools: readonly WireItem[]): string | null {
  const tool = tools.find(({ type }) => isOfKind(type, "text_editor"));
  return tool ? String(tool["name"]) : null;
}

/** Whether the client can change files: with Anthropic's text editor, or with the Agent SDK's tools. */
export function hasEditor(tools: readonly WireItem[]): boolean {
  const isEditor = ({ name }: WireItem) => name === "Write" || name === "Edit";
  return findTextEditorName(tools) !== null || tools.some(isEditor);
}

/** Returns a JSON Schema of the arguments of one of Anthropic's client tools, or `null` for other tools. */
export function findClientToolSchema({ type }: WireItem): WireItem | null {
  if (isOfKind(type, "bash")) return BASH;
  return isOfKind(type, "text_editor") ? TEXT_EDITOR : null;
}

const text = { type: "string" };

const BASH: WireItem = {
  type: "object",
  properties: {
    command: { ...text, description: "The command to run." },
    restart: { type: "boolean", description: "Restarts the shell." },
  },
};

const TEXT_EDITOR: WireItem = {
  type: "object",
  properties: {
    command: { ...text, enum: ["view", "create", "str_replace", "insert"] },
    path: { ...text, description: "The path of the file." },
    file_text: { ...text, description: "The content of a new file." },
    old_str: { ...text, description: "The text to replace, which occurs once." },
    new_str: { ...text, description: "The new text." },
    insert_line: { type: "integer", description: "The line after which to insert." },
    insert_text: { ...text, description: "The text to insert." },
    view_range: { type: "array", items: { type: "integer" } },
  },
  required: ["command", "path"],
};

/** Whether a tool's type is a version of a kind: `bash_20250124`. */
function isOfKind(type: unknown, kind: string): boolean {
  return typeof type === "string" && type.startsWith(`${kind}_2`);
}
