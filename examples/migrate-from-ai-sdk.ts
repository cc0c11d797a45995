/** The same agent twice: as a `ToolLoopAgent` of the AI SDK, and as a prompt. Both plan and stream the same. */
// needs: ai
// needs: @ai-sdk/openai
import { createOpenAI } from "@ai-sdk/openai";
import { isStepCount, Output, streamText, ToolLoopAgent, tool } from "ai";
import { definePrompt, Tool, ToolResult } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const model = "gpt-5.2";
const instructions = "Decide how many loaves to bake tonight. The shelf holds 15.";
const input = "How many loaves of rye?";
const Kind = z.object({ kind: z.string() });
const Plan = z.object({ loaves: z.number(), reason: z.string() });
const description = "Counts the loaves of one kind that are left.";

/** Before: a model, its tools, an output and a stop condition make an agent. */
async function before(options: Parameters<typeof createOpenAI>[0]) {
  const openai = createOpenAI(options);
  const agent = new ToolLoopAgent({
    model: openai(model),
    instructions,
    tools: {
      count_loaves: tool({ description, inputSchema: Kind, execute: () => ({ left: 3 }) }),
    },
    output: Output.object({ schema: Plan }),
    stopWhen: isStepCount(10),
  });
  const { output } = await agent.generate({ prompt: input });
  console.log(`before: ${JSON.stringify(output)}`);

  const stream = streamText({ model: openai(model), prompt: "Say good night." });
  let text = "";
  for await (const delta of stream.textStream) text += delta;
  console.log(`before: ${text}`);
}

/** After: instructions, tools and an output make a prompt, and the adapter evaluates it. */
async function after(clientConfig: { fetch?: typeof fetch }) {
  const adapter = new OpenAIAdapter({ model, clientConfig });
  const countLoaves = new Tool({
    name: "count_loaves",
    description,
    params: Kind,
    handler: () => ToolResult.ok({ left: 3 }),
  });
  const baker = definePrompt({ name: "baker", instructions, tools: [countLoaves], output: Plan });
  const { output } = await adapter.evaluate(baker, { input, maxTurns: 10 });
  console.log(`after:  ${JSON.stringify(output)}`);

  const greeter = definePrompt({ name: "greeter", instructions: "You greet people." });
  const stream = adapter.stream(greeter, { input: "Say good night." });
  let text = "";
  for await (const delta of stream.text()) text += delta; // or: return stream.toResponse();
  console.log(`after:  ${text}`);
}

// A scripted model answers both programs. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const turns = [
  [{ call: { name: "count_loaves", args: { kind: "rye" } } }],
  [{ say: { loaves: 12, reason: "3 of 15 are left." } }],
  [{ say: "Good night, and thank you for the bread." }],
];
const provider = new LocalProvider({ model: scriptedModel([...turns, ...turns]) });
const isLive = process.argv.includes("--live");
try {
  await before(isLive ? {} : { apiKey: "local", fetch: provider.fetch });
  await after(isLive ? {} : { fetch: provider.fetch });
} finally {
  await provider.close();
}
// prints: before: {"loaves":12,"reason":"3 of 15 are left."}
// prints: before: Good night, and thank you for the bread.
// prints: after:  {"loaves":12,"reason":"3 of 15 are left."}
// prints: after:  Good night, and thank you for the bread.
