import { describe, expect, test } from "vitest";
import * as z from "zod";
import { toUsage } from "../base/usage.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

const clock = fakeClock({ now: Date.UTC(2030, 0, 1) });
const createdAt = "2030-01-01T00:00:00.000Z";
const stamp = { sessionId: "s1", promptName: "math:sum", adapter: "scripted" };

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.object({ a: z.number(), b: z.number().default(2) }),
  handler: async ({ a, b }) => {
    await clock.advance(250);
    return ToolResult.ok({ sum: a + b }, "Added");
  },
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Add.",
  tools: [add],
  hostedTools: [webSearchTool()],
});
const prompt = new Prompt(new PromptTemplate({ ns: "math", key: "sum", sections: [task] }));

describe("the events of an evaluation", () => {
  const bus = recordingBus();
  const session = new Session({ id: "s1", bus });
  const usage = { inputTokens: 10, outputTokens: 2 };
  const hostedCall = {
    name: "web_search",
    callId: "ws_1",
    params: { query: "owls" },
    output: { text: "Owls." },
    raw: { type: "web_search_call" },
  };
  const client = scriptedClient(
    async () => {
      await clock.advance(1_000);
      const toolCalls = [{ name: "add", arguments: { a: 1 } }];
      return { text: "Let me see.", toolCalls, hostedCalls: [hostedCall], usage };
    },
    { text: "Three.", usage, model: "model-2", requestId: null },
  ).with({ clock });

  test("are published in order with all fields", async () => {
    await client.evaluate(prompt, { session });
    expect(bus.types()).toEqual([
      "PromptRendered",
      "TurnStarted",
      "TurnProgressed",
      "TurnCompleted",
      "ToolInvoked",
      "ToolInvoked",
      "TurnStarted",
      "TurnCompleted",
      "PromptExecuted",
    ]);
    const later = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString();
    expect(bus.events).toEqual([
      {
        type: "PromptRendered",
        ...stamp,
        createdAt,
        text: "## 1. Task (task)\n\nAdd.",
        messages: [{ role: "system", text: "## 1. Task (task)\n\nAdd." }],
        input: null,
        tools: [{ name: "add", description: "Adds two numbers.", params: add.paramsSchema }],
        hostedTools: [{ name: "web_search", kind: "web_search" }],
      },
      { type: "TurnStarted", ...stamp, createdAt, turn: 1 },
      {
        type: "TurnProgressed",
        ...stamp,
        createdAt: later(1_000),
        turn: 1,
        elapsedMs: 1_000,
        receivedBytes: 0,
        last: "",
      },
      {
        type: "TurnCompleted",
        ...stamp,
        createdAt: later(1_000),
        turn: 1,
        text: "Let me see.",
        toolCalls: [{ name: "add", callId: "call_1_1", arguments: '{"a":1}' }],
        hostedCalls: [expect.objectContaining({ ...hostedCall, success: true })],
        usage: toUsage(usage),
        durationMs: 1_000,
        requestId: "request_1",
        finishReason: "tool_calls",
        responseId: "response_1",
        model: "scripted",
      },
      {
        type: "ToolInvoked",
        ...stamp,
        createdAt: later(1_000),
        name: "web_search",
        callId: "ws_1",
        params: { query: "owls" },
        result: { success: true, message: "OK", value: { text: "Owls." } },
        renderedOutput: '{"text":"Owls."}',
        usage: toUsage(usage),
        durationMs: null,
        origin: { execution: "provider", provider: "scripted", capability: "web_search" },
      },
      {
        type: "ToolInvoked",
        ...stamp,
        createdAt: later(1_250),
        name: "add",
        callId: "call_1_1",
        params: { a: 1, b: 2 },
        result: { success: true, message: "Added", value: { sum: 3 } },
        renderedOutput: '{"sum":3}',
        usage: toUsage(usage),
        durationMs: 250,
      },
      { type: "TurnStarted", ...stamp, createdAt: later(1_250), turn: 2 },
      {
        type: "TurnCompleted",
        ...stamp,
        createdAt: later(1_250),
        turn: 2,
        text: "Three.",
        toolCalls: [],
        hostedCalls: [],
        usage: toUsage(usage),
        durationMs: 0,
        requestId: null,
        finishReason: "stop",
        responseId: "response_2",
        model: "model-2",
      },
      {
        type: "PromptExecuted",
        ...stamp,
        createdAt: later(1_250),
        text: "Three.",
        usage: toUsage({ inputTokens: 20, outputTokens: 4 }),
        finishReason: "stop",
        model: "model-2",
        requestIds: ["request_1"],
        turns: 2,
      },
    ]);
  });

  test("are frozen", () => {
    expect(bus.events.every(Object.isFrozen)).toBe(true);
  });

  test("have an origin only if the provider ran the tool", () => {
    const [there, here] = bus.of("ToolInvoked");
    expect(there).toHaveProperty("origin");
    expect(here).not.toHaveProperty("origin");
  });
});

test("evaluate() publishes PromptFailed in place of PromptExecuted if it fails", async () => {
  const bus = recordingBus();
  const session = new Session({ bus });
  const client = scriptedClient(new Error("down"));
  await expect(client.evaluate(prompt, { session })).rejects.toThrow("down");
  expect(bus.types()).toEqual(["PromptRendered", "TurnStarted", "PromptFailed"]);
});

test("evaluate() is not affected by a subscriber that throws", async () => {
  const bus = recordingBus();
  const session = new Session({ bus });
  bus.subscribe("*", () => {
    throw new Error("mine");
  });
  const client = scriptedClient(
    { toolCalls: [{ name: "add", arguments: { a: 1 } }] },
    { text: "3" },
  );
  expect(await client.evaluate(prompt, { session })).toMatchObject({ text: "3" });
  expect(bus.errors).toHaveLength(bus.events.length);
});

test("events have the adapter's name", async () => {
  const bus = recordingBus();
  const client = scriptedClient({ text: "3" }).with({ name: "local" });
  await client.evaluate(prompt, { session: new Session({ bus }) });
  expect(bus.of("PromptExecuted")).toMatchObject([{ adapter: "local" }]);
});

test("TurnCompleted names the provider's stop reason only if the model stopped early", async () => {
  const bus = recordingBus();
  const steps = [
    { text: "Th", finishReason: "length", stopReason: "max_output_tokens" },
    { text: "Three.", finishReason: "stop", stopReason: "end_turn" },
  ] as const;
  for (const step of steps) {
    await scriptedClient(step).evaluate(prompt, { session: new Session({ bus }) });
  }
  const reasons = bus.of("TurnCompleted").map(({ stopReason }) => stopReason);
  expect(reasons).toEqual(["max_output_tokens", undefined]);
});
