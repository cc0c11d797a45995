import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Budget } from "../base/budget.ts";
import { WinkError } from "../base/errors.ts";
import { PromptEvaluationError } from "../base/evaluation-errors.ts";
import { noUsage } from "../base/usage.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { createHostedOutputs } from "./create-response.ts";
import { evaluate } from "./evaluate.ts";
import type { ModelClient, Turn } from "./model-client.ts";

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok({ sum: a + b }, `${a} and ${b} added`),
});

const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Add $a and $b.",
  params: z.object({ a: z.number(), b: z.number() }),
  tools: [add],
  hostedTools: [webSearchTool()],
});
const template = new PromptTemplate({ ns: "math", key: "sum", sections: [task] });
const prompt = new Prompt(template).bind({ a: 1, b: 2 });
const sumOutput = z.object({ sum: z.number() });
const structured = new Prompt(
  new PromptTemplate({ ns: "math", key: "sum", sections: [task], output: sumOutput }),
).bind({ a: 1, b: 2 });

const callAdd = { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] };
const evaluateScript = (...script: readonly ScriptStep[]) =>
  scriptedClient(...script).evaluate(prompt, { session: new Session() });
const evaluateToFailure = (...script: readonly ScriptStep[]): Promise<unknown> =>
  evaluateScript(...script).catch((error: unknown) => error);

describe("the answer of evaluate()", () => {
  test("is the model's text without an output schema", async () => {
    expect(await evaluateScript({ text: "Three." })).toEqual({
      promptName: "math:sum",
      text: "Three.",
      output: "Three.",
      hostedOutputs: createHostedOutputs([]),
      hostedCalls: [],
      citations: [],
      usage: noUsage,
      egress: { requests: [], verdict: "nothing stored" },
      finishReason: "stop",
      responseId: "response_1",
    });
  });

  test("is the parsed output with an output schema", async () => {
    const client = scriptedClient({ text: '{"sum":3}' });
    const response = await client.evaluate(structured, { session: new Session() });
    expect(response).toMatchObject({ text: '{"sum":3}', output: { sum: 3 } });
  });

  test("is frozen", async () => {
    const response = await evaluateScript({ text: "Three." });
    expect([response, response.hostedCalls, response.citations].every(Object.isFrozen)).toBe(true);
  });

  test("may be empty", async () => {
    expect(await evaluateScript({ text: "" })).toMatchObject({ text: "", output: "" });
  });
});

describe("a tool call of the model", () => {
  test("runs, and its result is sent in the next request", async () => {
    const client = scriptedClient(callAdd, { text: "Three." });
    const response = await client.evaluate(prompt, { session: new Session() });
    expect(response.text).toBe("Three.");
    expect(client.asked).toMatchObject([
      {
        turn: 1,
        answers: [],
        toolChoice: "auto",
        rendered: { text: expect.stringContaining("Add 1 and 2.") },
      },
      {
        turn: 2,
        answers: [
          {
            call: { name: "add", callId: "call_1_1", arguments: '{"a":1,"b":2}' },
            result: { success: true, message: "1 and 2 added", value: { sum: 3 } },
            text: '1 and 2 added\n\n{"sum":3}',
          },
        ],
      },
    ]);
  });

  test("has its result only in the next request", async () => {
    const client = scriptedClient(callAdd, callAdd, { text: "Three." });
    await client.evaluate(prompt, { session: new Session() });
    expect(client.asked.map(({ answers }) => answers.map(({ call }) => call.callId))).toEqual([
      [],
      ["call_1_1"],
      ["call_2_1"],
    ]);
  });

  test("adds to the usage, which is summed over all turns", async () => {
    const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 2, reasoningTokens: 1 };
    const response = await evaluateScript(
      { ...callAdd, usage },
      { ...callAdd, usage: { inputTokens: 1 } },
      { text: "Three.", usage },
    );
    expect(response.usage).toEqual({
      inputTokens: 21,
      outputTokens: 10,
      cachedTokens: 4,
      reasoningTokens: 2,
      totalTokens: 31,
    });
  });
});

describe("an evaluation without an answer", () => {
  test("fails after maxTurns requests", async () => {
    const client = scriptedClient(callAdd, callAdd, callAdd);
    const evaluation = client.evaluate(prompt, { session: new Session(), maxTurns: 2 });
    await expect(evaluation).rejects.toMatchObject({
      name: "PromptEvaluationError",
      message: "No answer after 2 turns. Raise maxTurns or use a smaller task.",
      phase: "response",
      partial: { turns: 2, responseId: "response_2" },
    });
    expect(client.asked).toHaveLength(2);
  });

  test("may use all of maxTurns", async () => {
    const client = scriptedClient(callAdd, { text: "Three." });
    const options = { session: new Session(), maxTurns: 2 };
    expect(await client.evaluate(prompt, options)).toMatchObject({ text: "Three." });
  });

  test("has 50 turns by default", async () => {
    const client = scriptedClient(...Array.from({ length: 60 }, () => callAdd));
    await expect(client.evaluate(prompt, { session: new Session() })).rejects.toThrow(
      "No answer after 50 turns",
    );
    expect(client.asked).toHaveLength(50);
  });
});

describe("an error thrown by the client", () => {
  test("is wrapped with its phase and cause", async () => {
    const cause = new TypeError("fetch failed");
    expect(await evaluateToFailure(cause)).toMatchObject({
      name: "PromptEvaluationError",
      message: "fetch failed",
      phase: "request",
      promptName: "math:sum",
      cause,
    });
  });

  test("is wrapped even if it is a WinkError", async () => {
    expect(await evaluateToFailure()).toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
      cause: expect.any(WinkError),
    });
  });

  test("is thrown unchanged if it is a PromptEvaluationError", async () => {
    const error = new PromptEvaluationError("Bad request", {
      promptName: "",
      phase: "request",
      providerPayload: { code: "invalid_prompt" },
      requestId: "req_1",
    });
    const thrown = await evaluateToFailure(error);
    expect(thrown).toBe(error);
    expect(thrown).toMatchObject({
      promptName: "math:sum",
      providerPayload: { code: "invalid_prompt" },
      requestId: "req_1",
      partial: { turns: 0 },
    });
  });

  test("is wrapped even if it is not an Error", async () => {
    const thrown = await evaluateToFailure(() => Promise.reject("no network"));
    expect(thrown).toMatchObject({
      message: '"no network"',
      phase: "request",
      cause: "no network",
    });
  });

  test("is wrapped if it is thrown synchronously", async () => {
    const client: ModelClient = {
      adapterName: "broken",
      send() {
        throw new Error("at once");
      },
    };
    const adapter = scriptedClient();
    const evaluation = evaluate(prompt, client, { session: new Session(), adapter });
    await expect(evaluation).rejects.toMatchObject({ message: "at once", phase: "request" });
  });

  test("includes a response of undefined", async () => {
    const client: ModelClient = { adapterName: "broken", send: async () => undefined as never };
    const adapter = scriptedClient();
    const evaluation = evaluate(prompt, client, { session: new Session(), adapter });
    await expect(evaluation).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "request",
    });
  });
});

describe("an error's partial response", () => {
  const first = {
    ...callAdd,
    text: "Let me add.",
    usage: { inputTokens: 3 },
    hostedCalls: [{ name: "web_search", output: { text: "found" } }],
  };
  const partial = {
    text: "Let me add.",
    usage: { ...noUsage, inputTokens: 3, totalTokens: 3 },
    responseId: "response_1",
    turns: 1,
    hostedCalls: [{ name: "web_search", output: { text: "found" } }],
  };

  test("is set when a later request fails", async () => {
    expect(await evaluateToFailure(first, new Error("down"))).toMatchObject({
      phase: "request",
      partial,
    });
  });

  test("is set when the answer does not match the schema", async () => {
    const client = scriptedClient(first, { text: "three", responseId: null });
    const evaluation = client.evaluate(structured, { session: new Session() });
    await expect(evaluation).rejects.toMatchObject({
      phase: "parse",
      partial: { ...partial, text: "three", turns: 2 },
    });
  });

  test("is empty before the first turn", async () => {
    expect(await evaluateToFailure(new Error("down"))).toMatchObject({
      partial: { text: null, usage: noUsage, responseId: null, turns: 0, hostedCalls: [] },
    });
  });

  test("is frozen", async () => {
    const error = await evaluateToFailure(new Error("down"));
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect((error as PromptEvaluationError).partial).toSatisfy(Object.isFrozen);
  });
});

test("evaluate() rejects a usage with invalid counts", async () => {
  const client = scriptedClient({ text: "hi", usage: { inputTokens: -1 } });
  const budget = new Budget({ maxTotalTokens: 10 });
  await expect(client.evaluate(prompt, { session: new Session(), budget })).rejects.toMatchObject({
    name: "PromptEvaluationError",
    message: expect.stringContaining("must be a non-negative integer"),
  });
});

test("the client receives only new input and keeps the conversation itself", async () => {
  const turns: Turn["finishReason"][] = [];
  const client = scriptedClient(
    ({ turn, answers }) => {
      turns.push("tool_calls");
      expect([turn, answers]).toEqual([1, []]);
      return callAdd;
    },
    ({ turn, answers, signal }) => {
      turns.push("stop");
      expect([turn, answers.length, signal.aborted]).toEqual([2, 1, false]);
      return { text: "Three." };
    },
  );
  await client.evaluate(prompt, { session: new Session() });
  expect(turns).toEqual(["tool_calls", "stop"]);
});
