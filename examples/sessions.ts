/** Keeps state in a session with its own event, stores it in a file, and opens it again. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  definePrompt,
  defineSlice,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
  toolLog,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { JsonlSessionStore } from "weakincentives/stores";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

declare module "weakincentives" {
  interface EventMap {
    LoavesBaked: { readonly type: "LoavesBaked"; readonly kind: string; readonly count: number };
  }
}

// The state: changed only by events, and rolled back if the tool call that dispatched them fails.
const stock = defineSlice<Readonly<Record<string, number>>>("bakery.stock", {
  initial: {},
  on: { LoavesBaked: (now, { kind, count }) => ({ ...now, [kind]: (now[kind] ?? 0) + count }) },
});

const bake = new Tool({
  name: "bake",
  description: "Bakes loaves of one kind. The oven holds 20.",
  params: z.strictObject({ kind: z.string(), count: z.int() }),
  handler: ({ kind, count }, { session }) => {
    session.dispatch({ type: "LoavesBaked", kind, count });
    const total = Object.values(session.get(stock)).reduce((sum, loaves) => sum + loaves, 0);
    return total <= 20
      ? ToolResult.ok(session.get(stock))
      : ToolResult.error(`The oven holds 20 loaves, not ${total}.`);
  },
});
const baker = definePrompt({ name: "baker", instructions: "Bake as ordered.", tools: [bake] });

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  { toolCalls: [{ name: "bake", arguments: { kind: "rye", count: 12 } }] },
  { toolCalls: [{ name: "bake", arguments: { kind: "wheat", count: 30 } }] },
  { text: "12 loaves of rye are in the oven. There is no space for 30 of wheat." },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

const folder = await mkdtemp(join(tmpdir(), "bakery-"));
const store = new JsonlSessionStore(folder);
try {
  const session = new Session({ id: "monday", store, tags: { shop: "north" } });
  session.register(stock).register(toolLog);
  session.bus.subscribe("LoavesBaked", ({ kind, count }) => console.log(`Event: ${count} ${kind}`));
  await adapter.evaluate(baker, { session, input: "12 loaves of rye and 30 of wheat." });
  await session.close(); // everything is on disk

  // Later, perhaps in another process:
  const opened = await Session.open(store, "monday", [stock, toolLog]);
  console.log(`Stock: ${JSON.stringify(opened.get(stock))}, tags: ${JSON.stringify(opened.tags)}`);
  for (const { name, result } of opened.get(toolLog)) console.log(`${name}: ${result.message}`);
} finally {
  await store.close();
  await rm(folder, { recursive: true });
}
// prints: Event: 12 rye
// prints: Event: 30 wheat
// prints: Stock: {"rye":12}, tags: {"shop":"north"}
// prints: bake: OK
// prints: bake: The oven holds 20 loaves, not 42.
