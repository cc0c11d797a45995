// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a template is text with such placeholders

import { describe, expect, expectTypeOf, test } from "vitest";
import {
  Deadline,
  DeadlineExceededError,
  fileSearchTool,
  HostedTool,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  PromptValidationError,
  Session,
  Tool,
  type ToolChoice,
  ToolResult,
} from "weakincentives";
import type { ModelAction, ModelRequest } from "weakincentives/local";
import {
  type HostedToolCodec,
  OpenAICodeInterpreterSection,
  OpenAIFileSearchSection,
  OpenAIWebSearchSection,
  type WireTool,
} from "weakincentives/openai";
import { fakeClock, recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { readRecord, readString } from "../../src/base/json.ts";
import { createFolder } from "../support/local/provider-fixture.ts";
import { clients } from "../support/openai-clients.ts";
import {
  type Example,
  type ExampleOptions,
  type Reach,
  runFailure,
  startExample,
} from "../support/specs/example-run.ts";
import { readPassage } from "../support/specs/model-reads.ts";

const ContentParams = z.object({ topic: z.string() });

/** Creates the first example's prompt, with the section that has the native tool. */
function createResearchPrompt(section: OpenAIFileSearchSection | OpenAIWebSearchSection) {
  const task = new MarkdownSection({
    title: "Task",
    key: "task",
    params: ContentParams,
    template: "Summarize the latest findings about ${topic} using the file search tool if needed.",
  });
  const template = new PromptTemplate({
    ns: "research",
    key: "native-file-search",
    name: "native_file_search",
    sections: [section, task],
  });
  return new Prompt(template).bind({ topic: "LLM safety" });
}

const research = (store = "vs_papers") =>
  createResearchPrompt(new OpenAIFileSearchSection({ defaultParams: { corpusIds: [store] } }));

const taskMessage = {
  type: "message",
  role: "system",
  content:
    "## 2. Task (task)\n\nSummarize the latest findings about LLM safety using the file search tool if needed.",
};

const fileSearch = (store: string) => ({
  type: "file_search",
  vector_store_ids: [store],
  max_num_results: 5,
});

const finding = "LLM safety improved: all models are safe.";

/** Searches, and answers with a citation of the result. */
function respondAsResearcher(request: ModelRequest): readonly ModelAction[] {
  const found = readPassage(request);
  return found === null
    ? [{ search: { file: "LLM safety" } }]
    : [{ say: found, citations: [{ hit: 0 }] }];
}

/** Starts a provider with a vector store of one paper. */
async function startLibrary(
  reach: Reach,
  script: ExampleOptions["script"] = respondAsResearcher,
): Promise<{ readonly on: Example; readonly store: string; readonly paper: string }> {
  const on = await startExample(reach, { script });
  const { id, fileIds } = await on.store({ "safety.md": finding });
  return { on, store: id, paper: fileIds[0] ?? "" };
}

describe.each(clients)("S2 OpenAI Native Tools via Responses, on %s", (_, reach) => {
  test("Usage Examples > Building a prompt with a native tool section: the section adds no text next to others, and its tool is sent", async () => {
    const { on, store, paper } = await startLibrary(reach);
    const adapter = { delivery: "buffered" } as const;
    const { response, bodies, bus } = await on.run(research(store), { adapter });
    expect(bodies).toEqual([
      {
        model: "gpt-4.1",
        input: [taskMessage],
        tools: [fileSearch(store)],
        tool_choice: "auto",
        include: ["file_search_call.results"],
      },
    ]);
    expect(response.output).toBe(finding);
    const at = finding.length;
    expect(response.hostedOutputs.get("file_search")).toEqual({
      text: finding,
      queries: ["LLM safety"],
      results: [
        {
          fileId: paper,
          filename: "safety.md",
          score: expect.any(Number),
          text: finding,
          attributes: {},
        },
      ],
      citations: [{ type: "file", fileId: paper, filename: "safety.md", span: [at, at] }],
    });
    const [call] = response.hostedCalls;
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "file_search", callId: call?.callId }]);
  });

  test("Usage Examples > Building a prompt with a native tool section: a search without stores can be built, and is rejected before any request", async () => {
    const { error, requests } = await runFailure(
      reach,
      createResearchPrompt(new OpenAIFileSearchSection()),
    );
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "native_file_search" });
    expect(String(error)).toContain("vectorStoreIds must contain at least one vector store id");
    expect(requests).toEqual([]);
  });

  test("Usage Examples > Mixing native and function tools when calling the adapter: both are sent, called and published", async () => {
    const echoTool = new Tool({
      name: "echo",
      description: "Echo the provided text.",
      params: z.strictObject({ text: z.string() }),
      result: z.object({ text: z.string() }),
      handler: (params) => ToolResult.ok(params),
    });
    const { on, store, paper } = await startLibrary(reach, [
      [{ search: { file: "LLM safety" } }, { call: { name: "echo", args: { text: "hello" } } }],
      [{ say: { findings: [finding] } }],
    ]);
    const template = new PromptTemplate({
      ns: "research",
      key: "native-file-search",
      name: "native_file_search",
      output: z.object({ findings: z.array(z.string()) }),
      sections: [
        new OpenAIFileSearchSection({ defaultParams: { corpusIds: [store] } }),
        new MarkdownSection({
          title: "Task",
          key: "task",
          params: ContentParams,
          template: "Summarize the latest findings about ${topic}.",
          tools: [echoTool],
        }),
      ],
    });
    const adapter = on.adapter();
    const bus = recordingBus();
    const response = await adapter.evaluate(new Prompt(template).bind({ topic: "LLM safety" }), {
      session: new Session({ bus }),
    });

    expectTypeOf(response.output).toEqualTypeOf<{ findings: string[] }>();
    expect(response.output).toEqual({ findings: [finding] });
    const [first, second] = on.requests.map(({ body }) => body);
    expect(first?.["tools"]).toEqual([
      {
        type: "function",
        name: "echo",
        description: "Echo the provided text.",
        parameters: echoTool.paramsSchema,
        strict: true,
      },
      fileSearch(store),
    ]);
    expect(first).toMatchObject({ text: { format: { type: "json_schema" } } });
    const [search, echo] = bus.of("ToolInvoked").map(({ callId }) => callId);
    expect(second?.["input"]).toMatchObject([
      {
        type: "message",
        role: "system",
        content: "## 2. Task (task)\n\nSummarize the latest findings about LLM safety.",
      },
      { type: "file_search_call", id: search, results: [{ file_id: paper, text: finding }] },
      { type: "function_call", call_id: echo, arguments: '{"text":"hello"}' },
      { type: "function_call_output", call_id: echo, output: 'OK\n\n{"text":"hello"}' },
    ]);
    expect(bus.of("ToolInvoked")).toMatchObject([
      { name: "file_search", params: { query: "LLM safety" } },
      { name: "echo", params: { text: "hello" } },
    ]);
  });

  test("Section Abstractions > Example skeleton: the file search section matches its description", () => {
    const section = new OpenAIFileSearchSection();
    expect(section).toMatchObject({
      title: "File search",
      key: "openai_file_search",
      defaultParams: { corpusIds: [], maxResults: 5 },
      acceptsOverrides: false,
    });
    expect(section.tools()).toEqual([]);
    expect(section.render()).toBe("");
    expect(section.hostedTools()).toMatchObject([{ kind: "file_search", name: "file_search" }]);
    const clone = section.clone({ defaultParams: { corpusIds: ["vs_papers"], maxResults: 9 } });
    expect(clone.defaultParams).toEqual({ corpusIds: ["vs_papers"], maxResults: 9 });
  });

  test("Prompt Execution Flow: answers are received as a whole, without streams or Chat Completions", async () => {
    const { on, store } = await startLibrary(reach);
    const adapter = { delivery: "buffered" } as const; // decision 69 streams by default
    const { requests } = await on.run(research(store), { adapter });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /responses"]);
    expect(requests[0]?.body).not.toHaveProperty("stream");
    expect(requests[0]?.body).not.toHaveProperty("messages");
  });

  test("Tool Registration Flow: a tool in the model's allow list can be used", async () => {
    const nativeTools = { "gpt-4.1": new Set(["file_search"]) };
    const { on, store } = await startLibrary(reach);
    const { bodies, response } = await on.run(research(store), { adapter: { nativeTools } });
    expect(bodies[0]?.["tools"]).toEqual([fileSearch(store)]);
    expect(response.text).toBe(finding);
  });

  test("Tool Registration Flow: a tool that is not in the allow list is rejected before any request", async () => {
    const nativeTools = { "gpt-4.1": new Set(["file_search"]) };
    const { error, requests } = await runFailure(
      reach,
      createResearchPrompt(new OpenAIWebSearchSection()),
      {
        adapter: { nativeTools },
      },
    );
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "native_file_search" });
    expect(String(error)).toContain('the model "gpt-4.1"');
    expect(String(error)).toContain('not "web_search"');
    expect(requests).toEqual([]);
  });

  test("Tool Registration Flow: a section with the model's name is rejected at construction", () => {
    const nativeTools = { "gpt-4.1": ["file_search"] };
    const known = { model: "gpt-4.1", nativeTools };
    expect(() => new OpenAIFileSearchSection(known)).not.toThrow();
    expect(() => new OpenAICodeInterpreterSection(known)).toThrow(PromptValidationError);
  });

  const entries: readonly (readonly [string, unknown])[] = [
    ["parameters", { type: "file_search", parameters: {} }],
    ["strict", { type: "file_search", strict: true }],
    ["the neutral type", { type: "built_in", name: "file_search" }],
    ["the type of functions", { type: "function", name: "file_search" }],
    ["no type", { name: "file_search" }],
    ["no value", null],
  ];

  test.each(entries)(
    "Tool Registration Flow: an entry with %s is rejected before any request",
    async (_with, entry) => {
      const codec: HostedToolCodec = {
        kind: "file_search",
        serialize: () => entry as WireTool,
        parseOutput: () => null,
      };
      const { error, requests } = await runFailure(reach, research(), {
        adapter: { hostedToolCodecs: [codec] },
      });
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).toMatchObject({ phase: "request", promptName: "native_file_search" });
      expect(String(error)).toContain("must be a hosted tool of the provider");
      expect(requests).toEqual([]);
    },
  );

  const choices: readonly (readonly [ToolChoice, unknown])[] = [
    [{ type: "built_in", name: "papers" }, { type: "file_search" }],
    [{ type: "file_search" }, { type: "file_search" }],
    ["required", "required"],
    ["none", "none"],
  ];

  function createPapersPrompt(store = "vs_papers") {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Search.",
      hostedTools: [fileSearchTool({ vectorStoreIds: [store] }, { name: "papers" })],
    });
    return new Prompt(new PromptTemplate({ ns: "research", key: "papers", sections: [section] }));
  }

  test.each(choices)(
    "Integration Points > tool choice: %j is sent in the provider's format",
    async (toolChoice, wire) => {
      const saying = [[{ say: "All is safe." }], [{ say: "All is safe." }]];
      const { on, store } = await startLibrary(
        reach,
        wire === "none" ? saying : respondAsResearcher,
      );
      for (const options of [{ adapter: { toolChoice } }, { evaluate: { toolChoice } }]) {
        const { bodies, response } = await on.run(createPapersPrompt(store), options);
        expect(bodies[0]?.["tool_choice"]).toEqual(wire);
        expect(response.hostedOutputs.size).toBe(wire === "none" ? 0 : 1);
      }
    },
  );

  test("Integration Points > tool choice: web search is forced by the provider's name for it", async () => {
    const page = "<title>Safety</title><p>LLM safety improved.</p>";
    const on = await startExample(reach, {
      script: [[{ search: { web: "LLM safety" } }], [{ say: "All is safe." }]],
      provider: { web: createFolder({ "safety.html": page }) },
    });
    const { bodies, response } = await on.run(createResearchPrompt(new OpenAIWebSearchSection()), {
      evaluate: { toolChoice: { type: "built_in", name: "web_search" } },
    });
    expect(bodies[0]?.["tool_choice"]).toEqual({ type: "web_search_preview" });
    expect(response.hostedCalls).toMatchObject([{ name: "web_search", success: true }]);
  });

  const refusedChoices: readonly ToolChoice[] = [
    { type: "built_in", name: "web_search" },
    { type: "built_in" },
    { type: "function", name: "papers" },
    { type: "code_interpreter" },
    { type: "" },
  ];

  test.each(refusedChoices)(
    "Integration Points > tool choice: %j is rejected before any request",
    async (toolChoice) => {
      const { error, requests } = await runFailure(reach, createPapersPrompt(), {
        evaluate: { toolChoice },
      });
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).toMatchObject({ phase: "request", promptName: "research:papers" });
      expect(String(error)).toContain("toolChoice");
      expect(requests).toEqual([]);
    },
  );

  test("Integration Points > OpenAIAdapter.evaluate: deadlines and errors work the same with native tools", async () => {
    const clock = fakeClock();
    const late = await runFailure(reach, research(), {
      script: async () => {
        await clock.advance(100);
        return [{ stall: 600_000 }];
      },
      adapter: { clock },
      evaluate: { deadline: Deadline.after(50, clock) },
    });
    expect(late.error).toBeInstanceOf(DeadlineExceededError);
    const { on } = await startLibrary(reach, [[{ search: { file: "LLM safety" } }]]);
    const adapter = { delivery: "buffered" } as const;
    const { error } = await on.failure(research("vs_gone"), { adapter });
    if (!(error instanceof PromptEvaluationError)) throw error;
    expect(error).toMatchObject({ phase: "request", requestId: expect.stringMatching(/^req_/) });
    const { body } = await on.ask("GET /vector_stores/vs_gone");
    expect(error.providerPayload).toMatchObject({ error: readRecord(body, "error") });
    const words = readString(readRecord(body, "error"), "message");
    expect(error.message).toContain(`status 404: ${words.slice(0, -1)}`);
  });

  const auto = (memoryLimit: string) => ({ type: "auto", memoryLimit });
  const filter = (domain: string) => ({ domainFilter: { allowed: [domain] } });
  const malformed = [
    ["an unknown name", "file_serach", {}, "Unsupported hosted tool kind 'file_serach'"],
    ["no stores", "file_search", {}, "vectorStoreIds must contain at least one vector store id"],
    ["another language", "code_interpreter", { allowedLanguages: ["r"] }, "allowedLanguages"],
    ["no server", "mcp", {}, "serverLabel must start with a letter"],
    ["an unavailable tier", "code_interpreter", { container: auto("8g") }, "memoryLimit must be"],
    ["no container", "code_interpreter", { container: {} }, 'must have a "type" or an "id"'],
    ["a URL as a domain", "web_search", filter("https://a.example"), "allowed[0] must be"],
    ["a misspelled name", "web_search", { domainFilters: {} }, 'Did you mean "domainFilter"?'],
  ] as const;

  test.each(malformed)(
    "Integration Tests: a native tool with %s is rejected before any request",
    async (_with, kind, config, said) => {
      const tool = new HostedTool({ kind, name: "odd", description: "Odd.", config });
      const section = new MarkdownSection({
        title: "Task",
        key: "task",
        template: "Do it.",
        hostedTools: [tool],
      });
      const template = new PromptTemplate({ ns: "research", key: "odd", sections: [section] });
      const { error, requests } = await runFailure(reach, new Prompt(template));
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(String(error)).toContain(said);
      expect(requests).toEqual([]);
    },
  );
});
