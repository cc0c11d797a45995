import { describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  applyPatchTool,
  MarkdownSection,
  NativeTool,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  PromptValidationError,
  Session,
  Tool,
  ToolResult,
  toolLog,
} from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import type { ModelAction } from "weakincentives/local";
import type { HostedToolCodec } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { clients } from "../support/openai-clients.ts";
import { runCanned } from "../support/specs/canned-run.ts";
import { runExample, runFailure, startExample } from "../support/specs/example-run.ts";
import { createSearch, searched, weather } from "../support/specs/paris-weather.ts";
import { imageGenerationCall, mcpCall, message } from "../support/wire-server.ts";

// With Python in WebAssembly, every container takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

const WebSearchParams = z.object({ query: z.string() });
const Payload = z.object({ payload: z.record(z.string(), z.unknown()) });

const webSearchTool = new NativeTool({
  name: "web_search",
  description: "Use the provider's built-in search to gather fresh results.",
  params: WebSearchParams,
  result: Payload,
  examples: [
    {
      description: "Search for current weather in Paris.",
      input: { query: "current weather in Paris" },
      output: { payload: { results: [] } },
    },
  ],
});

const add = new Tool({
  name: "add",
  description: "Adds two numbers.",
  params: z.strictObject({ a: z.number(), b: z.number() }),
  handler: ({ a, b }) => ToolResult.ok({ sum: a + b }, "Added"),
});

function createPrompt(...tools: readonly Tool[]) {
  const section = new MarkdownSection({ title: "Task", key: "task", template: "Go.", tools });
  return new Prompt(new PromptTemplate({ ns: "native", key: "task", sections: [section] }));
}

const search: ModelAction = { search: { web: "current weather in Paris" } };
const open: ModelAction = { search: { open: weather } };
const rain: ModelAction = { say: "Rain." };
const adding: ModelAction = { call: { name: "add", args: { a: 1, b: 2 } } };

describe.each(clients)("S4 Native Tool, on %s", (_, reach) => {
  test("OpenAI Usage Examples: the tool is declared like a client tool, sent as the provider's own, and its payload is returned verbatim", async () => {
    expectTypeOf(webSearchTool).toExtend<
      NativeTool<{ query: string }, { payload: Record<string, unknown> }>
    >();
    const on = await startExample(reach, createSearch([[search], [rain]]));
    const adapter = on.adapter({ delivery: "buffered" });
    const bus = recordingBus();
    const session = new Session({ bus });
    const prompt = createPrompt(webSearchTool);
    const response = await adapter.evaluate(prompt, { session });

    const { text } = prompt.render();
    expect(text).toContain("- Search for current weather in Paris.");
    expect(on.requests.map(({ body }) => body)).toEqual([
      {
        model: "gpt-4.1",
        input: [{ type: "message", role: "system", content: text }],
        tools: [{ type: "web_search" }],
        tool_choice: "auto",
        include: ["web_search_call.action.sources"],
      },
    ]);
    const [call] = response.hostedCalls;
    const value = { payload: call?.raw };
    expect(value).toEqual({ payload: { id: expect.stringMatching(/^ws_/), ...searched } });
    expect(response.output).toBe("Rain.");
    expect(response.hostedCalls).toMatchObject([{ name: "web_search", output: value }]);
    const [event] = bus.of("ToolInvoked");
    expect(event).toEqual({
      type: "ToolInvoked",
      sessionId: session.id,
      promptName: "native:task",
      adapter: "openai",
      createdAt: expect.any(String),
      name: "web_search",
      callId: call?.callId,
      params: { query: "current weather in Paris" },
      result: { success: true, message: "Searched: current weather in Paris", value },
      renderedOutput: JSON.stringify(value),
      usage: response.usage,
      durationMs: null,
      origin: { execution: "provider", provider: "openai", capability: "web_search" },
    });
  });

  test("Invocation Lifecycle: the event has the fields of a client tool's event, and also where the tool ran", async () => {
    const prompt = createPrompt(webSearchTool, add);
    const { bus } = await runExample(reach, prompt, createSearch([[search, adding], [rain]]));
    const [native, client] = bus.of("ToolInvoked").map((event) => Object.keys(event).sort());
    expect(native).toEqual([...(client ?? []), "origin"].sort());
    expect(bus.types().filter((type) => type === "ToolInvoked")).toHaveLength(2);
  });

  test("Invocation Lifecycle: the session's transcript contains native calls like client calls", async () => {
    const session = new Session({ bus: recordingBus() });
    session.register(toolLog);
    const { response } = await runExample(reach, createPrompt(webSearchTool, add), {
      ...createSearch([[search, adding], [rain]]),
      evaluate: { session },
    });
    const log = session.get(toolLog);
    const [{ callId: searchId, raw } = { callId: "", raw: {} }] = response.hostedCalls;
    expect(raw).toMatchObject(searched);
    expect(log.map(({ name, callId, result }) => [name, callId, result.value])).toEqual([
      ["web_search", searchId, { payload: raw }],
      ["add", expect.stringMatching(/^call_/), { sum: 3 }],
    ]);
    expect(log.map(({ renderedOutput }) => JSON.parse(renderedOutput))).toEqual([
      { payload: raw },
      { sum: 3 },
    ]);
    expect(log.map(({ origin }) => origin?.capability)).toEqual(["web_search", undefined]);
  });

  test("Event Contract: a retried request publishes its calls once, and only as ToolInvoked", async () => {
    const limited = [{ fail: { status: 429, code: "rate_limit_exceeded", message: "Slow down" } }];
    const prompt = createPrompt(webSearchTool, add);
    const bumpy = [limited, [search, adding], limited, [rain]];
    const retried = await runExample(reach, prompt, createSearch(bumpy));
    const smooth = await runExample(reach, prompt, createSearch([[search, adding], [rain]]));
    expect(retried.bus.types()).toEqual(smooth.bus.types());
    expect(retried.bus.of("ToolInvoked").map(({ name }) => name)).toEqual(["web_search", "add"]);
  });

  test("Adapter Responsibilities: invalid params are reported as rejected, and the payload is kept", async () => {
    const searchesOnly = new NativeTool({
      name: "web_search",
      description: "Searches, and does nothing else.",
      params: z.object({ action: z.literal("search") }),
      result: Payload,
    });
    const prompt = createPrompt(searchesOnly);
    const { bus, response } = await runExample(reach, prompt, createSearch([[open], [rain]]));
    const [event] = bus.of("ToolInvoked");
    expect(event?.params).toMatchObject({
      rejected: true,
      given: { action: "open_page", url: weather },
      problem: expect.stringContaining("action"),
    });
    const action = { type: "open_page", url: weather };
    expect(event?.result).toMatchObject({ success: false, value: { payload: { action } } });
    expect(response.text).toBe("Rain.");
  });

  test("Adapter Responsibilities: the query is also reported for an opened page", async () => {
    const prompt = createPrompt(webSearchTool);
    const { bus } = await runExample(reach, prompt, createSearch([[open], [rain]]));
    expect(bus.of("ToolInvoked")).toMatchObject([
      { params: { query: weather }, result: { success: true } },
    ]);
  });

  const mcp = new NativeTool({
    name: "tickets",
    description: "Asks the ticket server.",
    kind: "mcp",
    config: { serverLabel: "server", serverUrl: "https://tickets.example/mcp" },
    params: z.object({ name: z.string(), arguments: z.string() }),
    result: Payload,
  });
  const image = new NativeTool({
    name: "image_generation",
    description: "Draws.",
    params: z.object({ prompt: z.string().optional() }),
    result: Payload,
  });
  const timedOut = { type: "http_error", code: 504, message: "Gateway timeout" };
  const blocked = { code: "moderation_blocked", message: "Not this" };
  const adapter = { model: "gpt-5.2" };

  /**
   * The local provider has no remote servers and no images, by design, so their responses are
   * prepared.
   */
  const prepareAnswer = (tool: NativeTool, item: object) => () =>
    runCanned(reach, createPrompt(tool), {
      script: [[{ ...item }, message("It failed.")]],
      adapter,
    });
  const inVain: ModelAction = { search: { open: "https://weather.example/gone" } };
  const failures = [
    [
      "a server",
      prepareAnswer(mcp, { ...mcpCall("find", {}, null), error: timedOut }),
      "http_error 504",
    ],
    [
      "an image",
      prepareAnswer(image, { ...imageGenerationCall(null), status: "failed", error: blocked }),
      "moderation_blocked: Not this",
    ],
    [
      "a search",
      () =>
        runExample(reach, createPrompt(webSearchTool), {
          ...createSearch([[inVain], [{ say: "It failed." }]]),
          adapter,
        }),
      'Failed (status "failed")',
    ],
  ] as const;

  test.each(failures)(
    "Adapter Responsibilities: a failure of %s is a failed result with the provider's code",
    async (_what, evaluated, said) => {
      const { bus, response } = await evaluated();
      const [event] = bus.of("ToolInvoked");
      expect(event?.result).toMatchObject({ success: false, value: null });
      expect(event?.result.message).toContain(said);
      expect(response.text).toBe("It failed.");
    },
  );

  test("Adapter Responsibilities: params that the provider's calls never have are rejected before any request", async () => {
    const odd = new NativeTool({
      name: "web_search",
      description: "Searches.",
      params: z.object({ search_terms: z.string() }),
      result: Payload,
    });
    const { error, requests } = await runFailure(reach, createPrompt(odd));
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "native:task" });
    expect(String(error)).toContain('NativeTool "web_search" declares the param "search_terms"');
    expect(String(error)).toContain("Remove it, or make it optional.");
    expect(requests).toEqual([]);
  });

  test("Adapter Responsibilities: a native apply_patch tool is rejected with a remedy, because patches are applied locally", async () => {
    const patch = new NativeTool({
      name: "apply_patch",
      description: "Patches files.",
      params: z.object({ path: z.string() }),
      result: Payload,
    });
    const options = { adapter: { model: "gpt-5.2" } };
    const { error, requests } = await runFailure(reach, createPrompt(patch), options);
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(String(error)).toContain("Add applyPatchTool() to the section's hostedTools.");
    expect(requests).toEqual([]);
  });

  const createNativeTool = (kind: string, config: object = {}) =>
    new NativeTool({
      name: kind,
      description: "Native.",
      params: z.object({}),
      result: Payload,
      config,
    });
  const kinds = [
    ["web_search", {}, search, weather],
    ["code_interpreter", { container: { type: "auto" } }, { code: "print(6 * 7)" }, "42"],
    ["file_search", { max_num_results: 20 }, { search: { file: "weather" } }, "Paris: rain"],
    ["shell", { environment: { type: "container_auto" } }, { shell: ["echo $((6 * 7))"] }, "42"],
  ] as const;

  test.each(kinds)(
    "OpenAI Implementation and Integration Points: %s is sent as the provider's own type, and can be forced",
    async (kind, wire, action, gives) => {
      const on = await startExample(reach, createSearch([[action], [rain]]));
      const { id } = await on.store({ "paris.md": "The weather in Paris: rain." });
      const isOfFiles = kind === "file_search";
      const tool = createNativeTool(kind, isOfFiles ? { vectorStoreIds: [id] } : {});
      const { bodies, bus, response } = await on.run(createPrompt(tool, add), {
        adapter,
        evaluate: { toolChoice: { type: "built_in", name: tool.name } },
      });
      const stores = isOfFiles ? { vector_store_ids: [id] } : {};
      expect(bodies[0]?.["tools"]).toEqual([
        expect.objectContaining({ name: "add" }),
        { type: kind, ...wire, ...stores },
      ]);
      const forced = kind === "web_search" ? "web_search_preview" : kind;
      expect(bodies[0]?.["tool_choice"]).toEqual({ type: forced });
      const [event] = bus.of("ToolInvoked");
      expect(event).toMatchObject({ name: kind, origin: { capability: kind } });
      const { body } = await on.ask(`GET /responses/${response.responseId}`);
      // The sandbox that works everywhere has no shell, and reports it.
      const given = JSON.stringify(body["output"]).replace("There is no shell", gives);
      expect(given).toContain(gives);
    },
  );

  test("OpenAI Implementation and Integration Points: apply_patch is sent for a hosted tool with a file system", async () => {
    const filesystem = new InMemoryFilesystem();
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Go.",
      hostedTools: [applyPatchTool({}, { filesystem })],
    });
    const template = new PromptTemplate({ ns: "native", key: "patch", sections: [section] });
    const create = { type: "create_file", path: "paris.txt", diff: "+Sun.\n" };
    const update = { type: "update_file", path: "paris.txt", diff: "@@\n-Sun.\n+Rain.\n" };
    const { bodies } = await runExample(reach, new Prompt(template), {
      script: [[{ patch: [create] }], [{ patch: [update] }], [{ say: "Done." }]],
      adapter,
    });
    for (const body of bodies) expect(body["tools"]).toEqual([{ type: "apply_patch" }]);
    expect(await filesystem.readText("paris.txt")).toBe("Rain.\n");
  });

  test("OpenAI Implementation and Integration Points: a handler is rejected at construction", () => {
    const options = { name: "web_search", description: "Searches.", params: WebSearchParams };
    const handler = () => ToolResult.ok(null);
    const make = () => new NativeTool({ ...options, result: Payload, ...{ handler } });
    expect(make).toThrow(PromptValidationError);
    expect(webSearchTool).toMatchObject({ handler: null, acceptsOverrides: false });
  });

  test("Security and Sandbox Considerations: a tool that the model lacks is omitted with an event if configured", async () => {
    const { bodies, bus } = await runExample(
      reach,
      createPrompt(createNativeTool("shell"), webSearchTool),
      {
        ...createSearch([[search], [rain]]),
        adapter: { model: "gpt-4.1", unsupportedHostedTools: "omit" },
      },
    );
    expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search" }]);
    expect(bus.of("HostedToolOmitted")).toMatchObject([
      { name: "shell", kind: "shell", reason: expect.stringContaining('"gpt-4.1"') },
    ]);
  });

  test("Security and Sandbox Considerations: an untrusted evaluation runs without native tools", async () => {
    const none = await runExample(reach, createPrompt(webSearchTool, add), {
      script: [[{ say: "Done." }]],
      evaluate: { allowHostedTools: false },
    });
    expect(none.bodies[0]?.["tools"]).toMatchObject([{ type: "function", name: "add" }]);
    expect(none.bus.of("HostedToolOmitted")).toMatchObject([{ name: "web_search" }]);
    const some = await runExample(
      reach,
      createPrompt(webSearchTool, createNativeTool("code_interpreter")),
      {
        ...createSearch([[search], [rain]]),
        evaluate: { allowHostedTools: ["web_search"] },
      },
    );
    expect(some.bodies[0]?.["tools"]).toEqual([{ type: "web_search" }]);
  });

  test("Compatibility and Extensibility: a new capability needs only its own constructor and a codec", async () => {
    const forecast = () =>
      new NativeTool({
        name: "forecast",
        description: "Forecasts the weather.",
        params: z.object({ place: z.string() }),
        result: z.object({ degrees: z.number() }),
      });
    const codec: HostedToolCodec = {
      kind: "forecast",
      serialize: () => ({ type: "forecast" }),
      parseOutput: (items) => items.find(({ type }) => type === "forecast_call") ?? null,
    };
    const call = { type: "forecast_call", id: "fo_1", place: "Oslo", degrees: 4 };
    const { bodies, bus } = await runCanned(reach, createPrompt(forecast()), {
      script: [[call, message("Cold.")]],
      adapter: { hostedToolCodecs: [codec] },
      server: { invalid: "allowed" }, // nobody has such a tool
    });
    expect(bodies[0]?.["tools"]).toEqual([{ type: "forecast" }]);
    expect(bus.of("ToolInvoked")).toMatchObject([
      { params: { place: "Oslo" }, result: { success: true, value: { degrees: 4 } } },
    ]);
  });

  test("Compatibility and Extensibility: a native tool can be compared, stored in sets and printed like any other", () => {
    const twin = createNativeTool("web_search");
    const tools: ReadonlySet<Tool> = new Set([webSearchTool, twin, add, webSearchTool]);
    expect([...tools]).toEqual([webSearchTool, twin, add]);
    expect(tools.has(webSearchTool)).toBe(true);
    expect(tools.has(createNativeTool("web_search"))).toBe(false);
    expect(String(webSearchTool)).toBe(String(add));
    expect([...tools].every((tool) => tool instanceof Tool)).toBe(true);
  });
});
