import { InvalidOptionError } from "../../base/errors.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { ClaudeAgentWorkspaceSection } from "./workspace-section.ts";

/** The workspace of a prompt, if it has one. */
export function workspaceOf(prompt: Prompt): ClaudeAgentWorkspaceSection | null {
  return prompt?.findSection?.(ClaudeAgentWorkspaceSection) ?? null;
}

/** Refuses a prompt with several of them: the SDK works in one folder. */
export function checkOneWorkspace({ template }: Prompt): void {
  const all = template.outline.filter(
    ({ section }) => section instanceof ClaudeAgentWorkspaceSection,
  );
  if (all.length < 2) return;
  throw new InvalidOptionError({
    field: "The prompt's workspaces",
    value: all.map(({ path }) => path),
    rule: "must be at most one, for the SDK works in one folder",
    remedy: "put all mounts into one section",
  });
}
