import { describe, expect, test } from "vitest";
import { MemorySessionStore } from "../../tests/support/memory-session-store.ts";
import { Budget, BudgetTracker } from "../base/budget.ts";
import type { PriceTable } from "../base/costs/price-table.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { BudgetExceededError, PromptEvaluationError } from "../base/evaluation-errors.ts";
import { definePrompt } from "../prompt/define-prompt.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { evaluate } from "./evaluate.ts";

const work = new Tool({
  ...{ name: "work", description: "Works.", params: null },
  handler: () => ToolResult.ok(null),
});
const prompt = definePrompt({ name: "demo:k", instructions: "Work.", tools: [work] });
const prices: PriceTable = {
  date: "2026-01-01",
  models: {
    cheap: { input: 1, cachedInput: 1, output: 1 },
    dear: { input: 10, cachedInput: 10, output: 10 },
  },
  hosted: { web_search: 0.5 },
};
const usage = { inputTokens: 100_000 }; // 0.1 at the price of the cheap model, 1 at that of the other
const call = (model = "cheap") => ({ toolCalls: [{ name: "work" }], usage, model });
const answer = (model = "cheap") => ({ text: "Done.", usage, model });
const catchFailure = (evaluation: Promise<unknown>): Promise<unknown> =>
  evaluation.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

describe("maxUsd", () => {
  test("may be used up exactly, and is estimated from the prices of the budget", async () => {
    const budget = new Budget({ maxUsd: 0.3, prices });
    const client = scriptedClient(call(), call(), answer());
    const response = await client.evaluate(prompt, { budget });
    expect(response.costUsd).toBeCloseTo(0.3);
  });

  test("ends an evaluation after the turn that exceeds it", async () => {
    const bus = recordingBus();
    const budget = new Budget({ maxUsd: 0.15, prices });
    const client = scriptedClient(call(), call(), answer());
    const session = new Session({ bus });
    const error = await catchFailure(client.evaluate(prompt, { budget, session }));
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error).toMatchObject({
      ...{ dimension: "usd", used: 0.2, limit: 0.15, phase: "budget" },
      message: "Used $0.20, but the budget allows $0.15. Raise the budget or shorten the task.",
      partial: { turns: 2, costUsd: 0.2 },
    });
    expect(client.asked).toHaveLength(2);
    expect(bus.of("TurnCompleted").map(({ costUsd }) => costUsd)).toEqual([0.1, 0.1]);
    expect(bus.of("PromptFailed")).toMatchObject([{ costUsd: 0.2, turns: 2 }]);
  });

  test("counts hosted calls", async () => {
    const budget = new Budget({ maxUsd: 0.5, prices });
    const hostedCalls = [{ name: "search", kind: "web_search" }];
    const client = scriptedClient({ ...answer(), hostedCalls });
    const error = await catchFailure(client.evaluate(prompt, { budget }));
    expect(error).toMatchObject({ dimension: "usd", used: 0.6 });
  });

  test("counts the provider's figure rather than an estimate", async () => {
    const budget = new Budget({ maxUsd: 0.5, prices });
    const client = scriptedClient({ ...call("dear"), costUsd: 0.2 }, { ...answer(), costUsd: 0.3 });
    expect((await client.evaluate(prompt, { budget })).costUsd).toBe(0.5);
  });

  test("is shared by the evaluations of one tracker, also if they use other models", async () => {
    const budgetTracker = new BudgetTracker(new Budget({ maxUsd: 1.1, prices }));
    const session = new Session();
    const client = scriptedClient(answer(), answer("dear"), answer());
    await client.evaluate(prompt, { session, budgetTracker });
    await client.evaluate(prompt, { session, budgetTracker });
    expect(budgetTracker.totalUsd).toBeCloseTo(1.1);
    const third = client.evaluate(prompt, { session, budgetTracker });
    expect(await catchFailure(third)).toMatchObject({ dimension: "usd", used: 1.2 });
  });

  test("applies the prices of each budget", async () => {
    const models = { cheap: { input: 3, cachedInput: 3, output: 3 } };
    const budgetTracker = new BudgetTracker(
      new Budget({ maxUsd: 1, prices: { ...prices, models } }),
    );
    const budget = new Budget({ maxUsd: 1, prices });
    const { costUsd } = await scriptedClient(answer()).evaluate(prompt, { budget, budgetTracker });
    expect([costUsd, budgetTracker.totalUsd]).toEqual([0.1, expect.closeTo(0.3)]);
  });

  test("stops after the first turn if only the provider names the model, and it has no price", async () => {
    const budget = new Budget({ maxUsd: 1 });
    const client = scriptedClient(call("llama"), answer("llama"));
    const error = await catchFailure(client.evaluate(prompt, { budget }));
    expect(error).toMatchObject({
      phase: "budget",
      partial: { turns: 1 },
      message:
        "The turn's cost is unknown, so maxUsd cannot be checked: the price table of 2026-10-27 has no price " +
        'for the model "llama". Pass prices with an entry for it to Budget, or omit maxUsd.',
    });
    expect(client.asked).toHaveLength(1);
  });

  test("counts the turns before an interruption, at their stored cost", async () => {
    const store = new MemorySessionStore();
    const reopen = () => {
      store.claims.clear();
      return Session.openOrCreate(store, "s");
    };
    const budget = new Budget({ maxUsd: 0.5, prices });
    const first = scriptedClient(call(), call(), new Error("stopped by the test"));
    const interrupted = first.evaluate(prompt, { session: await reopen(), budget });
    await expect(interrupted).rejects.toMatchObject({ partial: { costUsd: 0.2 } });
    const options = { session: await reopen(), resume: true, budget };
    const { costUsd } = await scriptedClient(call(), answer()).evaluate(prompt, options);
    expect(costUsd).toBeCloseTo(0.4);
    const stored = await scriptedClient().evaluate(prompt, {
      ...{ session: await reopen(), resume: true },
    });
    expect(stored.costUsd).toBeCloseTo(0.4);
  });

  test("is exceeded by a resumed evaluation whose turns cost too much together", async () => {
    const store = new MemorySessionStore();
    const budget = new Budget({ maxUsd: 0.25, prices });
    const first = scriptedClient(call(), call(), new Error("stopped by the test"));
    const session = await Session.openOrCreate(store, "s");
    await expect(first.evaluate(prompt, { session, budget })).rejects.toThrow("stopped");
    store.claims.clear();
    const options = { session: await Session.openOrCreate(store, "s"), resume: true, budget };
    const error = await catchFailure(scriptedClient(answer()).evaluate(prompt, options));
    expect(error).toMatchObject({ dimension: "usd", used: 0.3, partial: { turns: 3 } });
  });

  test("allows turns without tokens from a model without a price", async () => {
    const budget = new Budget({ maxUsd: 1 });
    const client = scriptedClient({ text: "Done." });
    expect((await client.evaluate(prompt, { budget })).text).toBe("Done.");
  });

  test.each(["budget", "budgetTracker"] as const)(
    "in a %s refuses a model without a price before the first request",
    async (name) => {
      const budget = new Budget({ maxUsd: 1, prices });
      const limit = name === "budget" ? { budget } : { budgetTracker: new BudgetTracker(budget) };
      const { client, asked } = createNamed("llama", answer());
      const error = await catchFailure(
        evaluate(prompt, client, { ...limit, adapter: scriptedClient() }),
      );
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).toMatchObject({
        cause: expect.any(InvalidOptionError),
        message:
          "evaluate(budget) must have a price for the model, because maxUsd is set (prices of 2026-01-01), " +
          'got "llama". Pass prices with an entry for the model to Budget, or omit maxUsd.',
      });
      expect(asked).toEqual([]);
    },
  );

  test("is not needed for a model without a price if only tokens are limited", async () => {
    const { client } = createNamed("llama", answer("llama"));
    const budget = new Budget({ maxInputTokens: 100_000 });
    const response = await evaluate(prompt, client, { budget, adapter: scriptedClient() });
    expect(response).not.toHaveProperty("costUsd");
  });
});

function createNamed(model: string, ...script: readonly ScriptStep[]) {
  const scripted = scriptedClient(...script);
  return { client: { ...scripted, model }, asked: scripted.asked };
}
