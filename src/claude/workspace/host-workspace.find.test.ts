import { expect, test } from "vitest";
import { Prompt } from "../../prompt/prompt.ts";
import type { Section } from "../../prompt/section.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { checkOneWorkspace, findWorkspace } from "./host-workspace.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace-section.ts";

const session = new Session();
const createSection = (key: string) => new ClaudeAgentWorkspaceSection({ session, key });

function createPrompt(...sections: readonly Section[]): Prompt {
  return new Prompt(new PromptTemplate({ ns: "test", key: "files", sections }));
}

test("findWorkspace() finds a nested workspace, or returns null", () => {
  const section = createSection("files");
  const parts = { key: "task", title: "Task", template: "Go." };
  const nested = createPrompt(new MarkdownSection({ ...parts, children: [section] }));
  const none = createPrompt(new MarkdownSection(parts));
  for (const prompt of [nested, none]) expect(() => checkOneWorkspace(prompt)).not.toThrow();
  expect(findWorkspace(nested)).toBe(section);
  expect(findWorkspace(none)).toBeNull();
});

test("checkOneWorkspace() rejects two workspaces and names both", () => {
  expect(() => checkOneWorkspace(createPrompt(createSection("one"), createSection("two")))).toThrow(
    "Prompt workspaces must be at most one, because the SDK works in one folder, got " +
      '["one","two"]. Move all mounts to one section.',
  );
});
