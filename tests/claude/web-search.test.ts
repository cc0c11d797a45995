import { describe, expect, test } from "vitest";
import {
  HostedTool,
  MarkdownSection,
  NativeTool,
  Prompt,
  PromptTemplate,
  ToolResult,
  type WebSearchResult,
  webSearchTool,
} from "weakincentives";
import { z } from "zod";
import { readRecords } from "../../src/base/json.ts";
import {
  createLocalFixture,
  createPrompt,
  createServerFixture,
} from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const night = "https://owls.example/night";
const answer = `Owls hunt at night ([Night](${night})).`;

/** Creates a folder with two pages about owls. The second page is on a blocked domain. */
function createPages(): string {
  return temporaryTree({
    "pages.json": JSON.stringify({ "a.md": night, "b.md": "https://rumors.example/owls" }),
    "a.md": "# Night\nOwls hunt at night.",
    "b.md": "# Rumors\nOwls are said to hunt at noon.",
  });
}

describe.skipIf(sdkMissing)("A web search on the real SDK", () => {
  test(
    "applies its domain filter, and returns typed output, citations with spans, and usage",
    async () => {
      const fixture = await createLocalFixture(
        [[{ search: { web: "owls hunt" } }, { say: answer }]],
        {
          web: createPages(),
        },
      );
      const tool = webSearchTool({ domainFilter: { allowed: ["owls.example"] } });
      const response = await fixture.run(createPrompt({ hostedTools: [tool] }));
      expect(response.text).toBe(answer);
      const [main, side, last] = fixture.requests.map(({ body }) => body);
      expect(fixture.requests).toHaveLength(3);
      expect(readRecords(side ?? {}, "tools")).toMatchObject([
        { name: "web_search", allowed_domains: ["owls.example"] },
      ]);
      expect(readRecords(main ?? {}, "tools")).toMatchObject([{ name: "WebSearch" }]);
      expect(readRecords(last ?? {}, "tools")).toEqual(readRecords(main ?? {}, "tools"));
      const cited = { type: "url", url: night, title: "Night" };
      const span = [answer.indexOf("["), answer.indexOf(")") + 1];
      const output = response.hostedOutputs.get(tool);
      expect(output).toMatchObject({
        text: answer,
        sourceUrls: [night],
        citations: [{ ...cited, span }],
        searches: [{ action: "search", queries: ["owls hunt"], status: "completed" }],
      });
      expect(response.citations).toEqual(output?.citations);
      expect(fixture.bus.of("ToolInvoked")).toMatchObject([
        {
          name: "web_search",
          result: { success: true },
          durationMs: null,
          origin: { execution: "provider", provider: "claude", capability: "web_search" },
        },
      ]);
      const inputTokens = fixture.bus.of("TurnCompleted").map(({ usage }) => usage.inputTokens);
      expect(inputTokens).toHaveLength(2);
      expect(response.usage.inputTokens).toBe(inputTokens.reduce((sum, one) => sum + one, 0));
      expect(response.costUsd).toBeGreaterThan(0);
    },
    SDK_TIMEOUT,
  );

  test(
    "returns spans that refer to the text of a structured answer",
    async () => {
      const facts = `Owls hunt at night ([Night](${night})).`;
      const fixture = await createLocalFixture(
        [[{ search: { web: "owls hunt" } }, { say: { facts } }]],
        { web: createPages() },
      );
      const task = new MarkdownSection({
        key: "task",
        title: "Task",
        template: "Go.",
        hostedTools: [webSearchTool()],
      });
      const output = z.object({ facts: z.string() });
      const template = new PromptTemplate({ ns: "test", key: "facts", sections: [task], output });
      const response = await fixture.run(new Prompt(template));
      const [citation] = response.citations;
      expect(response.output).toEqual({ facts });
      expect(JSON.parse(response.text)).toEqual({ facts });
      expect(response.text.slice(...(citation?.span ?? []))).toBe(`[Night](${night})`);
      expect(fixture.bus.of("PromptExecuted")[0]?.text).toBe(response.text);
      expect(fixture.bus.of("TurnCompleted").at(-1)?.text).toBe(response.text);
    },
    SDK_TIMEOUT,
  );

  test(
    "excludes blocked domains, and rejects or drops geoHint",
    async () => {
      const fixture = await createLocalFixture(
        [[{ search: { web: "owls hunt" } }, { say: answer }]],
        {
          web: createPages(),
        },
      );
      const tool = webSearchTool({
        domainFilter: { blocked: ["rumors.example"] },
        geoHint: { city: "Paris" },
      });
      const prompt = createPrompt({ hostedTools: [tool] });
      const error = await fixture.runToError(prompt);
      expect(error.message).toBe(
        'Hosted tool "web_search" config.geoHint must be omitted on Claude, whose search has no ' +
          'location setting, got {"city":"Paris"}. Name the place in the prompt, or set ' +
          'unsupportedHostedTools: "omit" to drop the setting.',
      );
      expect(fixture.requests).toEqual([]);
      const response = await fixture.run(prompt, { adapter: { unsupportedHostedTools: "omit" } });
      expect(response.hostedOutputs.get(tool)?.sourceUrls).toEqual([night]);
      expect(readRecords(fixture.requests[1]?.body ?? {}, "tools")).toMatchObject([
        { blocked_domains: ["rumors.example"] },
      ]);
      expect(fixture.logLines.filter((line) => line.startsWith("warn"))).toEqual([
        expect.stringContaining("hosted tool setting dropped"),
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "returns every search if a hook returns a copy, and for a native tool",
    async () => {
      const script = [
        [{ search: { web: "owls hunt" } }, { search: { web: "owls night" } }, { say: answer }],
      ];
      const search = new HostedTool<object, WebSearchResult>({
        kind: "web_search",
        name: "search",
        description: "Searches the web.",
        config: {},
        handleProviderOutput: (output) => ToolResult.ok({ ...output }),
      });
      const native = new NativeTool({
        name: "search",
        kind: "web_search",
        description: "Searches the web.",
        params: z.looseObject({}),
        result: z.looseObject({ searches: z.array(z.looseObject({})) }),
      });
      const wanted = [{ queries: ["owls hunt"] }, { queries: ["owls night"] }];
      const hosted = await createLocalFixture(script, { web: createPages() });
      const copied = await hosted.run(createPrompt({ hostedTools: [search] }));
      expect(copied.hostedOutputs.get(search)?.searches).toMatchObject(wanted);
      const declared = await createLocalFixture(script, { web: createPages() });
      const typed = await declared.run(createPrompt({ tools: [native] }));
      expect(typed.hostedOutputs.get(native)?.searches).toMatchObject(wanted);
      expect(typed.hostedOutputs.get(native)).toMatchObject({ text: answer });
    },
    SDK_TIMEOUT,
  );

  test(
    "counts the usage of the search request",
    async () => {
      const fixture = await createServerFixture([
        { content: [toolUse("WebSearch", { query: "owls" })] },
        { content: [textBlock("At night.")] },
      ]);
      const response = await fixture.run(createPrompt({ hostedTools: [webSearchTool()] }));
      expect(fixture.requests).toHaveLength(2);
      expect(response.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 });
      expect(fixture.bus.of("PromptExecuted")).toMatchObject([
        { turns: 2, usage: response.usage, costUsd: response.costUsd },
      ]);
    },
    SDK_TIMEOUT,
  );
});
