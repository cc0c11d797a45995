import { describe, expect, test } from "vitest";
import * as z from "zod";
import { clients, testKey } from "../../tests/support/openai-clients.ts";
import {
  codeInterpreterCall,
  containerFileCitation,
  functionCall,
  message,
  reasoning,
  refusal,
  startWireServer,
  urlCitation,
  type WireScript,
  type WireServerOptions,
  webSearchCall,
} from "../../tests/support/wire-server.ts";
import { Prompt } from "../prompt/prompt.ts";
import {
  MarkdownSection,
  type MarkdownSectionOptions,
} from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { codeInterpreterTool } from "../tools/hosted/code-interpreter.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { OpenAIAdapter } from "./adapter.ts";
import type { OpenAIAdapterOptions } from "./adapter-options.ts";
import type { WireItem } from "./wire.ts";

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.strictObject({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok(null, String(a + b)),
});

type Parts = Partial<MarkdownSectionOptions<object, object, never, never>>;

const createPrompt = (parts: Parts = {}) =>
  new Prompt(
    new PromptTemplate({
      ns: "test",
      key: "run",
      sections: [new MarkdownSection({ key: "task", title: "Task", template: "Go.", ...parts })],
    }),
  );

const system = { type: "message", role: "system", content: "## 1. Task (task)\n\nGo." };

describe.each(clients)("OpenAIAdapter on %s", (_, client) => {
  async function run(
    script: WireScript,
    prompt: Prompt<unknown> = createPrompt(),
    options: Partial<OpenAIAdapterOptions> = {},
    server: WireServerOptions = {},
  ) {
    await using api = await startWireServer(script, server);
    const bus = recordingBus();
    const clock = fakeClock({ skipsSleep: true });
    const about = { model: "gpt-5.2", ...client(api.url), clock, ...options };
    const adapter = new OpenAIAdapter(about);
    const session = new Session({ bus });
    const response = await adapter.evaluate(prompt, { session });
    const bodies = api.requests.filter(({ path }) => path === "/responses").map(({ body }) => body);
    return { response, bus, bodies, requests: api.requests, session };
  }

  test("sends the prompt as one system message, without optional fields", async () => {
    const { response, bodies, requests } = await run([[message("Hello.")]]);
    expect(response).toMatchObject({ text: "Hello.", output: "Hello.", finishReason: "stop" });
    const stream = { stream: true, stream_options: { include_obfuscation: false } };
    expect(bodies).toEqual([{ model: "gpt-5.2", input: [system], ...stream }]);
    expect(requests[0]?.headers["authorization"]).toBe(`Bearer ${testKey}`);
  });

  test("reports usage, ids and the model", async () => {
    const usage = {
      input_tokens: 20,
      input_tokens_details: { cached_tokens: 8 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 27,
    };
    const answer = { output: [message("Hi.")], usage, id: "resp_9", model: "gpt-5.2-2026" };
    const { response, bus } = await run([answer]);
    expect(response.usage).toEqual({
      inputTokens: 20,
      outputTokens: 7,
      cachedTokens: 8,
      reasoningTokens: 3,
      totalTokens: 27,
    });
    expect(response.responseId).toBe("resp_9");
    expect(bus.of("PromptExecuted")).toMatchObject([
      { model: "gpt-5.2-2026", requestIds: ["req_1"], adapter: "openai" },
    ]);
  });

  test("sends every item back unchanged, followed by the tool outputs", async () => {
    const thought: WireItem = {
      ...reasoning("rs_1"),
      summary: [{ type: "summary_text", text: "Hm." }],
    };
    const call = { ...functionCall("add", { a: 1, b: 2 }, "call_1"), id: "fc_1", odd: { x: [1] } };
    const { bodies, bus } = await run(
      [[thought, call], [message("Three.")]],
      createPrompt({ tools: [add] }),
    );
    const [, second] = bodies;
    const { encrypted_content: _, ...unencrypted } = thought; // the server sends it only if requested
    expect(second?.["input"]).toEqual([
      system,
      unencrypted,
      call,
      { type: "function_call_output", call_id: "call_1", output: "3" },
    ]);
    expect(bodies[0]?.["tools"]).toEqual([
      {
        type: "function",
        name: "add",
        description: "Adds two numbers.",
        parameters: add.paramsSchema,
        strict: true,
      },
    ]);
    expect(bodies[0]?.["tool_choice"]).toBe("auto");
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "add", callId: "call_1" }]);
  });

  test("requests encrypted reasoning and sends no stored ids with store: false", async () => {
    const call = { ...functionCall("add", { a: 1, b: 2 }, "call_1"), id: "fc_1" };
    const { bodies } = await run(
      [[reasoning("rs_1"), call], [message("Three.")]],
      createPrompt({ tools: [add] }),
      { modelConfig: { store: false } },
    );
    expect(bodies[0]).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
    const { id: _, ...unstored } = call;
    expect(bodies[1]?.["input"]).toMatchObject([system, { type: "reasoning" }, unstored, {}]);
    expect(Object(bodies[1]?.["input"])[2]).not.toHaveProperty("id");
  });

  test("drops a truncated call and publishes HistoryRepaired", async () => {
    const whole = functionCall("add", { a: 1, b: 2 }, "call_1");
    const cut = { ...functionCall("add", '{"a":', "call_2"), status: "incomplete" };
    const answer = {
      output: [whole, cut],
      incomplete_details: { reason: "max_output_tokens" },
    };
    const { bodies, bus } = await run(
      [answer, [message("Three.")]],
      createPrompt({ tools: [add] }),
    );
    expect(bodies[1]?.["input"]).toMatchObject([system, { call_id: "call_1" }, { output: "3" }]);
    expect(bus.of("HistoryRepaired")).toMatchObject([{ dropped: [{ type: "function_call" }] }]);
  });

  test("combines functions, web search, code and structured output in one prompt", async () => {
    const output = z.object({ total: z.number() });
    const sections = [
      new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Go.",
        tools: [add],
        hostedTools: [webSearchTool(), codeInterpreterTool()],
      }),
    ];
    const prompt = new Prompt(new PromptTemplate({ ns: "test", key: "hybrid", sections, output }));
    const { response, bodies, bus } = await run(
      [
        [
          webSearchCall("owls", ["https://owls.example"]),
          codeInterpreterCall("print(3)", ["3\n"]),
          functionCall("add", { a: 1, b: 2 }, "call_1"),
        ],
        [message('{"total":3}', [urlCitation("https://owls.example", "Owls", [0, 5])])],
      ],
      prompt,
    );
    expect(response.output).toEqual({ total: 3 });
    expect(bodies[0]?.["text"]).toEqual({
      format: {
        type: "json_schema",
        name: "test_hybrid",
        schema: prompt.render().outputSchema,
        strict: true,
      },
    });
    expect(bodies[0]?.["include"]).toEqual([
      "web_search_call.action.sources",
      "code_interpreter_call.outputs",
    ]);
    expect(Object(bodies[0]?.["tools"]).map(({ type }: { type: string }) => type)).toEqual([
      "function",
      "web_search",
      "code_interpreter",
    ]);
    const events = bus.of("ToolInvoked").map(({ name, origin }) => [name, origin?.capability]);
    expect(events).toEqual([
      ["web_search", "web_search"],
      ["code_interpreter", "code_interpreter"],
      ["add", undefined],
    ]);
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      text: '{"total":3}',
      sourceUrls: ["https://owls.example"],
      citations: [{ url: "https://owls.example", span: [0, 5] }],
    });
    expect(response.hostedOutputs.get(codeInterpreterTool())).toMatchObject({ stdout: "3\n" });
  });

  test("collects the outputs of all turns, with spans only for the last turn's citations", async () => {
    const before = message("Looking.", [urlCitation("https://one.example", "One", [0, 4])]);
    const after = message("Found.", [
      urlCitation("https://two.example", "Two", [0, 5]),
      containerFileCitation("cfile_1", "plot.png", [1, 3]),
    ]);
    const { response } = await run(
      [
        [webSearchCall("one"), before, functionCall("add", { a: 1, b: 2 })],
        [webSearchCall("two"), after],
      ],
      createPrompt({ tools: [add], hostedTools: [webSearchTool()] }),
    );
    const search = response.hostedOutputs.get(webSearchTool());
    expect(search?.searches.map(({ queries }) => queries)).toEqual([["one"], ["two"]]);
    expect(search?.text).toBe("Found.");
    const urls = [
      { type: "url", url: "https://one.example", title: "One", span: null },
      { type: "url", url: "https://two.example", title: "Two", span: [0, 5] },
    ];
    expect(search?.citations).toEqual(urls);
    expect(response.citations).toEqual([
      ...urls,
      {
        type: "containerFile",
        containerId: "cntr_1",
        fileId: "cfile_1",
        filename: "plot.png",
        span: [1, 3],
      },
    ]);
    expect(response.hostedCalls).toHaveLength(2);
  });

  test('returns a refusal with the finish reason "content_filter"', async () => {
    const { response } = await run([[refusal("I would rather not.")]]);
    expect(response).toMatchObject({ text: "I would rather not.", finishReason: "content_filter" });
  });

  test("waits as long as the provider requests, then repeats the same request", async () => {
    const limited = {
      status: 429,
      error: { message: "Slow down", type: "requests", code: "rate_limit_exceeded" },
      headers: { "retry-after": "3" },
    };
    const { response, bodies } = await run(
      [[functionCall("add", { a: 1, b: 2 })], limited, [message("Three.")]],
      createPrompt({ tools: [add] }),
    );
    expect(response.text).toBe("Three.");
    expect(bodies[2]).toEqual(bodies[1]);
  });
});
