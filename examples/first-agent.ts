import { MarkdownSection, Prompt, PromptTemplate, Session, Tool, ToolResult } from "weakincentives";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of one kind that are left.",
  params: z.object({ kind: z.string() }),
  handler: ({ kind }) =>
    kind === "rye" ? ToolResult.ok({ left: 3 }) : ToolResult.error(`There is no ${kind} bread.`),
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Decide how many loaves of $kind bread to bake tonight.",
  params: z.object({ kind: z.string() }),
  tools: [countLoaves],
});
const output = z.object({ loaves: z.number(), reason: z.string() });
const baker = new PromptTemplate({ ns: "bakery", key: "baker", sections: [task], output });

// A scripted model. Replace it with a provider's adapter; the rest stays the same.
const model = scriptedClient(
  { toolCalls: [{ name: "count_loaves", arguments: { kind: "rye" } }] },
  { text: '{ "loaves": 12, "reason": "3 of 15 are left." }' },
);
const prompt = new Prompt(baker).bind({ kind: "rye" });
const response = await model.evaluate(prompt, { session: new Session() });
console.log(`Bake ${response.output.loaves}: ${response.output.reason}`);
// prints: Bake 12: 3 of 15 are left.
