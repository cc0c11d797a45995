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
import {
  type HostedToolCodec,
  OpenAIAdapter,
  OpenAICodeInterpreterSection,
  OpenAIFileSearchSection,
  OpenAIWebSearchSection,
  type WireTool,
} from "weakincentives/openai";
import { fakeClock, recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { clients } from "../openai-clients.ts";
import { fileCitation, fileSearchCall, functionCall, message, wireServer } from "../wire-server.ts";
import { failure, run } from "./example-run.ts";

const ContentParams = z.object({ topic: z.string() });

/** The first example's prompt, with whatever section carries the native tool. */
function researchWith(section: OpenAIFileSearchSection | OpenAIWebSearchSection) {
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

const corpus = { corpusIds: ["vs_papers"] };
const research = () => researchWith(new OpenAIFileSearchSection({ defaultParams: corpus }));

const taskMessage = {
  type: "message",
  role: "system",
  content:
    "## 2. Task (task)\n\nSummarize the latest findings about LLM safety using the file search tool if needed.",
};

const fileSearch = { type: "file_search", vector_store_ids: ["vs_papers"], max_num_results: 5 };

const hit = { file_id: "file_1", filename: "safety.md", score: 0.9, text: "Safe.", attributes: {} };
const search = { ...fileSearchCall(["LLM safety"], [hit]), id: "fs_1" };
const answer = message("All is safe.", [fileCitation("file_1", "safety.md", 12)]);

describe.each(clients)("S2 OpenAI Native Tools via Responses, on %s", (_, reach) => {
  test("Usage Examples > Building a prompt with a native tool section: it stands beside others, says nothing, and its tool is sent", async () => {
    const { response, bodies, bus } = await run(reach, research(), { script: [[search, answer]] });
    expect(bodies).toEqual([
      {
        model: "gpt-4.1",
        input: [taskMessage],
        tools: [fileSearch],
        tool_choice: "auto",
        include: ["file_search_call.results"],
      },
    ]);
    expect(response.output).toBe("All is safe.");
    expect(response.hostedOutputs.get("file_search")).toEqual({
      text: "All is safe.",
      queries: ["LLM safety"],
      results: [
        { fileId: "file_1", filename: "safety.md", score: 0.9, text: "Safe.", attributes: {} },
      ],
      citations: [{ type: "file", fileId: "file_1", filename: "safety.md", span: [12, 12] }],
    });
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "file_search", callId: "fs_1" }]);
  });

  test("Usage Examples > Building a prompt with a native tool section: a search of no store can be built, and is refused before a request", async () => {
    const { error, requests } = await failure(reach, researchWith(new OpenAIFileSearchSection()));
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "native_file_search" });
    expect(String(error)).toContain("vectorStoreIds must name a vector store");
    expect(requests).toEqual([]);
  });

  test("Usage Examples > Mixing native and function tools when calling the adapter: both are sent, called and told of", async () => {
    const echoTool = new Tool({
      name: "echo",
      description: "Echo the provided text.",
      params: z.strictObject({ text: z.string() }),
      result: z.object({ text: z.string() }),
      handler: (params) => ToolResult.ok(params),
    });
    const template = new PromptTemplate({
      ns: "research",
      key: "native-file-search",
      name: "native_file_search",
      output: z.object({ findings: z.array(z.string()) }),
      sections: [
        new OpenAIFileSearchSection({ defaultParams: corpus }),
        new MarkdownSection({
          title: "Task",
          key: "task",
          params: ContentParams,
          template: "Summarize the latest findings about ${topic}.",
          tools: [echoTool],
        }),
      ],
    });
    const echo = { ...functionCall("echo", { text: "hello" }, "call_1"), id: "fc_1" };
    await using api = await wireServer([[search, echo], [message('{"findings":["Safe."]}')]]);
    const adapter = new OpenAIAdapter({ model: "gpt-4.1", ...reach(api.url) });
    const bus = recordingBus();
    const response = await adapter.evaluate(new Prompt(template).bind({ topic: "LLM safety" }), {
      session: new Session({ bus }),
    });

    expectTypeOf(response.output).toEqualTypeOf<{ findings: string[] }>();
    expect(response.output).toEqual({ findings: ["Safe."] });
    const [first, second] = api.requests.map(({ body }) => body);
    expect(first?.["tools"]).toEqual([
      {
        type: "function",
        name: "echo",
        description: "Echo the provided text.",
        parameters: echoTool.paramsSchema,
        strict: true,
      },
      fileSearch,
    ]);
    expect(first).toMatchObject({ text: { format: { type: "json_schema" } } });
    expect(second?.["input"]).toEqual([
      {
        type: "message",
        role: "system",
        content: "## 2. Task (task)\n\nSummarize the latest findings about LLM safety.",
      },
      search,
      echo,
      { type: "function_call_output", call_id: "call_1", output: 'OK\n\n{"text":"hello"}' },
    ]);
    expect(bus.of("ToolInvoked")).toMatchObject([
      { name: "file_search", callId: "fs_1", params: { query: "LLM safety" } },
      { name: "echo", callId: "call_1", params: { text: "hello" } },
    ]);
  });

  test("Section Abstractions > Example skeleton: the file search section is as it is described", () => {
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

  test("Prompt Execution Flow: answers are waited for whole, and neither streams nor Chat Completions are asked for", async () => {
    const { requests } = await run(reach, research(), { script: [[search, answer]] });
    expect(requests.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /responses"]);
    expect(requests[0]?.body).not.toHaveProperty("stream");
    expect(requests[0]?.body).not.toHaveProperty("messages");
  });

  test("Tool Registration Flow: what the allow list names for a model can be used", async () => {
    const nativeTools = { "gpt-4.1": new Set(["file_search"]) };
    const { bodies } = await run(reach, research(), {
      script: [[answer]],
      adapter: { nativeTools },
    });
    expect(bodies[0]?.["tools"]).toEqual([fileSearch]);
  });

  test("Tool Registration Flow: what the allow list lacks is refused before a request", async () => {
    const nativeTools = { "gpt-4.1": new Set(["file_search"]) };
    const { error, requests } = await failure(reach, researchWith(new OpenAIWebSearchSection()), {
      adapter: { nativeTools },
    });
    expect(error).toBeInstanceOf(PromptEvaluationError);
    expect(error).toMatchObject({ phase: "request", promptName: "native_file_search" });
    expect(String(error)).toContain('the model "gpt-4.1"');
    expect(String(error)).toContain('not "web_search"');
    expect(requests).toEqual([]);
  });

  test("Tool Registration Flow: a section that is told the model is refused when it is made", () => {
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
    ["nothing at all", null],
  ];

  test.each(entries)(
    "Tool Registration Flow: an entry with %s is refused before a request",
    async (_with, entry) => {
      const codec: HostedToolCodec = {
        kind: "file_search",
        serialize: () => entry as WireTool,
        parseOutput: () => null,
      };
      const { error, requests } = await failure(reach, research(), {
        adapter: { hostedToolCodecs: [codec] },
      });
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).toMatchObject({ phase: "request", promptName: "native_file_search" });
      expect(String(error)).toContain("must be an entry of the provider's own");
      expect(requests).toEqual([]);
    },
  );

  const choices: readonly (readonly [ToolChoice, unknown])[] = [
    [{ type: "built_in", name: "papers" }, { type: "file_search" }],
    [{ type: "file_search" }, { type: "file_search" }],
    ["required", "required"],
    ["none", "none"],
  ];

  function papersPrompt() {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Search.",
      hostedTools: [fileSearchTool({ vectorStoreIds: ["vs_papers"] }, { name: "papers" })],
    });
    return new Prompt(new PromptTemplate({ ns: "research", key: "papers", sections: [section] }));
  }

  test.each(choices)(
    "Integration Points > tool choice: %j reaches the wire in the provider's words",
    async (toolChoice, wire) => {
      const byAdapter = { script: [[answer]], adapter: { toolChoice } };
      const byCall = { script: [[answer]], evaluate: { toolChoice } };
      for (const options of [byAdapter, byCall]) {
        const { bodies } = await run(reach, papersPrompt(), options);
        expect(bodies[0]?.["tool_choice"]).toEqual(wire);
      }
    },
  );

  test("Integration Points > tool choice: web search is forced by the name that the provider knows", async () => {
    const { bodies } = await run(reach, researchWith(new OpenAIWebSearchSection()), {
      script: [[answer]],
      evaluate: { toolChoice: { type: "built_in", name: "web_search" } },
    });
    expect(bodies[0]?.["tool_choice"]).toEqual({ type: "web_search_preview" });
  });

  const refusedChoices: readonly ToolChoice[] = [
    { type: "built_in", name: "web_search" },
    { type: "built_in" },
    { type: "function", name: "papers" },
    { type: "code_interpreter" },
    { type: "" },
  ];

  test.each(refusedChoices)(
    "Integration Points > tool choice: %j is refused before a request",
    async (toolChoice) => {
      const { error, requests } = await failure(reach, papersPrompt(), {
        evaluate: { toolChoice },
      });
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(error).toMatchObject({ phase: "request", promptName: "research:papers" });
      expect(String(error)).toContain("toolChoice");
      expect(requests).toEqual([]);
    },
  );

  test("Integration Points > OpenAIAdapter.evaluate: deadlines and errors are with native tools what they are without", async () => {
    const clock = fakeClock();
    const late = await failure(reach, research(), {
      script: async () => {
        await clock.advance(100);
        return { stall: true };
      },
      adapter: { clock },
      evaluate: { deadline: Deadline.after(50, clock) },
    });
    expect(late.error).toBeInstanceOf(DeadlineExceededError);
    const words = { message: "No such store.", code: "not_found", param: "tools[0]" };
    const refused = await failure(reach, research(), { script: [{ status: 404, error: words }] });
    expect(refused.error).toBeInstanceOf(PromptEvaluationError);
    expect(refused.error).toMatchObject({
      phase: "request",
      requestId: "req_1",
      providerPayload: { error: words },
    });
    expect(String(refused.error)).toContain("status 404: No such store");
  });

  const auto = (memoryLimit: string) => ({ type: "auto", memoryLimit });
  const filter = (domain: string) => ({ domainFilter: { allowed: [domain] } });
  const malformed = [
    ["an unknown name", "file_serach", {}, "Unsupported hosted tool kind 'file_serach'"],
    ["no stores", "file_search", {}, "vectorStoreIds must name a vector store"],
    ["another language", "code_interpreter", { allowedLanguages: ["r"] }, "allowedLanguages"],
    ["no server", "mcp", {}, "serverLabel must be"],
    [
      "a tier that is not sold",
      "code_interpreter",
      { container: auto("8g") },
      "memoryLimit must be",
    ],
    ["no container at all", "code_interpreter", { container: {} }, "must say which container"],
    ["an address for a domain", "web_search", filter("https://a.example"), "allowed[0] must be"],
    ["a slip in a name", "web_search", { domainFilters: {} }, 'did you mean "domainFilter"?'],
  ] as const;

  test.each(malformed)(
    "Integration Tests: a native tool with %s is refused before a request",
    async (_with, kind, config, said) => {
      const tool = new HostedTool({ kind, name: "odd", description: "Odd.", config });
      const section = new MarkdownSection({
        title: "Task",
        key: "task",
        template: "Do it.",
        hostedTools: [tool],
      });
      const template = new PromptTemplate({ ns: "research", key: "odd", sections: [section] });
      const { error, requests } = await failure(reach, new Prompt(template));
      expect(error).toBeInstanceOf(PromptEvaluationError);
      expect(String(error)).toContain(said);
      expect(requests).toEqual([]);
    },
  );
});
