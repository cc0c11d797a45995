import { expect, test } from "vitest";
import {
  Budget,
  BudgetTracker,
  codeInterpreterTool,
  defaultPrices,
  estimateCost,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
} from "weakincentives";
import type { ModelScript } from "weakincentives/local";
import type { WireItem } from "../src/openai/wire.ts";
import { createTaskPrompt, lookTool, type RunOptions, runScript } from "./support/openai-run.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  type WireScript,
  webSearchCall,
} from "./support/wire-server.ts";
import { createRepository, createWorkspaceFixture } from "./support/workspace/workspace-fixture.ts";

const usage = {
  input_tokens: 2_000_000,
  input_tokens_details: { cached_tokens: 1_000_000 },
  output_tokens: 100_000,
  output_tokens_details: { reasoning_tokens: 50_000 },
  total_tokens: 2_100_000,
};
/** The tokens at the price of gpt-5.2. */
const tokensUsd = 1.75 + 0.175 + 1.4;
const answer = (...output: readonly WireItem[]) => ({ output, usage });

async function run(script: WireScript, options: RunOptions = {}) {
  const { response, error, ...rest } = await runScript(script, options);
  return { ...rest, error, costUsd: response?.costUsd };
}

test("a turn on OpenAI costs its tokens, its searches and the minutes of its containers", async () => {
  const container = { type: "auto", memoryLimit: "4g" } as const;
  const { costUsd, bus } = await run(
    [answer(webSearchCall(), codeInterpreterCall("1 + 1"), message("Two."))],
    {
      prompt: createTaskPrompt({ hostedTools: [codeInterpreterTool({ container })] }),
      adapter: { hostedTools: { webSearch: true } },
    },
  );
  expect(costUsd).toBeCloseTo(tokensUsd + 0.01 + 5 * 0.006);
  expect(bus.of("TurnCompleted")).toMatchObject([{ costUsd }]);
  expect(bus.of("PromptExecuted")).toMatchObject([{ costUsd }]);
});

test("an evaluation on OpenAI costs the sum of its turns, and stops above maxUsd", async () => {
  const prompt = createTaskPrompt({ tools: [lookTool] });
  const script = [answer(functionCall("look", {})), answer(message("Done."))];
  expect((await run(script, { prompt })).costUsd).toBeCloseTo(2 * tokensUsd);
  const budget = new Budget({ maxUsd: 1 });
  const { error, requests } = await run(script, { prompt, evaluate: { budget } });
  expect(error).toMatchObject({ dimension: "usd", used: expect.closeTo(tokensUsd), limit: 1 });
  expect(requests).toHaveLength(1);
});

test("a model without a price has no cost on OpenAI, and none with maxUsd is evaluated", async () => {
  const adapter = { model: "my-model" };
  expect((await run([answer(message("Done."))], { adapter })).costUsd).toBeUndefined();
  const budget = new Budget({ maxUsd: 1 });
  const { error, requests } = await run([], { adapter, evaluate: { budget } });
  expect(error?.message).toMatch(
    /^evaluate\(budget\) must have a price for the model, because maxUsd is set \(prices of .*\), got "my-model"\. Pass prices/,
  );
  expect(requests).toEqual([]);
});

test("a tracker adds up evaluations of one session with models at different prices", async () => {
  const own = { "my-model": { input: 1, cachedInput: 0, output: 0 } };
  const prices = { ...defaultPrices, models: { ...defaultPrices.models, ...own } };
  const budgetTracker = new BudgetTracker(new Budget({ maxUsd: 100, prices }));
  const session = new Session();
  for (const model of ["gpt-5.2", "my-model"]) {
    const evaluate = { session, budgetTracker, continue: model === "my-model", input: "Go on." };
    const { error } = await run([answer(message("Done."))], { adapter: { model }, evaluate });
    expect(error).toBeNull();
  }
  expect(budgetTracker.totalUsd).toBeCloseTo(tokensUsd + 1);
});

test.each<[title: string, script: Steps]>([
  ["runs no code", [[{ say: "Done." }]]],
  ["runs code in it twice", [[{ code: "print(1)" }], [{ code: "print(2)" }], [{ say: "Done." }]]],
])("the container of a workspace is paid for once if the model %s", async (_, script) => {
  const again: Steps = [[{ say: "Still done." }]];
  const { createSection, adapter, session } = await createWorkspaceFixture([...script, ...again]);
  const folder = createRepository({ "a.txt": "one", "b.txt": "two" });
  const mounts = [{ hostPath: folder, mountPath: "p" }];
  const containerConfig = { memoryLimit: "4g" } as const;
  const section = createSection({ mounts, allowedHostRoots: [folder], containerConfig });
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Look." });
  const template = new PromptTemplate({ ns: "test", key: "files", sections: [task, section] });
  const models = { local: { input: 1, cachedInput: 1, output: 1 } };
  const prices = { ...defaultPrices, models };
  const budgetTracker = new BudgetTracker(new Budget({ maxUsd: 1, prices }));
  const evaluateOnce = async () => {
    const options = { session, budgetTracker };
    const { usage, costUsd = Number.NaN } = await adapter.evaluate(new Prompt(template), options);
    const { usd } = estimateCost(usage, [], { model: "local", prices });
    return { costUsd, withoutTokens: costUsd - (usd ?? Number.NaN) };
  };
  const first = await evaluateOnce();
  expect(first.withoutTokens).toBeCloseTo(5 * 0.006, 8);
  const second = await evaluateOnce(); // finds the container, and uses it for nothing
  expect(second.withoutTokens).toBeCloseTo(0, 8);
  expect(budgetTracker.totalUsd).toBeCloseTo(first.costUsd + second.costUsd, 8);
});

type Steps = Extract<ModelScript, readonly unknown[]>;
