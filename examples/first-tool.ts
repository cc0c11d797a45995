import { definePrompt, Tool, ToolResult } from "weakincentives";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of one kind that are left.",
  params: z.object({ kind: z.string() }),
  handler: ({ kind }) =>
    kind === "rye" ? ToolResult.ok({ left: 3 }) : ToolResult.error(`There is no ${kind} bread.`),
});
const baker = definePrompt({
  name: "bakery:baker",
  instructions: "Decide how many loaves of $kind bread to bake tonight.",
  params: z.object({ kind: z.string() }),
  tools: [countLoaves],
  output: z.object({ loaves: z.number(), reason: z.string() }),
});

const model = scriptedClient(
  { toolCalls: [{ name: "count_loaves", arguments: { kind: "rye" } }] },
  { text: '{ "loaves": 12, "reason": "3 of 15 are left." }' },
);
const { output } = await model.evaluate(baker.bind({ kind: "rye" }));
console.log(`Bake ${output.loaves}: ${output.reason}`);
// prints: Bake 12: 3 of 15 are left.
