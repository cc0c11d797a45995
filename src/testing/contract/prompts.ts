import { plainSchema } from "../../base/schema/plain-schema.ts";
import type { Infer } from "../../base/schema/schema.ts";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { defineSlice } from "../../session/define-slice.ts";
import type { Slice } from "../../session/slice.ts";
import { codeInterpreterTool } from "../../tools/hosted/code-interpreter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import { Tool, type ToolOptions } from "../../tools/tool.ts";
import type { ToolHandler } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";

declare module "../../session/event-map.ts" {
  /** Adds the event of the contract's tools. */
  interface EventMap {
    /** A tool of the contract recorded its word. */
    ContractNoted: {
      /** Name of the event. */
      readonly type: "ContractNoted";
      /** The word. */
      readonly note: string;
    };
  }
}

/** Notes of tool handlers. Notes of failed calls are rolled back. */
export const notes: Slice<readonly string[]> = defineSlice<readonly string[]>("contract.notes", {
  initial: [],
  on: { ContractNoted: (all, { note }) => [...all, note] },
});

/** `{ word: string }`. The contract does not depend on a schema library. */
export const wordSchema = plainSchema({ word: { type: "string", description: "A word." } });

type Word = Infer<typeof wordSchema>;

/** Records its word, then succeeds, fails or throws, depending on the word. */
export const noteTool: Tool<Word, unknown> = wordTool("note", ({ word }, { session }) => {
  session.dispatch({ type: "ContractNoted", note: word });
  if (word === "throw") throw new Error("thrown by the contract");
  return word === "fail"
    ? ToolResult.error("refused by the contract")
    : ToolResult.ok(`noted ${word}`);
});

/** Creates a tool that takes a word. */
export function wordTool(
  name: string,
  handler: ToolHandler<Word, unknown>,
  options: Pick<ToolOptions<Word, unknown>, "needsApproval"> = {},
): Tool<Word, unknown> {
  const description = "A tool of the contract.";
  return new Tool({ name, description, params: wordSchema, handler, ...options });
}

/** Creates a prompt with the text `"Do what the contract says."` and these tools. */
export function createPrompt(
  tools: readonly Tool[] = [],
  hostedTools: readonly HostedTool[] = [],
): Prompt<string> {
  return new Prompt(
    new PromptTemplate({
      ns: "contract",
      key: "text",
      sections: [taskSection(tools, hostedTools)],
    }),
  );
}

/** The texts of {@link createRolesPrompt}. */
export const ROLE_TEXTS = {
  system: "Do what the contract says.",
  user: "Look into the barn.",
} as const;

/** Creates a prompt with a user section, before its system section. */
export function createRolesPrompt(tools: readonly Tool[] = []): Prompt<string> {
  const template = ROLE_TEXTS.user;
  const user = new MarkdownSection({ key: "place", title: "Place", template, role: "user" });
  const sections = [user, taskSection(tools, [])];
  return new Prompt(new PromptTemplate({ ns: "contract", key: "roles", sections }));
}

/** The tool with which the model runs code in a workspace. */
export const codeTool = codeInterpreterTool();

/** Creates a prompt with a workspace in which the model may run code. */
export function createWorkspacePrompt(
  workspace: Section,
  tools: readonly Tool[] = [],
): Prompt<string> {
  const sections = [taskSection(tools, [codeTool]), workspace];
  return new Prompt(new PromptTemplate({ ns: "contract", key: "files", sections }));
}

/** Creates a prompt whose answer is a word. */
export function createWordPrompt(tools: readonly Tool[] = []): Prompt<Word> {
  return createWordPromptFrom([taskSection(tools, [])]);
}

/** Creates a prompt with a workspace whose answer is a word. */
export function createWordWorkspacePrompt(workspace: Section): Prompt<Word> {
  return createWordPromptFrom([taskSection([], [codeTool]), workspace]);
}

function createWordPromptFrom(sections: readonly Section[]): Prompt<Word> {
  return new Prompt(
    new PromptTemplate({ ns: "contract", key: "word", sections, output: wordSchema }),
  );
}

function taskSection(tools: readonly Tool[], hostedTools: readonly HostedTool[]): MarkdownSection {
  const template = ROLE_TEXTS.system;
  return new MarkdownSection({ key: "task", title: "Task", template, tools, hostedTools });
}
