import { describe, expect, test } from "vitest";
import { Budget, BudgetTracker } from "../base/budget.ts";
import { BudgetExceededError, PromptEvaluationError } from "../base/evaluation-errors.ts";
import { usageOf } from "../base/usage.ts";
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
const failureOf = (evaluation: Promise<unknown>): Promise<unknown> =>
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
    ["tokens in all", { maxTotalTokens: 15 }, { dimension: "totalTokens", used: 16, limit: 15 }],
  ])("of %s may not be exceeded", async (_, limits, excess) => {
    const budget = new Budget(limits);
    const error = await failureOf(
      scriptedClient(callWork(5), answer(6, 5)).evaluate(prompt, { session, budget }),
    );
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      ...excess,
      phase: "budget",
      promptName: "demo:k",
      message: expect.stringContaining("raise the budget or shorten the task"),
      partial: { text: "Done.", turns: 2, usage: usageOf({ inputTokens: 11, outputTokens: 5 }) },
    });
  });

  test("that was exceeded lets no more tools run", async () => {
    seen.length = 0;
    const budget = new Budget({ maxInputTokens: 10 });
    const client = scriptedClient(callWork(11), answer(1));
    const evaluation = client.evaluate(prompt, { session, budget });
    expect(await failureOf(evaluation)).toMatchObject({ phase: "budget", partial: { turns: 1 } });
    expect(seen).toEqual([]);
    expect(client.asked).toHaveLength(1);
  });

  test("that was exceeded keeps what the provider ran, and asks nobody about it", async () => {
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
    expect(await failureOf(evaluation)).toMatchObject({
      phase: "budget",
      partial: { hostedCalls: [{ name: "search", output: "owls" }] },
    });
    expect(asked).toBe(0);
  });

  test("is for one evaluation", async () => {
    const budget = new Budget({ maxInputTokens: 10 });
    const client = scriptedClient(answer(8), answer(8));
    await client.evaluate(prompt, { session, budget });
    expect(await client.evaluate(prompt, { session, budget })).toMatchObject({ text: "Done." });
  });

  test("is tracked where handlers see it", async () => {
    seen.length = 0;
    const budget = new Budget({ maxInputTokens: 10 });
    await scriptedClient(callWork(3), answer(1)).evaluate(prompt, { session, budget });
    expect(seen).toMatchObject([{ budget }]);
    expect(seen[0]?.total).toEqual(usageOf({ inputTokens: 4 }));
  });
});

describe("a tracker", () => {
  test("holds several evaluations to one budget", async () => {
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: 10 }));
    const client = scriptedClient(answer(6), answer(4), answer(1));
    await client.evaluate(prompt, { session, budgetTracker });
    await client.evaluate(prompt, { session, budgetTracker });
    expect(budgetTracker.total).toEqual(usageOf({ inputTokens: 10 }));
    const third = client.evaluate(prompt, { session, budgetTracker });
    expect(await failureOf(third)).toMatchObject({ used: 11, partial: { turns: 1 } });
  });

  test("that is over refuses the next evaluation before any request", async () => {
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: 10 }));
    budgetTracker.record({ inputTokens: 11 });
    const client = scriptedClient(answer(1));
    const evaluation = client.evaluate(prompt, { session, budgetTracker });
    expect(await failureOf(evaluation)).toMatchObject({ phase: "budget", partial: { turns: 0 } });
    expect(client.asked).toEqual([]);
  });

  test("is the one handlers see, even beside a budget", async () => {
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
  ])("and a budget are both held to: %s is exceeded", async (_, ofBudget, ofTracker) => {
    const budget = new Budget({ maxInputTokens: ofBudget });
    const budgetTracker = new BudgetTracker(new Budget({ maxInputTokens: ofTracker }));
    const client = scriptedClient(answer(11));
    const evaluation = client.evaluate(prompt, { session, budget, budgetTracker });
    expect(await failureOf(evaluation)).toMatchObject({ phase: "budget", limit: 10, used: 11 });
    expect(budgetTracker.total.inputTokens).toBe(11);
  });
});

test("without either, handlers see no tracker", async () => {
  seen.length = 0;
  await scriptedClient(callWork(1), answer(1)).evaluate(prompt, { session });
  expect(seen).toEqual([null]);
});
