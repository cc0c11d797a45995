import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  type ProviderAdapter,
  type Section,
  type Session,
  Tool,
  ToolResult,
} from "../../src/index.ts";
import type { ModelAction, ModelScript } from "../../src/local/index.ts";
import type { EnteredFiles, EnteredPart } from "./entered-files.ts";

/** Code that reads a mounted file and writes another; a path is relative to the workspace. */
export function codeIn(folder: string): string {
  return `text = open("${folder}notes/a.txt").read(); open("${folder}notes/b.txt", "w").write(text)`;
}

/**
 * What the model does: it runs code, takes a short note, takes a note that makes the conversation
 * too long, and answers. Asked for a summary, as the Claude Agent SDK does, it gives one.
 */
export function scriptWith(code: string, longNote: number): ModelScript {
  const turns: ModelAction[][] = [
    [{ code }],
    [{ call: { name: "note", args: { text: "barn" } } }],
    [{ call: { name: "note", args: { text: "owl ".repeat(longNote) } } }],
    [{ say: "Done." }],
  ];
  return ({ text }) =>
    text.includes("<summary>")
      ? [{ say: "<summary>Two notes were taken.</summary>" }]
      : (turns.shift() ?? [{ fail: { message: "The script has ended." } }]);
}

/** A folder to mount. It goes with the trace's temporary folder. */
export function folderToMount(): string {
  const path = mkdtempSync(join(tmpdir(), "mounted-"));
  writeFileSync(join(path, "a.txt"), "one\n");
  return path;
}

/** A prompt with a task, a tool and a workspace. */
export function promptWith(...sections: readonly Section[]): Prompt<string> {
  const note = new Tool({
    name: "note",
    description: "Takes a note.",
    params: z.strictObject({ text: z.string() }), // with the schema library of the examples
    handler: ({ text }) => ToolResult.ok({ length: text.length }, text),
  });
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Go.", tools: [note] });
  const all = [task, ...sections];
  return new Prompt(new PromptTemplate({ ns: "trace", key: "run", sections: all }));
}

/** The events that end a part of the trace. */
const MARKED = [
  ...(["PromptRendered", "TurnStarted", "TurnCompleted", "ToolInvoked"] as const),
  ...(["ContextCompacted", "PromptExecuted"] as const),
];

/** Evaluates a prompt and records the files. It fails unless the conversation was compacted once. */
export async function traceEvaluation(
  adapter: ProviderAdapter,
  prompt: Prompt<string>,
  session: Session,
  start: () => EnteredFiles,
): Promise<readonly EnteredPart[]> {
  let compactions = 0;
  using entered = start();
  // By name: a subscriber to all events would also hear the progress of turns, which costs more files.
  for (const type of MARKED) session.bus.subscribe(type, () => entered.mark(type));
  session.bus.subscribe("ContextCompacted", () => {
    compactions += 1;
  });
  await adapter.evaluate(prompt, { session });
  entered.mark("end");
  if (compactions !== 1) throw new Error(`The conversation was compacted ${compactions} times.`);
  return entered.parts;
}
