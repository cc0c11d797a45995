/** An agent on your own model server (Ollama, vLLM, llama.cpp), with hosted tools that run on your machine. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { definePrompt, Tool, ToolResult, webSearchTool } from "weakincentives";
import { LocalProvider, upstreamModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const { values } = parseArgs({
  options: {
    live: { type: "boolean", default: false },
    "base-url": { type: "string", default: "http://localhost:11434/v1" },
    model: { type: "string", default: "qwen3" },
  },
});

// Replaces the model server. With `--live`, the server at `--base-url` answers.
const calls = [
  { name: "web_search", arguments: '{"query":"price of rye flour"}' },
  { name: "count_flour", arguments: '{"kind":"rye"}' },
];
const standIn = createServer(async (request, response) => {
  const { messages } = (await json(request)) as { messages: { role: string }[] };
  const call = calls[messages.filter(({ role }) => role === "tool").length];
  const content = "Order 21 kg of rye flour for 16.80: 4 of 25 kg are left.";
  const message = call
    ? { role: "assistant", tool_calls: [{ id: call.name, type: "function", function: call }] }
    : { role: "assistant", content };
  const usage = { prompt_tokens: 300, completion_tokens: 30, total_tokens: 330 };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ choices: [{ index: 0, message }], usage }));
});
await new Promise<void>((listening) => standIn.listen(0, "127.0.0.1", listening));
const { port } = standIn.address() as AddressInfo;
const baseURL = values.live ? values["base-url"] : `http://127.0.0.1:${port}/v1`;

const web = await mkdtemp(join(tmpdir(), "wink-example-"));
await writeFile(join(web, "flour.md"), "# Flour prices\n\nRye flour is at 0.80 a kilo.\n");
const model = upstreamModel({ baseURL, model: values.model });
const provider = new LocalProvider({ model, web });
try {
  const countFlour = new Tool({
    name: "count_flour",
    description: "Counts the kilos of one kind of flour that are left, of 25.",
    params: z.object({ kind: z.string() }),
    handler: () => ToolResult.ok({ left: 4 }),
  });
  const buyer = definePrompt({
    name: "bakery:buyer",
    instructions: "Order flour so that 25 kg are there, and name the price.",
    tools: [countFlour],
    hostedTools: [webSearchTool()],
  });
  const adapter = new OpenAIAdapter({ model: "any", clientConfig: { fetch: provider.fetch } });
  const response = await adapter.evaluate(buyer, { input: "How much rye flour do we need?" });
  for (const { name, params } of response.hostedCalls) console.log(name, JSON.stringify(params));
  console.log(response.text);
  console.log(`${response.usage.totalTokens} tokens`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await provider.close();
  standIn.close();
  await rm(web, { recursive: true });
}
// prints: web_search {"action":"search","query":"price of rye flour","queries":["price of rye flour"]}
// prints: Order 21 kg of rye flour for 16.80: 4 of 25 kg are left.
// prints: 990 tokens
