import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  jsonSchema,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type Section,
  Tool,
  ToolResult,
} from "../../src/index.ts";
import type { ModelScript } from "../../src/local/models/scripted-model.ts";

/** Code that reads a mounted file and writes another; a path is relative to the workspace. */
export function codeIn(folder: string): string {
  return `text = open("${folder}notes/a.txt").read(); open("${folder}notes/b.txt", "w").write(text)`;
}

/** What the model does: it runs code, calls a tool with a long text, calls it again, and answers. */
export function scriptWith(code: string): ModelScript {
  return [
    [{ code }],
    [{ call: { name: "note", args: { text: "owl ".repeat(5_000) } } }],
    [{ call: { name: "note", args: { text: "barn" } } }],
    [{ say: "Done." }],
  ];
}

/** A folder to mount; it is removed when the trace is over. */
export function folderToMount(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "wink-trace-"));
  writeFileSync(join(path, "a.txt"), "one\n");
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A prompt with a task, a tool and a workspace. */
export function promptWith(...sections: readonly Section[]): Prompt<string> {
  const note = new Tool({
    name: "note",
    description: "Takes a note.",
    params: jsonSchema<{ text: string }>({
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    }),
    handler: ({ text }) => ToolResult.ok({ length: text.length }, text),
  });
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Go.", tools: [note] });
  const all = [task, ...sections];
  return new Prompt(new PromptTemplate({ ns: "trace", key: "run", sections: all }));
}
