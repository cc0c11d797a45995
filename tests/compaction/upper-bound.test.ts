import { expect, it, onTestFinished } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult } from "weakincentives";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";
import { changeResponse } from "../support/wire-stream.ts";

/** Evaluates with a model that makes one call per turn and then answers. Returns the requested paths. */
async function evaluateAndListPaths(
  calls: readonly ModelAction[],
  change: (response: Response) => Response | Promise<Response> = (response) => response,
): Promise<readonly string[]> {
  const model = scriptedModel([...calls.map((call) => [call]), [{ say: "Seen." }]]);
  const provider = new LocalProvider({ model });
  onTestFinished(() => provider[Symbol.asyncDispose]());
  const paths: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    paths.push(new URL(String(input)).pathname);
    return await change(await provider.fetch(input, init));
  };
  const compaction = { thresholdTokens: 1_500 };
  const adapter = new OpenAIAdapter({ model: "local", compaction, clientConfig: { fetch } });
  await adapter.evaluate(new Prompt(manual), { session: new Session() });
  return paths;
}

const read = new Tool({
  name: "read",
  description: "Reads the manual.",
  params: z.object({}),
  handler: async () => ToolResult.ok(null, "word ".repeat(200)),
});
const look = new Tool({
  name: "look",
  description: "Looks at a page.",
  params: z.object({ page: z.number().describe("One of them. ".repeat(500)) }),
  handler: async () => ToolResult.ok("nothing"),
});
const pages = { key: "pages", title: "Pages", template: "Look at them.", summary: "Many." };
const manual = new PromptTemplate({
  ns: "tests",
  key: "manual",
  sections: [
    new MarkdownSection({ key: "task", title: "Task", template: "Read it.", tools: [read] }),
    new MarkdownSection({ ...pages, visibility: "summary", tools: [look] }),
  ],
});
const compactedBetween = [
  "/v1/responses",
  "/v1/responses/input_tokens",
  "/v1/responses/compact",
  "/v1/responses",
];

it("a conversation is compacted when the tools of an opened section make it too long", async () => {
  const args = { section_keys: ["pages"], reason: "To see." };
  const paths = await evaluateAndListPaths([{ call: { name: "open_sections", args } }]);
  expect(paths.slice(0, 4)).toEqual(compactedBetween);
});

it("a conversation is measured by its bytes when responses report no usage", async () => {
  const removeUsage = async (response: Response) =>
    await changeResponse(response, ({ usage: _usage, ...rest }) => rest);
  const calls = Array.from({ length: 8 }, () => ({ call: { name: "read", args: {} } }));
  expect(await evaluateAndListPaths(calls, removeUsage)).toContain("/v1/responses/compact");
});
