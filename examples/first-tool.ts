/** Adds a tool and a typed answer to the first agent. */
import { definePrompt, type ProviderAdapter, Tool, ToolResult } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
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
  instructions: "Bake as many loaves of $kind bread as are missing to 15.",
  params: z.object({ kind: z.string() }),
  tools: [countLoaves],
  output: z.object({ loaves: z.number(), reason: z.string() }),
});
// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  { toolCalls: [{ name: "count_loaves", arguments: { kind: "rye" } }] },
  { text: '{ "loaves": 12, "reason": "3 of 15 are left." }' },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;
const { output } = await adapter.evaluate(baker.bind({ kind: "rye" }));
console.log(`Bake ${output.loaves}: ${output.reason}`);
// prints: Bake 12: 3 of 15 are left.
