import { expect, test } from "vitest";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { checkOneWorkspace, findWorkspace } from "./workspace.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace-section.ts";

const session = new Session();
const files = (key: string) => new ClaudeAgentWorkspaceSection({ session, key });

function promptOf(...sections: readonly Section[]): Prompt {
  return new Prompt(new PromptTemplate({ ns: "test", key: "files", sections }));
}

test("a prompt has one workspace or none, wherever it stands", () => {
  const section = files("files");
  const parts = { key: "task", title: "Task", template: "Go." };
  const nested = promptOf(new MarkdownSection({ ...parts, children: [section] }));
  const none = promptOf(new MarkdownSection(parts));
  for (const prompt of [nested, none]) expect(() => checkOneWorkspace(prompt)).not.toThrow();
  expect(findWorkspace(nested)).toBe(section);
  expect(findWorkspace(none)).toBeNull();
});

test("a prompt with two workspaces is refused, and both are named", () => {
  expect(() => checkOneWorkspace(promptOf(files("one"), files("two")))).toThrow(
    "The prompt's workspaces must be at most one, for the SDK works in one folder, got " +
      '["one","two"]: put all mounts into one section',
  );
});
