import { describe, expect, expectTypeOf, test } from "vitest";
import {
  HostedTool,
  MarkdownSection,
  Prompt,
  PromptEvaluationError,
  PromptTemplate,
  Session,
  type WebSearchConfig,
  type WebSearchResult,
  WebSearchSection,
  webSearchTool,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import * as z from "zod";
import { clients } from "../openai-clients.ts";
import { message, urlCitation, webSearchCall, wireServer } from "../wire-server.ts";
import { failure, run } from "./example-run.ts";

const Answer = z.object({ answer: z.string() });

/** The first example's prompt, with whatever section searches. */
function lookupWith(section: WebSearchSection) {
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

const words = '{"answer":"By 14 vertebrae (owls.example)"}';
const search = {
  ...webSearchCall("owl neck", ["https://owls.example/neck", "https://birds.example"]),
  id: "ws_1",
};
const cited = message(words, [urlCitation("https://owls.example/neck", "Owl necks", [27, 41])]);
const script = [[search, cited]];

const found: WebSearchResult = {
  text: words,
  citations: [
    { type: "url", url: "https://owls.example/neck", title: "Owl necks", span: [27, 41] },
  ],
  sourceUrls: ["https://owls.example/neck", "https://birds.example"],
  searches: [
    { id: "ws_1", action: "search", queries: ["owl neck"], url: null, status: "completed" },
  ],
};

describe.each(clients)("S3 Hosted Tools, on %s", (_, reach) => {
  test("Usage Examples > Basic Web Search: the section alone puts the tool on the wire, and its output comes back by name", async () => {
    await using api = await wireServer(script);
    const adapter = new OpenAIAdapter({ model: "gpt-4.1", ...reach(api.url) });
    const bus = recordingBus();
    const prompt = lookupWith(new WebSearchSection());
    const response = await adapter.evaluate(prompt, { session: new Session({ bus }) });

    const { text, outputSchema } = prompt.render();
    expect(api.requests.map(({ body }) => body)).toEqual([
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
    expect(response.output).toEqual({ answer: "By 14 vertebrae (owls.example)" });
    expect(response.hostedOutputs.get("web_search")).toEqual(found);
    expect(bus.of("ToolInvoked")).toMatchObject([
      {
        name: "web_search",
        callId: "ws_1",
        params: { action: "search", query: "owl neck", queries: ["owl neck"] },
        result: { success: true, message: "Searched: owl neck", value: found },
        origin: { execution: "provider", provider: "openai", capability: "web_search" },
      },
    ]);
  });

  test("OpenAI Implementation > Response Structure: a caller lists what was cited", async () => {
    const { response } = await run(reach, lookupWith(new WebSearchSection()), { script });
    const webResult = response.hostedOutputs.get(webSearchTool());
    expectTypeOf(webResult).toEqualTypeOf<WebSearchResult | undefined>();
    const lines = webResult?.citations.map((citation) =>
      citation.type === "url" ? `- [${citation.title}](${citation.url})` : "",
    );
    expect(lines).toEqual(["- [Owl necks](https://owls.example/neck)"]);
    expect(words.slice(27, 41)).toBe("(owls.example)");
  });

  test("OpenAI Implementation > Response Structure: a tool that was not used has no output", async () => {
    const { response, bus } = await run(reach, lookupWith(new WebSearchSection()), {
      script: [[message('{"answer":"I know."}')]],
    });
    expect(response.hostedOutputs.size).toBe(0);
    expect(response.hostedOutputs.get("web_search")).toBeUndefined();
    expect(bus.of("ToolInvoked")).toEqual([]);
  });

  test("Usage Examples > Domain-Restricted Search: the domains go as filters", async () => {
    const config: WebSearchConfig = {
      domainFilter: { allowed: ["pubmed.ncbi.nlm.nih.gov", "www.cdc.gov", "www.who.int"] },
    };
    const { bodies, response } = await run(reach, lookupWith(new WebSearchSection(config)), {
      script,
    });
    expect(bodies[0]?.["tools"]).toEqual([
      {
        type: "web_search",
        filters: { allowed_domains: ["pubmed.ncbi.nlm.nih.gov", "www.cdc.gov", "www.who.int"] },
      },
    ]);
    expect(response.hostedOutputs.get("web_search")).toEqual(found);
  });

  test("Usage Examples > Geo-Localized Search: the hint goes as an approximate location", async () => {
    const config: WebSearchConfig = {
      geoHint: { countryCode: "GB", city: "London", timezone: "Europe/London" },
    };
    const { bodies, response } = await run(reach, lookupWith(new WebSearchSection(config)), {
      script,
    });
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
    expect(response.hostedOutputs.get("web_search")).toEqual(found);
  });

  test("Usage Examples > Inline Tool Construction: a tool of another name is sent, and its output comes back under that name", async () => {
    const tool = webSearchTool({ allowLiveAccess: false }, { name: "cached_search" });
    const section = new MarkdownSection({
      title: "Research",
      key: "research",
      params: z.object({ topic: z.string() }),
      template: "Find information about $topic",
      hostedTools: [tool],
    });
    const template = new PromptTemplate({ ns: "research", key: "inline", sections: [section] });
    const { bodies, response, bus } = await run(
      reach,
      new Prompt(template).bind({ topic: "owls" }),
      { script },
    );
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
    expect(response.hostedOutputs.get(tool)).toEqual(found);
    expect([...response.hostedOutputs.keys()]).toEqual(["cached_search"]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "cached_search", callId: "ws_1" }]);
  });

  const mappings: readonly (readonly [WebSearchConfig, object])[] = [
    [{}, {}],
    [{ domainFilter: {} }, {}],
    [{ domainFilter: { allowed: [], blocked: [] } }, {}],
    [
      { domainFilter: { blocked: ["spam.example"] } },
      { filters: { blocked_domains: ["spam.example"] } },
    ],
    [
      { domainFilter: { allowed: ["cdc.gov"], blocked: ["old.cdc.gov"] } },
      { filters: { allowed_domains: ["cdc.gov"], blocked_domains: ["old.cdc.gov"] } },
    ],
    [{ geoHint: {} }, { user_location: { type: "approximate" } }],
    [
      { geoHint: { region: "Bavaria" } },
      { user_location: { type: "approximate", region: "Bavaria" } },
    ],
    [{ allowLiveAccess: true }, {}],
    [{ allowLiveAccess: false }, { external_web_access: false }],
  ];

  test.each(mappings)(
    "OpenAI Implementation > Wire Format Mapping: %j is sent as %j, and nothing else",
    async (config, wire) => {
      const { bodies } = await run(reach, lookupWith(new WebSearchSection(config)), { script });
      expect(bodies[0]?.["tools"]).toEqual([{ type: "web_search", ...wire }]);
    },
  );

  test("Adapter Integration > Output Parsing Flow: several searches and messages make one output, spans counted through", async () => {
    const opened = {
      type: "web_search_call",
      id: "ws_2",
      status: "completed",
      action: { type: "open_page", url: "https://birds.example" },
    };
    const output = [search, message('{"answer":'), opened, message('"Yes."}', [birds(1, 5)])];
    const { response } = await run(reach, lookupWith(new WebSearchSection()), { script: [output] });
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      text: '{"answer":"Yes."}',
      citations: [{ url: "https://birds.example", span: [11, 15] }],
      searches: [
        { id: "ws_1", action: "search" },
        { id: "ws_2", action: "open_page", url: "https://birds.example" },
      ],
    });
  });

  function birds(start: number, end: number) {
    return urlCitation("https://birds.example", "Birds", [start, end]);
  }

  test("Core Abstractions > HostedTool: two tools of one kind are refused, for what comes back would not say whose it is", async () => {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Search.",
      hostedTools: [webSearchTool(), webSearchTool({}, { name: "cached_search" })],
    });
    const template = new PromptTemplate({ ns: "research", key: "two", sections: [section] });
    const { error, requests } = await failure(reach, new Prompt(template));
    expect(error).toMatchObject({ name: "PromptEvaluationError", phase: "render" });
    expect(String(error)).toContain("cached_search");
    expect(requests).toEqual([]);
  });

  test("Error Handling > Unsupported Kind: it is refused in phase render, with the kind, the adapter and the prompt", async () => {
    const section = new MarkdownSection({
      title: "Task",
      key: "task",
      template: "Tell the weather.",
      hostedTools: [
        new HostedTool({ kind: "weather", name: "weather", description: "Tells it.", config: {} }),
      ],
    });
    const template = new PromptTemplate({ ns: "research", key: "sky", sections: [section] });
    const { error, requests } = await failure(reach, new Prompt(template));
    if (!(error instanceof PromptEvaluationError)) throw error;
    expect(error).toMatchObject({ phase: "render", promptName: "research:sky" });
    expect(error.message).toContain("Unsupported hosted tool kind 'weather' for openai adapter");
    expect(requests).toEqual([]);
  });

  test("Error Handling > Provider Errors: a search that failed is in the output, and the rest comes back all the same", async () => {
    const failed = { ...webSearchCall("owl neck"), id: "ws_0", status: "failed" };
    const { response, bus } = await run(reach, lookupWith(new WebSearchSection()), {
      script: [[failed, search, cited]],
    });
    expect(response.hostedOutputs.get(webSearchTool())).toMatchObject({
      citations: found.citations,
      searches: [
        { id: "ws_0", status: "failed" },
        { id: "ws_1", status: "completed" },
      ],
    });
    const results = bus.of("ToolInvoked").map(({ callId, result }) => [callId, result.success]);
    expect(results).toEqual([
      ["ws_0", false],
      ["ws_1", true],
    ]);
  });
});
