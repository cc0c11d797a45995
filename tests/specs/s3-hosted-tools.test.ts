import { describe, expect, expectTypeOf, test } from "vitest";
import {
  HostedTool,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
  type WebSearchConfig,
  type WebSearchResult,
  WebSearchSection,
  webSearchTool,
} from "weakincentives";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { createFolder } from "../support/local/provider-fixture.ts";
import { clients } from "../support/openai-clients.ts";
import {
  type ExampleOptions,
  runExample,
  runFailure,
  startExample,
} from "../support/specs/example-run.ts";

const Answer = z.object({ answer: z.string() });

/** Creates the first example's prompt with a section that searches. */
function createLookupPrompt(section: WebSearchSection) {
  const task = new MarkdownSection({
    title: "Task",
    key: "task",
    params: z.object({ question: z.string() }),
    template: "Answer this question: $question",
  });
  const template = new PromptTemplate({
    ns: "research",
    key: "lookup",
    output: Answer,
    sections: [task, section],
  });
  return new Prompt(template).bind({ question: "How do owls turn their heads?" });
}

const neck = "https://owls.example/neck";
const birds = "https://birds.example/";
const who = "https://www.who.int/owls";

/** Three pages that the query finds, best match first. */
const pages = {
  "pages.json": JSON.stringify({ "neck.html": neck, "birds.html": birds, "who.html": who }),
  "neck.html": "<title>Owl necks</title><p>The neck of an owl has 14 vertebrae.</p>",
  "birds.html": "<title>Birds</title><p>An owl is a bird, and has a neck as all birds have.</p>",
  "who.html": `<title>Health</title><p>Whoever looks at an owl all night gets a stiff neck.</p><p>${"Sleep well. ".repeat(9)}</p>`,
};

const words = JSON.stringify({ answer: `By 14 vertebrae (${neck})` });
const span = [words.indexOf(neck), words.indexOf(neck) + neck.length] as const;

const search = { search: { web: "owl neck" } };
const cited = { say: words, citations: [{ hit: 0 }] };

/** Makes the model search that web and cite the first result. */
const createSearch = (script: ExampleOptions["script"] = [[search], [cited]]) => ({
  script,
  provider: { web: createFolder(pages) },
});

/** Returns the expected result for the id of the call. */
const createExpected = (id: string | undefined): WebSearchResult => ({
  text: words,
  citations: [{ type: "url", url: neck, title: "Owl necks", span }],
  sourceUrls: [neck, birds, who],
  searches: [
    { id: id ?? "", action: "search", queries: ["owl neck"], url: null, status: "completed" },
  ],
});

describe.each(clients)("S3 Hosted Tools, on %s", (_, reach) => {
  test("Usage Examples > Basic Web Search: the section alone sends the tool, and its output is available by name", async () => {
    const on = await startExample(reach, createSearch());
    const adapter = on.adapter({ delivery: "buffered" });
    const bus = recordingBus();
    const prompt = createLookupPrompt(new WebSearchSection());
    const response = await adapter.evaluate(prompt, { session: new Session({ bus }) });

    const { text, outputSchema } = prompt.render();
    expect(on.requests.map(({ body }) => body)).toEqual([
      {
        model: "gpt-4.1",
        input: [{ type: "message", role: "system", content: text }],
        tools: [{ type: "web_search" }],
        tool_choice: "auto",
        include: ["web_search_call.action.sources"],
        text: {
          format: {
            type: "json_schema",
            name: "research_lookup",
            schema: outputSchema,
            strict: true,
          },
        },
      },
    ]);
    expect(text).toContain("Answer this question: How do owls turn their heads?");
    expect(text).toContain("## 2. Web Search (web_search)");
    expectTypeOf(response.output).toEqualTypeOf<{ answer: string }>();
    expect(response.output).toEqual({ answer: `By 14 vertebrae (${neck})` });
    const [{ callId } = { callId: "" }] = response.hostedCalls;
    expect(callId).toMatch(/^ws_/);
    expect(response.hostedOutputs.get("web_search")).toEqual(createExpected(callId));
    expect(bus.of("ToolInvoked")).toMatchObject([
      {
        name: "web_search",
        callId,
        params: { action: "search", query: "owl neck", queries: ["owl neck"] },
        result: { success: true, message: "Searched: owl neck", value: createExpected(callId) },
        origin: { execution: "provider", provider: "openai", capability: "web_search" },
      },
    ]);
  });

  test("OpenAI Implementation > Response Structure: a caller can list the citations", async () => {
    const { response } = await runExample(
      reach,
      createLookupPrompt(new WebSearchSection()),
      createSearch(),
    );
    const webResult = response.hostedOutputs.get(webSearchTool());
    expectTypeOf(webResult).toEqualTypeOf<WebSearchResult | undefined>();
    const lines = webResult?.citations.map((citation) =>
      citation.type === "url" ? `- [${citation.title}](${citation.url})` : "",
    );
    expect(lines).toEqual([`- [Owl necks](${neck})`]);
    expect(words.slice(...(webResult?.citations[0]?.span ?? []))).toBe(neck);
  });

  test("OpenAI Implementation > Response Structure: an unused tool has no output", async () => {
    const { response, bus } = await runExample(reach, createLookupPrompt(new WebSearchSection()), {
      script: [[{ say: { answer: "I know." } }]],
    });
    expect(response.hostedOutputs.size).toBe(0);
    expect(response.hostedOutputs.get("web_search")).toBeUndefined();
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("Usage Examples > Domain-Restricted Search: the domains are sent as filters", async () => {
    const config: WebSearchConfig = {
      domainFilter: { allowed: ["pubmed.ncbi.nlm.nih.gov", "www.cdc.gov", "www.who.int"] },
    };
    const prompt = createLookupPrompt(new WebSearchSection(config));
    const script = [[search], [{ say: { answer: "Ask a doctor." }, citations: [{ hit: 0 }] }]];
    const { bodies, response } = await runExample(reach, prompt, createSearch(script));
    expect(bodies[0]?.["tools"]).toEqual([
      {
        type: "web_search",
        filters: { allowed_domains: ["pubmed.ncbi.nlm.nih.gov", "www.cdc.gov", "www.who.int"] },
      },
    ]);
    expect(response.hostedOutputs.get("web_search")).toMatchObject({
      sourceUrls: [who],
      citations: [{ type: "url", url: who, title: "Health" }],
    });
  });

  test("Usage Examples > Geo-Localized Search: the hint is sent as an approximate location", async () => {
    const config: WebSearchConfig = {
      geoHint: { countryCode: "GB", city: "London", timezone: "Europe/London" },
    };
    const prompt = createLookupPrompt(new WebSearchSection(config));
    const { bodies, response } = await runExample(reach, prompt, createSearch());
    expect(bodies[0]?.["tools"]).toEqual([
      {
        type: "web_search",
        user_location: {
          type: "approximate",
          country: "GB",
          city: "London",
          timezone: "Europe/London",
        },
      },
    ]);
    const [call] = response.hostedCalls;
    expect(response.hostedOutputs.get("web_search")).toEqual(createExpected(call?.callId));
  });

  test("Usage Examples > Inline Tool Construction: a tool with another name is sent, and its output is available by that name", async () => {
    const tool = webSearchTool({ allowLiveAccess: false }, { name: "cached_search" });
    const section = new MarkdownSection({
      title: "Research",
      key: "research",
      params: z.object({ topic: z.string() }),
      template: "Find information about $topic",
      hostedTools: [tool],
    });
    const template = new PromptTemplate({ ns: "research", key: "inline", sections: [section] });
    const prompt = new Prompt(template).bind({ topic: "owls" });
    const { bodies, response, bus } = await runExample(reach, prompt, {
      ...createSearch(),
      adapter: { delivery: "buffered" },
    });
    expect(bodies).toEqual([
      {
        model: "gpt-4.1",
        input: [
          {
            type: "message",
            role: "system",
            content: "## 1. Research (research)\n\nFind information about owls",
          },
        ],
        tools: [{ type: "web_search", external_web_access: false }],
        tool_choice: "auto",
        include: ["web_search_call.action.sources"],
      },
    ]);
    const [call] = response.hostedCalls;
    expect(response.hostedOutputs.get(tool)).toEqual(createExpected(call?.callId));
    expect([...response.hostedOutputs.keys()]).toEqual(["cached_search"]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "cached_search", callId: call?.callId }]);
  });

  /** The config, the wire format, and the expected results. */
  const mappings: readonly (readonly [WebSearchConfig, object, readonly string[]])[] = [
    [{}, {}, [neck, birds, who]],
    [{ domainFilter: {} }, {}, [neck, birds, who]],
    [{ domainFilter: { allowed: [], blocked: [] } }, {}, [neck, birds, who]],
    [
      { domainFilter: { blocked: ["birds.example"] } },
      { filters: { blocked_domains: ["birds.example"] } },
      [neck, who],
    ],
    [
      { domainFilter: { allowed: ["who.int", "owls.example"], blocked: ["www.who.int"] } },
      {
        filters: {
          allowed_domains: ["who.int", "owls.example"],
          blocked_domains: ["www.who.int"],
        },
      },
      [neck],
    ],
    [{ geoHint: {} }, { user_location: { type: "approximate" } }, [neck, birds, who]],
    [
      { geoHint: { region: "Bavaria" } },
      { user_location: { type: "approximate", region: "Bavaria" } },
      [neck, birds, who],
    ],
    [{ allowLiveAccess: true }, {}, [neck, birds, who]],
    [{ allowLiveAccess: false }, { external_web_access: false }, [neck, birds, who]],
  ];

  test.each(mappings)(
    "OpenAI Implementation > Wire Format Mapping: %j is sent as exactly %j",
    async (config, wire, sourceUrls) => {
      const prompt = createLookupPrompt(new WebSearchSection(config));
      const { bodies, response } = await runExample(reach, prompt, createSearch());
      expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search", ...wire }]);
      expect(response.hostedOutputs.get("web_search")).toMatchObject({ sourceUrls });
    },
  );

  test("Adapter Integration > Output Parsing Flow: several searches and messages become one output, with spans of the whole text", async () => {
    const script = [
      [
        search,
        { say: '{"answer":' },
        { search: { open: birds } },
        { say: '"Yes."}', citations: [{ hit: 0, at: [1, 5] }] },
      ],
    ] as const;
    const prompt = createLookupPrompt(new WebSearchSection());
    const { response } = await runExample(reach, prompt, createSearch(script));
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      text: '{"answer":"Yes."}',
      citations: [{ url: birds, title: "Birds", span: [11, 15] }],
      searches: [
        { action: "search", queries: ["owl neck"] },
        { action: "open_page", url: birds },
      ],
    });
  });

  test("Adapter Integration > Output Parsing Flow: searches of several turns, with tool calls between them, become one output", async () => {
    const note = new Tool({
      name: "note",
      description: "Takes a note.",
      params: null,
      handler: () => ToolResult.ok(null, "Noted."),
    });
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Search, and take notes.",
      tools: [note],
      hostedTools: [webSearchTool()],
    });
    const template = new PromptTemplate({ ns: "research", key: "notes", sections: [section] });
    const noting = { call: { name: "note", args: {} } };
    const answer = `Yes (${birds})`;
    const script = [
      [search],
      [{ say: `By 14 vertebrae (${neck})`, citations: [{ hit: 0 }] }, noting],
      [{ search: { open: who } }, noting],
      [{ search: { open: birds } }],
      [{ say: answer, citations: [{ hit: 0 }] }],
    ] as const;
    const { response, bodies } = await runExample(
      reach,
      new Prompt(template),
      createSearch(script),
    );
    expect(bodies).toHaveLength(3);
    const ids = response.hostedCalls.map(({ callId }) => callId);
    expect(new Set(ids).size).toBe(3);
    expect(response.hostedOutputs.get(webSearchTool())).toEqual({
      text: answer,
      citations: [
        { type: "url", url: neck, title: "Owl necks", span: null },
        { type: "url", url: birds, title: "Birds", span: [5, 5 + birds.length] },
      ],
      sourceUrls: [neck, birds, who],
      searches: [
        { id: ids[0], action: "search", queries: ["owl neck"], url: null, status: "completed" },
        { id: ids[1], action: "open_page", queries: [], url: who, status: "completed" },
        { id: ids[2], action: "open_page", queries: [], url: birds, status: "completed" },
      ],
    });
  });

  test("Core Abstractions > HostedTool: two tools with the same kind are rejected, because their outputs would be ambiguous", async () => {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Search.",
      hostedTools: [webSearchTool(), webSearchTool({}, { name: "cached_search" })],
    });
    const template = new PromptTemplate({ ns: "research", key: "two", sections: [section] });
    const { error, requests } = await runFailure(reach, new Prompt(template));
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "render" });
    expect(String(error)).toContain("cached_search");
    expect(requests).toEqual([]);
  });

  test("Error Handling > Unsupported Kind: an unsupported kind is rejected in phase render, with the kind, the adapter and the prompt", async () => {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Tell the weather.",
      hostedTools: [
        new HostedTool({ kind: "weather", name: "weather", description: "Tells it.", config: {} }),
      ],
    });
    const template = new PromptTemplate({ ns: "research", key: "sky", sections: [section] });
    const { error, requests } = await runFailure(reach, new Prompt(template));
    if (!(error instanceof PromptEvaluationError)) throw error;
    expect(error).toMatchObject({ phase: "render", promptName: "research:sky" });
    expect(error.message).toContain("Unsupported hosted tool kind 'weather' for openai adapter");
    expect(requests).toEqual([]);
  });

  test("Error Handling > Provider Errors: a failed search is in the output, and the rest is returned as usual", async () => {
    const inVain = { search: { open: "https://owls.example/gone" } };
    const prompt = createLookupPrompt(new WebSearchSection());
    const { response, bus } = await runExample(
      reach,
      prompt,
      createSearch([[inVain], [search], [cited]]),
    );
    const [failed, done] = response.hostedCalls.map(({ callId }) => callId);
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      citations: createExpected(done).citations,
      searches: [
        { id: failed, status: "failed" },
        { id: done, status: "completed" },
      ],
    });
    const results = bus.of("ToolInvoked").map(({ callId, result }) => [callId, result.success]);
    expect(results).toEqual([
      [failed, false],
      [done, true],
    ]);
  });
});
