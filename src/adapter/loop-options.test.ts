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
import { resolveLoopSettings } from "./loop-options.ts";

const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
const template = new PromptTemplate({ ns: "demo", key: "k", sections: [task] });
const prompt = new Prompt(template);

describe("evaluate() rejects an invalid option before it does anything:", () => {
  test.each([
    ["a session of null", { session: null }, "evaluate(session) must be a Session, got null"],
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
      "a budget instead of a tracker",
      { budgetTracker: new Budget({ maxTotalTokens: 1 }) },
      "evaluate(budgetTracker) must be a BudgetTracker, got a Budget",
    ],
    [
      "resources in a map",
      { resources: new Map() },
      "evaluate(resources) must be a ResourceRegistry, got a Map. Pass a ResourceRegistry.",
    ],
    [
      "a controller instead of a signal",
      { signal: new AbortController() },
      "evaluate(signal) must be an AbortSignal, got a AbortController",
    ],
    [
      "zero turns",
      { maxTurns: 0 },
      "evaluate(maxTurns) must be a positive integer, got 0. Omit it for 50.",
    ],
    [
      "a fractional number of turns",
      { maxTurns: 1.5 },
      "evaluate(maxTurns) must be a positive integer, got 1.5",
    ],
    [
      "infinite turns",
      { maxTurns: Infinity },
      "evaluate(maxTurns) must be a positive integer, got Infinity",
    ],
    [
      "a string of turns",
      { maxTurns: "5" },
      'evaluate(maxTurns) must be a positive integer, got "5"',
    ],
    [
      "an empty input",
      { input: "" },
      'evaluate(input).text must be text that is not empty, got "". Pass text, or parts such as',
    ],
    [
      "hosted tools as a single name",
      { allowHostedTools: "web_search" },
      'evaluate(allowHostedTools) must be true, false or an array of names or kinds, got "web_search". Use an array such as ["web_search"].',
    ],
    [
      "hosted tools as numbers",
      { allowHostedTools: [1] },
      "evaluate(allowHostedTools) must be true, false",
    ],
    [
      "continuing without a stored history",
      { continue: true },
      "evaluate(continue) must be omitted, because scripted stores no history to continue, got true. Start a new conversation",
    ],
    [
      "an unknown way to treat a claim",
      { ifClaimed: "steal" },
      'evaluate(ifClaimed) must be "refuse" or "wait", got "steal". Omit it for "refuse".',
    ],
    [
      "an invalid throttle policy",
      { throttle: { maxAttempts: -1 } },
      "throttle.maxAttempts must be",
    ],
    [
      "a misspelled option",
      { maxTurn: 5 },
      'evaluate(options) key must be a known option, got "maxTurn". Did you mean "maxTurns"?',
    ],
    [
      "an unknown option",
      { model: "gpt-5.2" },
      'evaluate(options) key must be one of "allowHostedTools", "approvals", "approve", "budget"',
    ],
  ])("%s", async (_, given, message) => {
    const bus = recordingBus();
    const client = scriptedClient({ text: "hi" });
    const options = { session: new Session({ bus }), adapter: client, ...given } as never;
    const error = await evaluate(prompt, client, options).catch((thrown: unknown) => thrown);
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

  test("resume, with a client that cannot resume", async () => {
    const { resume: _resume, ...client } = scriptedClient({ text: "hi" });
    const options = { session: new Session(), adapter: client, resume: true };
    await expect(evaluate(prompt, client, options)).rejects.toThrow(
      "evaluate(resume) must be omitted, because scripted cannot resume an evaluation, got true. Start again",
    );
    expect(client.asked).toEqual([]);
  });

  test.each(["adapter", "clock", "logger", "random", "throttle"])(
    "%s, which is an option of the adapter, not of its evaluate()",
    async (name) => {
      const client = scriptedClient({ text: "hi" });
      const options = { session: new Session(), [name]: undefined };
      await expect(client.evaluate(prompt, options)).rejects.toMatchObject({
        name: "PromptEvaluationError",
        message: expect.stringContaining(`evaluate(options) key must be one of`),
        cause: expect.any(InvalidOptionError),
      });
    },
  );

  test("missing options", async () => {
    const evaluation = evaluate(prompt, scriptedClient(), undefined as never);
    await expect(evaluation).rejects.toMatchObject({ phase: "request" });
  });

  test.each([
    ["a template", template, "demo:k"],
    ["a string", "Work.", ""],
    ["undefined", undefined, ""],
    ["null", null, ""],
  ])("%s instead of a prompt", async (_, given, promptName) => {
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

describe("resolveLoopSettings()", () => {
  const session = new Session();
  const client = scriptedClient();
  const resolveSettings = (given: object) =>
    resolveLoopSettings(prompt, client, { session, adapter: client, ...given });

  test("fills in the defaults", () => {
    expect(resolveSettings({})).toMatchObject({
      maxTurns: 50,
      throttle: { maxAttempts: 5 },
      random: Math.random,
      clock: { now: expect.any(Function) },
      logger: { warn: expect.any(Function) },
    });
  });

  test("treats undefined options as omitted", () => {
    const left = { deadline: undefined, budget: undefined, signal: undefined, maxTurns: undefined };
    expect(
      resolveSettings({ ...left, allowHostedTools: undefined, continue: undefined }).maxTurns,
    ).toBe(50);
  });

  test.each([[true], [false], [[]], [["web_search", "python"]]])(
    "accepts allowHostedTools: %j",
    (allowHostedTools) => {
      expect(resolveSettings({ allowHostedTools })).toMatchObject({ allowHostedTools });
    },
  );

  test("accepts continue if the client stores history", () => {
    const keeping = { ...client, canContinue: true };
    const options = { session, adapter: client, continue: true };
    expect(resolveLoopSettings(prompt, keeping, options)).toMatchObject({ continue: true });
  });
});
