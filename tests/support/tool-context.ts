import {
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  type ToolContext,
  ToolResult,
} from "weakincentives";
import type { Filesystem } from "weakincentives/files";
import { scriptedClient } from "weakincentives/testing";

/** Returns a real tool context from an evaluation, with a workspace filesystem if one is given. */
export async function createRealContext(
  filesystem: Filesystem | null = null,
): Promise<ToolContext> {
  class Workspace extends MarkdownSection {
    readonly filesystem = filesystem;
  }
  let seen: ToolContext | undefined;
  const look = new Tool({
    name: "look",
    description: "Looks.",
    params: null,
    handler: (_, context) => {
      seen = context;
      return ToolResult.ok(null);
    },
  });
  const options = { key: "k", title: "T", template: "Go.", tools: [look] };
  const section = filesystem ? new Workspace(options) : new MarkdownSection(options);
  const template = new PromptTemplate({ ns: "demo", key: "k", sections: [section] });
  const client = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Done." });
  await client.evaluate(new Prompt(template), { session: new Session() });
  if (!seen) throw new Error("The handler was not called.");
  return seen;
}
