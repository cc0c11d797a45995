import { describe, expect, test } from "vitest";
import { Budget, BudgetTracker } from "../base/budget.ts";
import { BudgetExceededError, PromptEvaluationError } from "../base/evaluation-errors.ts";
import { toUsage } from "../base/usage.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";

const seen: ToolContext["budgetTracker"][] = [];
const work = new Tool({
  name: "work",
  description: "Works.",
  params: null,
  handler: (_, { budgetTracker }) => {
    seen.push(budgetTracker);
    return ToolResult.ok(null);
  },
});
const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools: [work] });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
const session = new Session();

const callWork = (inputTokens: number) => ({
  toolCalls: [{ name: "work" }],
  usage: { inputTokens },
});
const answer = (inputTokens: number, outputTokens = 0) => ({
  text: "Done.",
  usage: { inputTokens, outputTokens },
});
const catchFailure = (evaluation: Promise<unknown>): Promise<unknown> =>
  evaluation.then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error,
  );

describe("a budget", () => {
  test("may be used up exactly", async () => {
    const budget = new Budget({ maxInputTokens: 10, maxOutputTokens: 5, maxTotalTokens: 15 });
    const client = scriptedClient(callWork(4), answer(6, 5));
    expect(await client.evaluate(prompt, { session, budget })).toMatchObject({ text: "Done." });
  });

  test.each([
    ["input", { maxInputTokens: 10 }, { dimension: "inputTokens", used: 11, limit: 10 }],
    ["output", { maxOutputTokens: 4 }, { dimension: "outputTokens", used: 5, limit: 4 }],
    ["total tokens", { maxTotalTokens: 15 }, { dimension: "totalTokens", used: 16, limit: 15 }],
  ])("of %s must not be exceeded", async (_, limits, excess) => {
    const budget = new Budget(limits);
    const error = await catchFailure(
      scriptedClient(callWork(5), answer(6, 5)).evaluate(prompt, { session, budget }),
    );
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      ...excess,
      phase: "budget",
      promptName: "demo:k",
      message: expect.stringContaining("Raise the budget or shorten the task."),
      partial: { text: "Done.", turns: 2, usage: toUsage({ inputTokens: 11, outputTokens: 5 }) },
    });
  });

  test("that was exceeded prevents further tool calls", async () => {
    seen.length = 0;
    const budget = new Budget({ maxInputTokens: 10 });
    const client = scriptedClient(callWork(11), answer(1));
    const evaluation = client.evaluate(prompt, { session, budget });
    expect(await catchFailure(evaluation)).toMatchObject({
      phase: "budget",
      partial: { turns: 1 },
    });
    expect(seen).toEqual([]);
    expect(client.asked).toHaveLength(1);
  });

  test("that was exceeded retains the provider's calls without running their hooks", async () => {
    let asked = 0;
    const search = new HostedTool({
      kind: "web_search",
      name: "search",
      description: "Searches.",
      config: {},
      handleProviderOutput: () => ToolResult.ok(asked++),
    });
    const hostedTools = [search];
    const looking = new MarkdownSection({ key: "look", title: "Look", template: "", hostedTools });
    const lookUp = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [looking] }));
    const budget = new Budget({ maxInputTokens: 10 });
    const hostedCalls = [{ name: "search", output: "owls" }];
    const client = scriptedClient({ ...answer(11), hostedCalls });
    const evaluation = client.evaluate(lookUp, { session, budget });
    expect(await catchFailure(evaluation)).toMatchObject({
      phase: "budget",
      partial: { hostedCalls: [{ name: "search", output: "owls" }] },
    });
    expect(asked).toBe(0);
  });

  test("applies to one evaluation", async () => {
    const budget = new Budget({ maxInputTokens: 10 });
    const client = scriptedClient(answer(8), answer(8));
    await client.evaluate(prompt, { session, budget });
    expect(await client.evaluate(prompt, { session, budget })).toMatchObject({ text: "Done." });
  });

  test("is tracked in the context of handlers", async () => {
    seen.length = 0;
    const budget = new Budget({ maxInputTokens: 10 });
    await scriptedClient(callWork(3), answer(1)).evaluate(prompt, { session, budget });
    expect(seen).toMatchObject([{ budget }]);
    expect(seen[0]?.total).toEqual(toUsage({ inputTokens: 4 }));
  });
});

describe("a budget tracker", () => {
  test("applies one budget to several evaluations", async () => {
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: 10 }));
    const client = scriptedClient(answer(6), answer(4), answer(1));
    await client.evaluate(prompt, { session, budgetTracker });
    await client.evaluate(prompt, { session, budgetTracker });
    expect(budgetTracker.total).toEqual(toUsage({ inputTokens: 10 }));
    const third = client.evaluate(prompt, { session, budgetTracker });
    expect(await catchFailure(third)).toMatchObject({ used: 11, partial: { turns: 1 } });
  });

  test("that is exceeded rejects the next evaluation before any request", async () => {
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: 10 }));
    budgetTracker.record({ inputTokens: 11 });
    const client = scriptedClient(answer(1));
    const evaluation = client.evaluate(prompt, { session, budgetTracker });
    expect(await catchFailure(evaluation)).toMatchObject({
      phase: "budget",
      partial: { turns: 0 },
    });
    expect(client.asked).toEqual([]);
  });

  test("is visible to handlers, even with a budget", async () => {
    seen.length = 0;
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: 100 }));
    const budget = new Budget({ maxInputTokens: 50 });
    const client = scriptedClient(callWork(1), answer(1));
    await client.evaluate(prompt, { session, budgetTracker, budget });
    expect(seen).toEqual([budgetTracker]);
  });

  test.each([
    ["the budget", 10, 100],
    ["the tracker", 100, 10],
  ])("and a budget both apply: %s is exceeded", async (_, ofBudget, ofTracker) => {
    const budget = new Budget({ maxInputTokens: ofBudget });
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: ofTracker }));
    const client = scriptedClient(answer(11));
    const evaluation = client.evaluate(prompt, { session, budget, budgetTracker });
    expect(await catchFailure(evaluation)).toMatchObject({ phase: "budget", limit: 10, used: 11 });
    expect(budgetTracker.total.inputTokens).toBe(11);
  });
});

test("handlers see no tracker without a budget or a tracker", async () => {
  seen.length = 0;
  await scriptedClient(callWork(1), answer(1)).evaluate(prompt, { session });
  expect(seen).toEqual([null]);
});
