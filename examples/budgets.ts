/** A deadline stops each run after 10 minutes, and one budget limits the tokens of all runs together. */
import { setTimeout } from "node:timers/promises";
import {
  Budget,
  BudgetExceededError,
  BudgetTracker,
  Deadline,
  DeadlineExceededError,
  definePrompt,
  type ProviderAdapter,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const askSupplier = new Tool({
  name: "ask_supplier",
  description: "Asks a supplier, Farm or Mill, for the price of a ton of flour.",
  params: z.object({ supplier: z.string() }),
  // The signal aborts at the deadline. Pass it to everything that waits.
  handler: async ({ supplier }, { signal }) => {
    if (supplier === "Mill") await setTimeout(3_600_000, null, { signal });
    return ToolResult.ok({ supplier, price: 310 });
  },
});
const buyer = definePrompt({
  name: "bakery:buyer",
  instructions: "Ask the supplier that the user names, and report the price of flour.",
  tools: [askSupplier],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const isLive = process.argv.includes("--live");
const call = (supplier: string) => [{ name: "ask_supplier", arguments: { supplier } }];
const adapter: ProviderAdapter = isLive
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(
      { toolCalls: call("Farm"), usage: { inputTokens: 180, outputTokens: 20 } },
      { text: "Farm: 310.", usage: { inputTokens: 240, outputTokens: 10 } },
      { toolCalls: call("Mill"), usage: { inputTokens: 180, outputTokens: 20 } },
      { toolCalls: call("Farm"), usage: { inputTokens: 180, outputTokens: 20 } },
      { text: "Farm again: 310.", usage: { inputTokens: 240, outputTokens: 10 } },
    );

// The three runs together may use 1,000 tokens.
const budgetTracker = new BudgetTracker(new Budget({ maxTotalTokens: 1_000 }));
for (const input of ["Ask Farm.", "Ask Mill.", "Ask Farm again."]) {
  const minutes = isLive ? 10 : 1 / 60; // A second is enough to show it.
  const deadline = Deadline.after(minutes * 60_000);
  try {
    const { text } = await adapter.evaluate(buyer, { input, deadline, budgetTracker });
    console.log(text);
  } catch (error) {
    if (error instanceof DeadlineExceededError) {
      const { turns, usage } = error.partial;
      console.log(`Stopped by the deadline after ${turns} turn and ${usage.totalTokens} tokens`);
    } else if (error instanceof BudgetExceededError) {
      console.log(`Stopped by the budget at ${error.used} tokens of ${error.limit}`);
      console.log(`The last text was "${error.partial.text}"`);
    } else throw error;
  }
}
// prints: Farm: 310.
// prints: Stopped by the deadline after 1 turn and 200 tokens
// prints: Stopped by the budget at 1100 tokens of 1000
// prints: The last text was "Farm again: 310."
