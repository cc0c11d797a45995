import { describe, expect, expectTypeOf, test } from "vitest";
import {
  Budget,
  BudgetTracker,
  codeInterpreterTool,
  Deadline,
  InvalidOptionError,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  ResourceRegistry,
  resource,
  Session,
  Tool,
  type ToolContext,
  ToolResult,
  webSearchTool,
} from "weakincentives";
import { OpenAIAdapter, type OpenAIHostedToolsConfig } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { clients, testKey } from "../openai-clients.ts";
import {
  codeInterpreterCall,
  functionCall,
  message,
  urlCitation,
  webSearchCall,
  wireServer,
} from "../wire-server.ts";
import { run } from "./example-run.ts";

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

describe.each(clients)("S0 OpenAI Hosted Tools, on %s", (_, reach) => {
  test.each(["gpt-4o", "gpt-5.2", "o3", "o4-mini"])(
    "Requirements: %s runs hosted tools by the Responses API alone, with a key",
    async (model) => {
      const hostedTools = {
        codeInterpreter: true,
        fileSearch: { vectorStoreIds: ["vs_1", "vs_2"] },
        webSearch: true,
      };
      const { requests } = await run(reach, task, {
        script: [[message("Done.")]],
        adapter: { model, hostedTools },
      });
      expect(requests).toMatchObject([{ method: "POST", path: "/responses", body: { model } }]);
      expect(requests[0]?.headers["authorization"]).toBe(`Bearer ${testKey}`);
    },
  );

  test("Adapter Integration > Extended OpenAIAdapter: hosted tools of the adapter are in every request", async () => {
    await using api = await wireServer([[message("Done.")]]);
    const adapter = new OpenAIAdapter({
      ...reach(api.url),
      model: "gpt-5.2-codex",
      hostedTools: { codeInterpreter: true },
    });
    const response = await adapter.evaluate(task, { session: new Session() });
    expect(response).toMatchObject({ output: "Done.", text: "Done.", finishReason: "stop" });
    expect(response.hostedOutputs.size).toBe(0);
    expect(api.requests.map(({ body }) => body)).toEqual([
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
    "Adapter Integration > Extended OpenAIAdapter: %j for hosted tools disables them all",
    async (hostedTools) => {
      const { bodies } = await run(reach, task, {
        script: [[message("Done.")]],
        adapter: { hostedTools },
      });
      expect(bodies).toEqual([{ model: "gpt-4.1", input: [taskMessage] }]);
    },
  );

  test("Adapter Integration > Extended OpenAIAdapter: model config and tool choice go with every request", async () => {
    const { bodies } = await run(reach, task, {
      script: [[message("Done.")]],
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

  test("Adapter Integration > Extended OpenAIAdapter: evaluate takes a deadline, a budget, a tracker and resources", async () => {
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
    const tracker = new BudgetTracker(new Budget({ maxTotalTokens: 1000 }));
    const { bodies, response } = await run(
      reach,
      new Prompt(new PromptTemplate({ ns: "example", key: "where", sections: [section] })),
      {
        script: [[functionCall("where", {})], [message("Here.")]],
        evaluate: {
          deadline: Deadline.after(60_000),
          budget: new Budget({ maxOutputTokens: 100 }),
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
    expect(response).toMatchObject({ text: "Here.", usage: { totalTokens: 30 } });
    expect(tracker.total.totalTokens).toBe(30);
  });

  test("Adapter Integration > Extended OpenAIAdapter: client and client config exclude each other", () => {
    const client = new OpenAIAdapter({ model: "o3", ...reach("http://127.0.0.1:1/v1") }).client;
    const both = { model: "o3", client, clientConfig: { apiKey: testKey } };
    expect(() => new OpenAIAdapter(both)).toThrow(InvalidOptionError);
    expect(() => new OpenAIAdapter(both)).toThrow("must be left out beside client");
  });

  const stores = { vectorStoreIds: ["vs_1", "vs_2"] };
  const enabled: readonly (readonly [OpenAIHostedToolsConfig, readonly object[]])[] = [
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
    "Adapter Integration > Hosted Tool Wire Format: %j puts what is enabled in order, and nothing else",
    async (hostedTools, tools) => {
      const { bodies } = await run(reach, task, {
        script: [[message("Done.")]],
        adapter: { hostedTools },
      });
      expect(bodies[0]?.["tools"]).toEqual(tools);
    },
  );

  test("Adapter Integration > Hosted Tool Wire Format: the prompt's own tool of a kind stands for the adapter's", async () => {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Do it.",
      hostedTools: [codeInterpreterTool({ container: { type: "auto", memoryLimit: "16g" } })],
    });
    const prompt = new Prompt(
      new PromptTemplate({ ns: "example", key: "own", sections: [section] }),
    );
    const { bodies } = await run(reach, prompt, {
      script: [[message("Done.")]],
      adapter: { hostedTools: { codeInterpreter: true, webSearch: true } },
    });
    expect(bodies[0]?.["tools"]).toEqual([
      { type: "code_interpreter", container: { type: "auto", memory_limit: "16g" } },
      webSearch,
    ]);
  });

  interface Database {
    execute(sql: string): readonly Record<string, unknown>[];
  }
  const databaseConnection = resource<Database>("database connection");

  const QueryParams = z.strictObject({ sql: z.string() });
  const QueryResult = z.object({
    rows: z.array(z.record(z.string(), z.unknown())),
    rowCount: z.int(),
  });
  const AnalysisResult = z.object({ summary: z.string(), growth: z.number() });

  function runQuery(
    { sql }: z.infer<typeof QueryParams>,
    { resources }: ToolContext,
  ): ToolResult<z.infer<typeof QueryResult>> {
    const rows = [...resources.get(databaseConnection).execute(sql)];
    return ToolResult.ok({ rows, rowCount: rows.length }, `Query returned ${rows.length} rows`);
  }

  const queryTool = new Tool({
    name: "run_query",
    description: "Execute SQL query against the analytics database",
    params: QueryParams,
    result: QueryResult,
    handler: runQuery,
  });

  const report = new Prompt(
    new PromptTemplate({
      ns: "analytics",
      key: "report",
      output: AnalysisResult,
      sections: [
        new MarkdownSection({
          title: "Task",
          key: "task",
          template: "Analyze sales trends using SQL queries and Python.",
          tools: [queryTool],
        }),
      ],
    }),
  );

  const search = {
    ...webSearchCall("sales growth formula", ["https://docs.example/growth"]),
    id: "ws_1",
  };
  const query = {
    ...functionCall("run_query", { sql: "SELECT total FROM sales" }, "call_1"),
    id: "fc_1",
  };
  const script = [
    [search, query],
    [
      codeInterpreterCall("print(3 / 2)", ["1.5\n"]),
      message('{"summary":"Up.","growth":1.5}', [
        urlCitation("https://docs.example/growth", "Growth", [0, 9]),
      ]),
    ],
  ];

  async function analyse() {
    const asked: string[] = [];
    const database: Database = {
      execute(sql) {
        asked.push(sql);
        return [{ total: 2 }, { total: 3 }];
      },
    };
    const shown = await run(reach, report, {
      script,
      adapter: {
        model: "gpt-5.2-codex",
        hostedTools: { codeInterpreter: true, webSearch: true },
      },
      evaluate: { resources: new ResourceRegistry().bind(databaseConnection, database) },
    });
    return { ...shown, asked };
  }

  test("User Stories > Story 3, Hybrid Tools: one request has the function, the hosted tools and the answer's form", async () => {
    const { bodies } = await analyse();
    const { input: _, ...first } = bodies[0] ?? {};
    expect(first).toEqual({
      model: "gpt-5.2-codex",
      tools: [
        {
          type: "function",
          name: "run_query",
          description: "Execute SQL query against the analytics database",
          parameters: queryTool.paramsSchema,
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

  test("User Stories > Story 3, Hybrid Tools: the function reaches its resource, and what it gave goes back beside the search", async () => {
    const { bodies, asked } = await analyse();
    expect(asked).toEqual(["SELECT total FROM sales"]);
    const rows = '{"rows":[{"total":2},{"total":3}],"rowCount":2}';
    expect(bodies[1]?.["input"]).toEqual([
      {
        type: "message",
        role: "system",
        content: "## 1. Task (task)\n\nAnalyze sales trends using SQL queries and Python.",
      },
      search,
      query,
      {
        type: "function_call_output",
        call_id: "call_1",
        output: `Query returned 2 rows\n\n${rows}`,
      },
    ]);
  });

  test("User Stories > Story 3, Hybrid Tools: the typed answer comes with what each hosted tool gave, and every call is an event", async () => {
    const { response, bus } = await analyse();
    expectTypeOf(response.output).toEqualTypeOf<{ summary: string; growth: number }>();
    expect(response.output).toEqual({ summary: "Up.", growth: 1.5 });
    expect(response.hostedOutputs.get(codeInterpreterTool())?.stdout).toBe("1.5\n");
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      sourceUrls: ["https://docs.example/growth"],
      citations: [{ type: "url", title: "Growth", span: [0, 9] }],
    });
    const calls = bus.of("ToolInvoked");
    expect(calls.map(({ name, origin }) => [name, origin?.capability])).toEqual([
      ["web_search", "web_search"],
      ["run_query", undefined],
      ["code_interpreter", "code_interpreter"],
    ]);
  });

  const limited = { status: 429, error: { message: "Slow down", code: "rate_limit_exceeded" } };

  test("Error Handling > Transparent Recovery: rate limits are waited out, longer each time", async () => {
    const told: unknown[] = [];
    const nothing = () => undefined;
    const { response, bodies } = await run(reach, task, {
      script: [limited, limited, [message("Done.")]],
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

  test("Error Handling > Transparent Recovery: a connection that breaks is tried again", async () => {
    const bus = recordingBus();
    const { response, bodies } = await run(reach, task, {
      script: [{ raw: (request) => void request.socket.destroy() }, [message("Done.")]],
      evaluate: { session: new Session({ bus }) },
    });
    expect(response.text).toBe("Done.");
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bus.of("TurnStarted")).toHaveLength(1);
  });
});
