import { describe, expect, expectTypeOf, test, vi } from "vitest";
import {
  Budget,
  BudgetTracker,
  codeInterpreterTool,
  Deadline,
  fileSearchTool,
  InvalidOptionError,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  ResourceRegistry,
  resource,
  Session,
  Tool,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import type { ModelAction } from "weakincentives/local";
import { OpenAIAdapter, type OpenAIHostedToolsConfig } from "weakincentives/openai";
import { createFolder } from "../support/local/provider-fixture.ts";
import { clients, testKey } from "../support/openai-clients.ts";
import { runExample, startExample } from "../support/specs/example-run.ts";
import {
  createSalesDatabase,
  databaseConnection,
  growth,
  report,
  respondAsAnalyst,
} from "../support/specs/sales-report.ts";

// With Python in WebAssembly, every container takes seconds to start.
vi.setConfig({ testTimeout: 60_000 });

const task = new Prompt(
  new PromptTemplate({
    ns: "example",
    key: "task",
    sections: [new MarkdownSection({ title: "Task", key: "task", template: "Do it." })],
  }),
);

const taskMessage = { type: "message", role: "system", content: "## 1. Task (task)\n\nDo it." };

const interpreter = { type: "code_interpreter", container: { type: "auto" } };
const fileSearch = { type: "file_search", vector_store_ids: ["vs_1", "vs_2"], max_num_results: 20 };
const webSearch = { type: "web_search" };

const createPages = () =>
  createFolder({
    "pages.json": JSON.stringify({ "growth.html": growth }),
    "growth.html": "<title>Growth</title><p>Sales growth is the new total over the old.</p>",
  });

/** Returns the model's actions for a tool of each type. */
const uses = new Map<string, ModelAction>([
  ["code_interpreter", { code: "print(2 * 3)" }],
  ["file_search", { search: { file: "sales plan" } }],
  ["web_search", { search: { web: "sales growth" } }],
]);

interface ToolEntry {
  readonly type: string;
  readonly [key: string]: unknown;
}

function createActions(...tools: readonly ToolEntry[]): readonly ModelAction[] {
  return tools.flatMap(({ type }) => uses.get(type) ?? []);
}

describe.each(clients)("S0 OpenAI Hosted Tools, on %s", (_, reach) => {
  test.each(["gpt-4o", "gpt-5.2", "o3", "o4-mini"])(
    "Requirements: %s runs hosted tools through the Responses API only, with a key",
    async (model) => {
      const on = await startExample(reach, {
        script: [
          createActions(interpreter),
          createActions(fileSearch),
          createActions(webSearch),
          [{ say: "Done." }],
        ],
        provider: { web: createPages() },
      });
      const { id } = await on.store({ "plan.md": "The sales plan is 3." });
      const fileSearchIn = { vectorStoreIds: [id] };
      const hostedTools = { codeInterpreter: true, fileSearch: fileSearchIn, webSearch: true };
      const { requests, response } = await on.run(task, { adapter: { model, hostedTools } });
      expect(requests).toMatchObject([{ method: "POST", path: "/responses", body: { model } }]);
      expect(requests[0]?.headers["authorization"]).toBe(`Bearer ${testKey}`);
      expect(response.hostedCalls.map(({ kind, message }) => [kind, message])).toEqual([
        ["code_interpreter", "6\n"],
        ["file_search", "Searched files: sales plan"],
        ["web_search", "Searched: sales growth"],
      ]);
    },
  );

  test("Adapter Integration > Extended OpenAIAdapter: the adapter's hosted tools are in every request", async () => {
    const on = await startExample(reach, {
      script: [createActions(interpreter), [{ say: "Done." }]],
    });
    const adapter = on.adapter({
      model: "gpt-5.2-codex",
      hostedTools: { codeInterpreter: true },
      delivery: "buffered",
    });
    const response = await adapter.evaluate(task, { session: new Session() });
    expect(response).toMatchObject({ output: "Done.", text: "Done.", finishReason: "stop" });
    expect(response.hostedOutputs.get(codeInterpreterTool())).toMatchObject({ stdout: "6\n" });
    expect(on.requests.map(({ body }) => body)).toEqual([
      {
        model: "gpt-5.2-codex",
        input: [taskMessage],
        tools: [interpreter],
        tool_choice: "auto",
        include: ["code_interpreter_call.outputs"],
      },
    ]);
  });

  test.each([undefined, null, {}])(
    "Adapter Integration > Extended OpenAIAdapter: %j as hosted tools disables all of them",
    async (hostedTools) => {
      const { bodies } = await runExample(reach, task, {
        script: [[{ say: "Done." }]],
        adapter: { hostedTools, delivery: "buffered" },
      });
      expect(bodies).toEqual([{ model: "gpt-4.1", input: [taskMessage] }]);
    },
  );

  test("Adapter Integration > Extended OpenAIAdapter: model config and tool choice are in every request", async () => {
    const { bodies } = await runExample(reach, task, {
      script: [createActions(webSearch), [{ say: "Done." }]],
      provider: { web: createPages() },
      adapter: {
        hostedTools: { webSearch: true },
        modelConfig: { temperature: 0, maxOutputTokens: 500 },
        toolChoice: "required",
      },
    });
    expect(bodies).toMatchObject([
      { temperature: 0, max_output_tokens: 500, tool_choice: "required" },
    ]);
  });

  test("Adapter Integration > Extended OpenAIAdapter: evaluate accepts a deadline, a budget, a tracker and resources", async () => {
    const place = resource<string>("place");
    const where = new Tool({
      name: "where",
      description: "Says where it runs.",
      params: null,
      handler: (_params, { resources, deadline: until, budgetTracker }) =>
        ToolResult.ok(null, `${resources.get(place)} ${until !== null} ${budgetTracker !== null}`),
    });
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Where is it?",
      tools: [where],
    });
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 10_000 }));
    const { bodies, response } = await runExample(
      reach,
      new Prompt(new PromptTemplate({ ns: "example", key: "where", sections: [section] })),
      {
        script: [[{ call: { name: "where", args: {} } }], [{ say: "Here." }]],
        evaluate: {
          deadline: Deadline.after(60_000),
          budget: new Budget({ maxOutputTokens: 1000 }),
          budgetTracker: tracker,
          resources: new ResourceRegistry().bind(place, "Here"),
        },
      },
    );
    expect(bodies[1]?.["input"]).toMatchObject([
      { role: "system" },
      { type: "function_call" },
      { type: "function_call_output", output: "Here true true" },
    ]);
    expect(response).toMatchObject({ text: "Here.", usage: tracker.total });
    expect(tracker.total.totalTokens).toBeGreaterThan(0);
  });

  test("Adapter Integration > Extended OpenAIAdapter: client and clientConfig exclude each other", () => {
    const client = new OpenAIAdapter({ model: "o3", ...reach("http://127.0.0.1:1/v1") }).client;
    const both = { model: "o3", client, clientConfig: { apiKey: testKey } };
    expect(() => new OpenAIAdapter(both)).toThrow(InvalidOptionError);
    expect(() => new OpenAIAdapter(both)).toThrow("must be omitted when client is set");
  });

  const stores = { vectorStoreIds: ["vs_1", "vs_2"] };
  const enabled: readonly (readonly [OpenAIHostedToolsConfig, readonly ToolEntry[]])[] = [
    [{ codeInterpreter: true }, [interpreter]],
    [{ fileSearch: stores }, [fileSearch]],
    [{ fileSearch: { ...stores, maxResults: 7 } }, [{ ...fileSearch, max_num_results: 7 }]],
    [{ webSearch: true }, [webSearch]],
    [{ codeInterpreter: false, fileSearch: null, webSearch: true }, [webSearch]],
    [
      { webSearch: true, fileSearch: stores, codeInterpreter: true },
      [interpreter, fileSearch, webSearch],
    ],
  ];

  test.each(enabled)(
    "Adapter Integration > Hosted Tool Wire Format: %j sends only enabled tools, in order",
    async (hostedTools, tools) => {
      const script = [[...createActions(...tools), { say: "Done." }]];
      const on = await startExample(reach, { script, provider: { web: createPages() } });
      const plans = [await on.store({ "may.md": "The sales plan of May is 3." })];
      plans.push(await on.store({ "june.md": "The sales plan of June is 4." }));
      const ids = plans.map(({ id }) => id);
      const real = hostedTools.fileSearch && { ...hostedTools.fileSearch, vectorStoreIds: ids };
      const { bodies, response } = await on.run(task, {
        adapter: { hostedTools: { ...hostedTools, fileSearch: real } },
      });
      expect(bodies[0]?.["tools"]).toEqual(
        tools.map((tool) =>
          tool.type === "file_search" ? { ...tool, vector_store_ids: ids } : tool,
        ),
      );
      expect(response.hostedCalls.map(({ kind, success }) => [kind, success])).toEqual(
        tools.map(({ type }) => [type, true]),
      );
      const found = response.hostedOutputs.get(fileSearchTool({ vectorStoreIds: ids }))?.results;
      const names = found?.map(({ filename }) => filename).toSorted();
      expect(names).toEqual(hostedTools.fileSearch ? ["june.md", "may.md"] : undefined);
    },
  );

  test("Adapter Integration > Hosted Tool Wire Format: the prompt's own tool replaces the adapter's tool with the same kind", async () => {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Do it.",
      hostedTools: [codeInterpreterTool({ container: { type: "auto", memoryLimit: "16g" } })],
    });
    const prompt = new Prompt(
      new PromptTemplate({ ns: "example", key: "own", sections: [section] }),
    );
    const on = await startExample(reach, {
      script: [createActions(interpreter), [{ say: "Done." }]],
    });
    const { bodies, response } = await on.run(prompt, {
      adapter: { hostedTools: { codeInterpreter: true, webSearch: true } },
    });
    expect(bodies[0]?.["tools"]).toEqual([
      { type: "code_interpreter", container: { type: "auto", memory_limit: "16g" } },
      webSearch,
    ]);
    const [call] = response.hostedOutputs.get(codeInterpreterTool())?.calls ?? [];
    const { body } = await on.ask(`GET /containers/${call?.containerId}`);
    expect(body).toMatchObject({ memory_limit: "16g", status: "running" });
  });

  /** Cached: several tests use the same evaluation. */
  let analysed: ReturnType<typeof evaluateReport> | null = null;
  const analyze = () => {
    analysed ??= evaluateReport();
    return analysed;
  };

  async function evaluateReport() {
    using sales = createSalesDatabase();
    const shown = await runExample(reach, report, {
      script: respondAsAnalyst,
      provider: { web: createPages() },
      adapter: {
        model: "gpt-5.2-codex",
        hostedTools: { codeInterpreter: true, webSearch: true },
        delivery: "buffered",
      },
      evaluate: { resources: new ResourceRegistry().bind(databaseConnection, sales) },
    });
    return { ...shown, asked: sales.asked };
  }

  test("User Stories > Story 3, Hybrid Tools: one request has the function, the hosted tools and the output schema", async () => {
    const { bodies } = await analyze();
    const { input: _, ...first } = bodies[0] ?? {};
    expect(first).toEqual({
      model: "gpt-5.2-codex",
      tools: [
        {
          type: "function",
          name: "run_query",
          description: "Execute SQL query against the analytics database",
          parameters: report.render().tools[0]?.paramsSchema,
          strict: true,
        },
        interpreter,
        webSearch,
      ],
      tool_choice: "auto",
      include: ["code_interpreter_call.outputs", "web_search_call.action.sources"],
      text: {
        format: {
          type: "json_schema",
          name: "analytics_report",
          schema: report.render().outputSchema,
          strict: true,
        },
      },
    });
  });

  test("User Stories > Story 3, Hybrid Tools: the function uses its resource, and its result is sent together with the search", async () => {
    const { bodies, asked, bus } = await analyze();
    expect(asked).toEqual(["SELECT month, total FROM sales ORDER BY month"]);
    const rows = [
      { month: "2026-05", total: 2 },
      { month: "2026-06", total: 3 },
    ];
    const [search, query] = bus.of("ToolInvoked").map(({ callId }) => callId);
    expect(bodies[1]?.["input"]).toMatchObject([
      {
        type: "message",
        role: "system",
        content: "## 1. Task (task)\n\nAnalyze sales trends using SQL queries and Python.",
      },
      { type: "web_search_call", id: search, action: { sources: [{ url: growth }] } },
      { type: "function_call", call_id: query },
      {
        type: "function_call_output",
        call_id: query,
        output: `Query returned 2 rows\n\n${JSON.stringify({ rows, rowCount: 2 })}`,
      },
    ]);
  });

  test("User Stories > Story 3, Hybrid Tools: the response has typed output and each hosted tool's output, and every call is an event", async () => {
    const { response, bus } = await analyze();
    expectTypeOf(response.output).toEqualTypeOf<{ summary: string; growth: number }>();
    expect(response.output).toEqual({ summary: `Up, by ${growth}`, growth: 1.5 });
    expect(response.hostedOutputs.get(codeInterpreterTool())?.stdout).toBe("1.5\n");
    const start = JSON.stringify(response.output).indexOf(growth);
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      sourceUrls: [growth],
      citations: [{ type: "url", title: "Growth", span: [start, start + growth.length] }],
    });
    const calls = bus.of("ToolInvoked");
    expect(calls.map(({ name, origin }) => [name, origin?.capability])).toEqual([
      ["web_search", "web_search"],
      ["run_query", undefined],
      ["code_interpreter", "code_interpreter"],
      ["web_search", "web_search"],
    ]);
  });

  const limited = [{ fail: { status: 429, code: "rate_limit_exceeded", message: "Slow down" } }];

  test("Error Handling > Transparent Recovery: rate limits are retried with increasing delays", async () => {
    const told: unknown[] = [];
    const nothing = () => undefined;
    const { response, bodies } = await runExample(reach, task, {
      script: [limited, limited, [{ say: "Done." }]],
      adapter: {
        random: () => 1,
        throttle: { baseDelayMs: 100, maxDelayMs: 1000 },
        logger: {
          debug: nothing,
          info: nothing,
          error: nothing,
          warn: (said, facts) => void (said.startsWith("throttled") && told.push(facts)),
        },
      },
    });
    expect(response.text).toBe("Done.");
    expect(bodies).toHaveLength(3);
    expect(told).toEqual([
      { kind: "rate_limit", attempts: 1, delayMs: 100 },
      { kind: "rate_limit", attempts: 2, delayMs: 200 },
    ]);
  });

  test("Error Handling > Transparent Recovery: a broken connection is retried", async () => {
    const { response, bodies, bus } = await runExample(reach, task, {
      script: [[{ drop: true }], [{ say: "Done." }]],
    });
    expect(response.text).toBe("Done.");
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bus.of("TurnStarted")).toHaveLength(1);
  });
});
