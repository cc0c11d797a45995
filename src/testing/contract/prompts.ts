import { plainSchema } from "../../base/schema/plain-schema.ts";
import type { Infer } from "../../base/schema/schema.ts";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice, type Slice } from "../../session/slice.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { Tool } from "../../tools/tool.ts";
import type { ToolHandler } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
  interface EventMap {
    ContractNoted: { readonly type: "ContractNoted"; readonly note: string };
  }
}

/** What handlers noted; a failed call's notes are rolled back. */
export const notes: Slice<readonly string[]> = defineSlice<readonly string[]>("contract.notes", {
  initial: [],
  on: { ContractNoted: (all, { note }) => [...all, note] },
});

/** `{ word: string }`: the contract brings no schema library. */
export const wordSchema = plainSchema({ word: { type: "string", description: "A word." } });

type Word = Infer<typeof wordSchema>;

/** Notes its word, then succeeds, fails or throws by what the word is. */
export const noteTool: Tool<Word, unknown> = wordTool("note", ({ word }, { session }) => {
  session.dispatch({ type: "ContractNoted", note: word });
  if (word === "throw") throw new Error("thrown by the contract");
  return word === "fail"
    ? ToolResult.error("refused by the contract")
    : ToolResult.ok(`noted ${word}`);
});

export function wordTool(name: string, handler: ToolHandler<Word, unknown>): Tool<Word, unknown> {
  return new Tool({ name, description: "A tool of the contract.", params: wordSchema, handler });
}

/** A prompt that says `"Do what the contract says."` and has these tools. */
export function promptWith(
  tools: readonly Tool[] = [],
  hostedTools: readonly HostedTool[] = [],
): Prompt<string> {
  return new Prompt(
    new PromptTemplate({ ns: "contract", key: "text", sections: [task(tools, hostedTools)] }),
  );
}

/** The tool with which a model runs code beside a workspace. */
export const codeTool = codeInterpreterTool();

/** The same beside a workspace, in which code may run. */
export function promptIn(workspace: Section, tools: readonly Tool[] = []): Prompt<string> {
  const sections = [task(tools, [codeTool]), workspace];
  return new Prompt(new PromptTemplate({ ns: "contract", key: "files", sections }));
}

/** The same, to be answered with a word. */
export function wordPrompt(tools: readonly Tool[] = []): Prompt<Word> {
  return wordsFrom([task(tools, [])]);
}

/** The same beside a workspace, in which code may run. */
export function wordPromptIn(workspace: Section): Prompt<Word> {
  return wordsFrom([task([], [codeTool]), workspace]);
}

function wordsFrom(sections: readonly Section[]): Prompt<Word> {
  return new Prompt(
    new PromptTemplate({ ns: "contract", key: "word", sections, output: wordSchema }),
  );
}

function task(tools: readonly Tool[], hostedTools: readonly HostedTool[]): MarkdownSection {
  const template = "Do what the contract says.";
  return new MarkdownSection({ key: "task", title: "Task", template, tools, hostedTools });
}
