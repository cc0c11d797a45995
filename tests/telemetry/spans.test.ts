import { SpanKind } from "@opentelemetry/api";
import { describe, expect, test } from "vitest";
import {
  type ContextCompacted,
  HostedTool,
  InProcessEventBus,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";
import {
  createTraceFixture,
  doOverlap,
  formatTree,
  toMicroseconds,
} from "../support/telemetry/trace-fixture.ts";

type Parts = Partial<ConstructorParameters<typeof MarkdownSection>[0]>;

function createPrompt(key: string, parts: Parts = {}): Prompt<string> {
  const section = new MarkdownSection({ key: "task", title: "Task", template: "Go.", ...parts });
  return new Prompt(new PromptTemplate({ ns: "test", key, sections: [section] }));
}

const add = new Tool({
  name: "add",
  description: "Adds.",
  params: z.object({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok({ sum: a + b }),
});

const noTokens = {
  ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0, totalTokens: 0 },
};

describe("the spans of an evaluation", () => {
  test("are the evaluation, its requests and its calls, with the attributes of the conventions", async () => {
    const fixture = createTraceFixture();
    const session = new Session({ id: "conversation-1" });
    fixture.instrument(session);
    const model = scriptedClient(
      {
        toolCalls: [{ name: "add", callId: "call-7", arguments: { a: 1, b: 2 } }],
        usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
        ...{ model: "owl-1-2026", responseId: "resp_1", finishReason: "tool_calls" },
      },
      { text: "3", usage: { inputTokens: 20, outputTokens: 1 }, model: "owl-1-2026", costUsd: 0.5 },
    );
    await model.evaluate(createPrompt("sums", { tools: [add] }), { session });

    const spans = fixture.listSpans();
    expect(formatTree(spans)).toEqual([
      "invoke_agent test:sums",
      "  chat",
      "  execute_tool add",
      "  chat",
    ]);
    const [agent, first, call, second] = spans;
    expect(agent?.kind).toBe(SpanKind.INTERNAL);
    expect(agent?.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "scripted",
      "gen_ai.agent.name": "test:sums",
      "gen_ai.conversation.id": "conversation-1",
      "gen_ai.response.model": "owl-1-2026",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 30,
      "gen_ai.usage.output_tokens": 6,
      "gen_ai.usage.cache_read.input_tokens": 4,
      "gen_ai.usage.reasoning.output_tokens": 2,
      "wink.cost_usd": 0.5,
      "wink.evaluation.outcome": "completed",
      "wink.evaluation.turns": 2,
    });
    expect(first?.kind).toBe(SpanKind.CLIENT);
    expect(first?.attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "scripted",
      "gen_ai.conversation.id": "conversation-1",
      "gen_ai.response.model": "owl-1-2026",
      "gen_ai.response.id": "resp_1",
      "gen_ai.response.finish_reasons": ["tool_call"],
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 5,
      "gen_ai.usage.cache_read.input_tokens": 4,
      "gen_ai.usage.reasoning.output_tokens": 2,
    });
    expect(call?.kind).toBe(SpanKind.INTERNAL);
    expect(call?.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "add",
      "gen_ai.tool.call.id": "call-7",
      "gen_ai.tool.type": "function",
    });
    expect(second?.attributes["wink.cost_usd"]).toBe(0.5);
    for (const span of spans) expect(span.status.code).toBe(0);
  });

  test("of parallel calls overlap, and end when their own handlers return", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const bothStarted = Promise.withResolvers<void>();
    const quickEnds = Promise.withResolvers<number>();
    const waitTool = { description: "Waits.", params: null, parallel: true } as const;
    const quick = new Tool({
      ...waitTool,
      name: "quick",
      handler: async () => {
        await bothStarted.promise;
        const both = performance.now(); // the starts of spans are rounded to milliseconds
        await expect.poll(() => performance.now()).toBeGreaterThan(both + 5);
        quickEnds.resolve(performance.now());
        return ToolResult.ok(null);
      },
    });
    const slow = new Tool({
      ...waitTool,
      name: "slow",
      handler: async () => {
        bothStarted.resolve();
        const ended = await quickEnds.promise;
        await expect.poll(() => performance.now()).toBeGreaterThan(ended + 2);
        return ToolResult.ok(null);
      },
    });
    const calls = [{ name: "quick" }, { name: "slow" }];
    const model = scriptedClient({ toolCalls: calls }, { text: "Done." });
    await model.evaluate(createPrompt("waits", { tools: [quick, slow] }), { session });
    const first = fixture.findSpan("execute_tool quick");
    const last = fixture.findSpan("execute_tool slow");
    expect(doOverlap(first, last)).toBe(true);
    expect(toMicroseconds(first.endTime)).toBeLessThan(toMicroseconds(last.endTime));
  });

  test("of a nested evaluation are children of the call that started it", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const model = scriptedClient(
      { toolCalls: [{ name: "ask_expert" }] },
      { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
      { text: "3" },
      { text: "The expert says 3." },
    );
    const expert = createPrompt("expert", { tools: [add] });
    const ask = new Tool({
      name: "ask_expert",
      description: "Asks.",
      params: null,
      handler: async (_params, context) => {
        const { text } = await context.adapter.evaluate(expert, { session: context.session });
        return ToolResult.ok(text);
      },
    });
    await model.evaluate(createPrompt("outer", { tools: [ask] }), { session });
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:outer",
      "  chat",
      "  execute_tool ask_expert",
      "    invoke_agent test:expert",
      "      chat",
      "      execute_tool add",
      "      chat",
      "  chat",
    ]);
    const turns = (name: string) => fixture.findSpan(name).attributes["wink.evaluation.turns"];
    expect(turns("invoke_agent test:outer")).toBe(2);
    expect(turns("invoke_agent test:expert")).toBe(2);
  });

  test.each([
    { isShared: true, hasContextManager: true },
    { isShared: true, hasContextManager: false },
    { isShared: false, hasContextManager: true },
    { isShared: false, hasContextManager: false },
  ])("of nested evaluations in parallel calls do not mix: %o", async ({ isShared, ...options }) => {
    const fixture = createTraceFixture(options);
    const bus = new InProcessEventBus();
    fixture.instrument(bus);
    const createExpert = (name: string) =>
      new Tool({
        name,
        description: "Asks.",
        params: null,
        parallel: true,
        handler: async (_params, context) => {
          const session = isShared ? context.session : new Session({ bus });
          const expert = scriptedClient(
            { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
            { text: name },
          );
          const prompt = createPrompt(`expert-${name}`, { tools: [add] });
          const { text } = await expert.evaluate(prompt, { session });
          return ToolResult.ok(text);
        },
      });
    const tools = [createExpert("left"), createExpert("right")];
    const calls = [{ name: "left" }, { name: "right" }];
    const model = scriptedClient({ toolCalls: calls }, { text: "Done." });
    await model.evaluate(createPrompt("outer", { tools }), { session: new Session({ bus }) });
    const listExpert = (name: string) => [
      `  execute_tool ${name}`,
      `    invoke_agent test:expert-${name}`,
      "      chat",
      "      execute_tool add",
      "      chat",
    ];
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:outer",
      "  chat",
      ...listExpert("left"),
      ...listExpert("right"),
      "  chat",
    ]);
  });

  test("include the spans of handlers below their calls, and start below the span of the caller", async () => {
    const fixture = createTraceFixture();
    const { tracer } = fixture;
    const session = new Session();
    fixture.instrument(session);
    const query = new Tool({
      name: "query",
      description: "Queries.",
      params: null,
      handler: async () => {
        await Promise.resolve();
        return await tracer.startActiveSpan("SELECT", async (span) => {
          span.end();
          return ToolResult.ok(null);
        });
      },
    });
    const model = scriptedClient(
      async () => {
        tracer.startSpan("POST").end(); // as an instrumented HTTP client does
        return { toolCalls: [{ name: "query" }] };
      },
      { text: "Done." },
    );
    await tracer.startActiveSpan("GET /report", async (span) => {
      await model.evaluate(createPrompt("report", { tools: [query] }), { session });
      span.end();
    });
    expect(formatTree(fixture.listSpans())).toEqual([
      "GET /report",
      "  invoke_agent test:report",
      "    chat",
      "      POST",
      "    execute_tool query",
      "      SELECT",
      "    chat",
    ]);
  });

  test("of failed calls have an error type and no message", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const fail = new Tool({
      name: "fail",
      description: "Fails.",
      params: null,
      handler: () => ToolResult.error("The row of Ms. Private is locked."),
    });
    const model = scriptedClient(
      {
        toolCalls: [{ name: "fail" }, { name: "add", arguments: { a: "x" } }, { name: "nothing" }],
      },
      { text: "Done." },
    );
    await model.evaluate(createPrompt("fails", { tools: [fail, add] }), { session });
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:fails",
      "  chat",
      "  execute_tool fail (error)",
      "  execute_tool add (error)",
      "  execute_tool nothing (error)",
      "  chat",
    ]);
    const types = ["fail", "add", "nothing"].map((name) => {
      const { attributes, status } = fixture.findSpan(`execute_tool ${name}`);
      expect(status.message).toBeUndefined();
      return attributes["error.type"];
    });
    expect(types).toEqual(["tool_error", "invalid_arguments", "invalid_arguments"]);
  });

  test("of hosted calls are children of the request that made them, and last as long", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const create = (kind: string) =>
      new HostedTool({ kind, name: kind, description: "Hosted.", config: {} });
    const hostedTools = [create("web_search"), create("file_search")];
    const model = scriptedClient({
      text: "Found.",
      hostedCalls: [
        { name: "web_search", kind: "web_search", callId: "ws_1", output: "owls" },
        {
          name: "file_search",
          kind: "file_search",
          callId: "fs_1",
          success: false,
          message: "No.",
        },
      ],
    });
    await model.evaluate(createPrompt("search", { hostedTools }), { session });
    expect(formatTree(fixture.listSpans())).toEqual([
      "invoke_agent test:search",
      "  chat",
      "    execute_tool web_search",
      "    execute_tool file_search (error)",
    ]);
    const chat = fixture.findSpan("chat");
    const search = fixture.findSpan("execute_tool web_search");
    expect(search.startTime).toEqual(chat.startTime);
    // The SDK rounds the time at which a span was created to milliseconds.
    const chatEnd = toMicroseconds(chat.endTime);
    expect(toMicroseconds(search.endTime)).toBeGreaterThan(chatEnd - 1_000);
    expect(search.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "web_search",
      "gen_ai.tool.call.id": "ws_1",
      "gen_ai.tool.type": "extension",
      "wink.tool.hosted_kind": "web_search",
    });
    const { attributes } = fixture.findSpan("execute_tool file_search");
    expect(attributes).toMatchObject({
      "gen_ai.tool.type": "datastore",
      "error.type": "tool_error",
    });
  });

  test("of an evaluation have events for what else happened, with numbers and ids", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const stamp = {
      ...{ sessionId: session.id, promptName: "test:eventful", adapter: "scripted" },
      createdAt: new Date(0).toISOString(),
    };
    const compacted: ContextCompacted = {
      ...stamp,
      type: "ContextCompacted",
      strategy: "endpoint",
      usage: { ...noTokens, inputTokens: 900, outputTokens: 50 },
      ...{ tokensBefore: 900, tokensAfter: 100, savedRatio: 0.9, nextAtTokens: 900 },
      ...{ encryptedLength: 1, itemsBefore: 9, itemsAfter: 1 },
    };
    const happen = new Tool({
      name: "happen",
      description: "Happens.",
      params: null,
      handler: () => {
        session.dispatch(compacted);
        session.dispatch({ ...compacted, tokensAfter: null, strategy: "server", usage: null });
        const lost = { containerId: "c1", replacedBy: "c2", reason: "Expired", restored: 1 };
        session.dispatch({ ...stamp, type: "ContainerReplaced", ...lost, lost: [] });
        const dropped = [{ type: "reasoning", id: null }];
        session.dispatch({ ...stamp, type: "HistoryRepaired", reason: "Torn", dropped });
        session.dispatch({ ...stamp, type: "TurnSubmitted", turn: 1, responseId: "resp_1" });
        session.dispatch({ ...stamp, type: "TurnResubmitted", turn: 1, responseId: "resp_1" });
        return ToolResult.ok(null);
      },
    });
    const model = scriptedClient({ toolCalls: [{ name: "happen" }] }, { text: "Done." });
    await model.evaluate(createPrompt("eventful", { tools: [happen] }), { session });
    const { attributes, events } = fixture.findSpan("invoke_agent test:eventful");
    expect(events.map((event) => [event.name, event.attributes])).toEqual([
      [
        "wink.context_compacted",
        {
          "wink.compaction.strategy": "endpoint",
          "wink.compaction.tokens_before": 900,
          "wink.compaction.tokens_after": 100,
        },
      ],
      [
        "wink.context_compacted",
        { "wink.compaction.strategy": "server", "wink.compaction.tokens_before": 900 },
      ],
      ["wink.container_replaced", { "wink.container.id": "c2" }],
      ["wink.history_repaired", { "wink.history.dropped_items": 1 }],
      ["wink.turn_submitted", { "gen_ai.response.id": "resp_1" }],
      ["wink.turn_resubmitted", { "gen_ai.response.id": "resp_1" }],
    ]);
    expect(attributes["gen_ai.usage.input_tokens"]).toBe(0); // the turns' usage contains compactions
  });

  test("of a structured answer have the output type json", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    const section = new MarkdownSection({ key: "task", title: "Task", template: "Go." });
    const output = z.object({ sum: z.number() });
    const template = new PromptTemplate({ ns: "test", key: "typed", sections: [section], output });
    await scriptedClient({ text: '{"sum":3}' }).evaluate(new Prompt(template), { session });
    expect(fixture.findSpan("chat").attributes["gen_ai.output.type"]).toBe("json");
  });

  test("of a stream are the spans of an evaluation", async () => {
    const fixture = createTraceFixture();
    const session = new Session();
    fixture.instrument(session);
    await scriptedClient({ text: "Hello." }).stream(createPrompt("stream"), { session }).response;
    expect(formatTree(fixture.listSpans())).toEqual(["invoke_agent test:stream", "  chat"]);
  });
});
