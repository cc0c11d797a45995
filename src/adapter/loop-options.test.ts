import { describe, expect, test } from "vitest";
import { Budget } from "../base/budget.ts";
import { InvalidOptionError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { evaluate } from "./evaluate.ts";
import { loopSettings } from "./loop-options.ts";

const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
const template = new PromptTemplate({ ns: "demo", key: "k", sections: [task] });
const prompt = new Prompt(template);

describe("an option is refused before anything is done:", () => {
  test.each([
    ["no session", { session: undefined }, "evaluate(session) must be a Session, got undefined"],
    ["a session's id", { session: "s1" }, 'evaluate(session) must be a Session, got "s1"'],
    [
      "a deadline in milliseconds",
      { deadline: 500 },
      "evaluate(deadline) must be a Deadline, got 500",
    ],
    ["a deadline of null", { deadline: null }, "evaluate(deadline) must be a Deadline"],
    [
      "a budget's options",
      { budget: { maxTotalTokens: 1 } },
      'evaluate(budget) must be a Budget, got {"maxTotalTokens":1}',
    ],
    [
      "a budget in place of its tracker",
      { budgetTracker: new Budget({ maxTotalTokens: 1 }) },
      "evaluate(budgetTracker) must be a BudgetTracker, got a Budget",
    ],
    [
      "resources in a map",
      { resources: new Map() },
      "evaluate(resources) must be a ResourceRegistry, got a Map. Give the ResourceRegistry itself",
    ],
    [
      "a controller in place of its signal",
      { signal: new AbortController() },
      "evaluate(signal) must be an AbortSignal, got a AbortController",
    ],
    [
      "no turns",
      { maxTurns: 0 },
      "evaluate(maxTurns) must be a whole number from 1, got 0. Leave it out",
    ],
    ["half a turn", { maxTurns: 1.5 }, "evaluate(maxTurns) must be a whole number from 1"],
    ["endless turns", { maxTurns: Infinity }, "evaluate(maxTurns) must be a whole number from 1"],
    [
      "turns in text",
      { maxTurns: "5" },
      'evaluate(maxTurns) must be a whole number from 1, got "5"',
    ],
    [
      "hosted tools by one name",
      { allowHostedTools: "web_search" },
      'evaluate(allowHostedTools) must be true, false or a list of names or kinds, got "web_search". For example ["web_search"]',
    ],
    [
      "hosted tools by number",
      { allowHostedTools: [1] },
      "evaluate(allowHostedTools) must be true, false",
    ],
    [
      "to go on from a history that is not kept",
      { continue: true },
      "evaluate(continue) must be left out, because scripted keeps no history to go on from, got true",
    ],
    [
      "a throttle policy that cannot be",
      { throttle: { maxAttempts: -1 } },
      "throttle.maxAttempts must be",
    ],
  ])("%s", async (_, given, message) => {
    const bus = recordingBus();
    const client = scriptedClient({ text: "hi" });
    const options = { session: new Session({ bus }), ...given } as never;
    const error = await client.evaluate(prompt, options).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({
      message: expect.stringContaining(message),
      phase: "request",
      promptName: "demo:k",
      cause: expect.any(InvalidOptionError),
      partial: { turns: 0, text: null },
    });
    expect(client.asked).toEqual([]);
    expect(bus.events).toEqual([]);
  });

  test("no options at all", async () => {
    const evaluation = evaluate(prompt, scriptedClient(), undefined as never);
    await expect(evaluation).rejects.toMatchObject({ phase: "request" });
  });

  test.each([
    ["a template", template, "demo:k"],
    ["text", "Work.", ""],
    ["nothing", undefined, ""],
    ["null", null, ""],
  ])("%s in place of a prompt", async (_, given, promptName) => {
    const client = scriptedClient({ text: "hi" });
    const evaluation = client.evaluate(given as never, { session: new Session() });
    await expect(evaluation).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      promptName,
      message: expect.stringContaining("evaluate(prompt) must be a Prompt"),
    });
    expect(client.asked).toEqual([]);
  });
});

describe("options that may be", () => {
  const session = new Session();
  const client = scriptedClient();
  const settings = (given: object) =>
    loopSettings(prompt, client, { session, adapter: client, ...given });

  test("have defaults", () => {
    expect(settings({})).toMatchObject({
      maxTurns: 50,
      throttle: { maxAttempts: 5 },
      random: Math.random,
      clock: { now: expect.any(Function) },
      logger: { warn: expect.any(Function) },
    });
  });

  test("may be left out by undefined", () => {
    const left = { deadline: undefined, budget: undefined, signal: undefined, maxTurns: undefined };
    expect(settings({ ...left, allowHostedTools: undefined, continue: undefined }).maxTurns).toBe(
      50,
    );
  });

  test.each([[true], [false], [[]], [["web_search", "python"]]])(
    "allow hosted tools by %j",
    (allowHostedTools) => {
      expect(settings({ allowHostedTools })).toMatchObject({ allowHostedTools });
    },
  );

  test("go on from a history that is kept", () => {
    const keeping = { ...client, canContinue: true };
    const options = { session, adapter: client, continue: true };
    expect(loopSettings(prompt, keeping, options)).toMatchObject({ continue: true });
  });
});
