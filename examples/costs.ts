/** Shows the cost of runs, limits three of them to 6 cents together, and prices another model. */
import {
  Budget,
  BudgetExceededError,
  BudgetTracker,
  defaultPrices,
  definePrompt,
  estimateCost,
  type ProviderAdapter,
  webSearchTool,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { scriptedClient } from "weakincentives/testing";

const reporter = definePrompt({
  name: "news:reporter",
  instructions: "Report one piece of news about the subject that the user names.",
  hostedTools: [webSearchTool()],
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const model = "gpt-5.2";
const usage = { inputTokens: 12_000, cachedTokens: 8_000, outputTokens: 600 };
const report = (text: string) => ({ text, usage, model, hostedCalls: [{ name: "web_search" }] });
const adapter: ProviderAdapter = process.argv.includes("--live")
  ? new OpenAIAdapter({ model })
  : scriptedClient(report("Owls are back."), report("Bats moved in."), report("Bees are early."));

const format = (usd: number) => `$${usd.toFixed(4)}`;
const budgetTracker = new BudgetTracker(new Budget({ maxUsd: 0.06 }));
for (const input of ["owls", "bats", "bees"]) {
  try {
    const { text, costUsd = 0 } = await adapter.evaluate(reporter, { input, budgetTracker });
    console.log(`${text} ${format(costUsd)}`);
  } catch (error) {
    if (!(error instanceof BudgetExceededError)) throw error;
    const { text, costUsd = 0 } = error.partial;
    console.log(`Stopped after "${text}" ${format(costUsd)}`);
    console.log(error.message);
  }
}

// The parts of the cost, and the cost of the same tokens on a model that you price yourself.
const calls = ["owls", "bats", "bees"].map(() => ({ kind: "web_search" }));
const { parts } = estimateCost(budgetTracker.total, calls, { model });
console.log(parts.map(({ name, usd }) => `${name} ${format(usd)}`).join(", "));
const free = { input: 0, cachedInput: 0, output: 0 };
const prices = { ...defaultPrices, models: { ...defaultPrices.models, "llama-": free } };
const own = estimateCost(budgetTracker.total, [], { model: "llama-4", prices });
console.log(`On llama-4: ${format(own.usd ?? Number.NaN)}`);
// prints: Owls are back. $0.0268
// prints: Bats moved in. $0.0268
// prints: Stopped after "Bees are early." $0.0268
// prints: Used $0.0804, but the budget allows $0.06. Raise the budget or shorten the task.
// prints: input $0.0210, cachedInput $0.0042, output $0.0252, web_search $0.0300
// prints: On llama-4: $0.0000
