/** Stores the session of a run, so that `wink inspect` can show it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePrompt, type ProviderAdapter, Session, Tool, ToolResult } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const bake = new Tool({
  name: "bake",
  description: "Bakes loaves. The oven holds 20.",
  params: z.strictObject({ count: z.int() }),
  handler: ({ count }) =>
    count <= 20
      ? ToolResult.ok(count)
      : ToolResult.error(`The oven holds 20 loaves, not ${count}.`),
});
const baker = definePrompt({ name: "baker", instructions: "Bake as ordered.", tools: [bake] });

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  { toolCalls: [{ name: "bake", arguments: { count: 30 } }] },
  { toolCalls: [{ name: "bake", arguments: { count: 20 } }] },
  { text: "20 loaves are in the oven." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

// `--keep` stores the session in the folder "sessions".
const isKept = process.argv.includes("--keep");
const folder = isKept ? "sessions" : await mkdtemp(join(tmpdir(), "bakery-"));
const store = new JsonlSessionStore(folder);
try {
  const session = new Session({ store, tags: { shop: "north" } });
  const { text } = await adapter.evaluate(baker, { session, input: "30 loaves, please." });
  await session.close();
  console.log(text);
} finally {
  await store.close();
  if (!isKept) await rm(folder, { recursive: true });
}
// prints: 20 loaves are in the oven.
