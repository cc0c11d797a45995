/** Prints every event of an evaluation: what the agent did, step by step. */
import { definePrompt, type ProviderAdapter, Session, Tool, ToolResult } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";

const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of rye bread that are left.",
  params: null,
  handler: () => ToolResult.ok({ left: 3 }),
});
const baker = definePrompt({
  name: "baker",
  instructions: "Bake as many loaves as are missing to 15. Be brief.",
  tools: [countLoaves],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const script = scriptedClient(
  { toolCalls: [{ name: "count_loaves" }], usage: { inputTokens: 80, outputTokens: 12 } },
  { text: "Bake 12 loaves.", usage: { inputTokens: 110, outputTokens: 6 } },
);
const isLive = process.argv.includes("--live");
const adapter: ProviderAdapter = isLive ? new OpenAIAdapter({ model: "gpt-5.2" }) : script;

const session = new Session();
session.bus.subscribe("*", (event) => {
  if (event.type === "TurnProgressed") return; // published once a second while a response arrives
  const details = event.type === "ToolInvoked" ? `: ${event.name} ${event.renderedOutput}` : "";
  console.log(`${event.type}${details}`);
});
const { text, usage } = await adapter.evaluate(baker, { session, input: "Plan tonight." });
console.log(`${text} (${usage.totalTokens} tokens)`);
// prints: PromptRendered
// prints: TurnStarted
// prints: TurnCompleted
// prints: ToolInvoked: count_loaves {"left":3}
// prints: TurnStarted
// prints: TurnCompleted
// prints: PromptExecuted
// prints: Bake 12 loaves. (208 tokens)
