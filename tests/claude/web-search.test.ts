import { describe, expect, test } from "vitest";
import { webSearchTool } from "weakincentives";
import { recordsAt } from "../../src/base/reading.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { localStage, promptOf, wireStage } from "../support/claude/stage.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const night = "https://owls.example/night";
const answer = `Owls hunt at night ([Night](${night})).`;

/** Pages about owls, one of them where nobody is to look. */
function pages(): string {
  return temporaryTree({
    "pages.json": JSON.stringify({ "a.md": night, "b.md": "https://rumours.example/owls" }),
    "a.md": "# Night\nOwls hunt at night.",
    "b.md": "# Rumours\nOwls are said to hunt at noon.",
  });
}

describe.skipIf(sdkMissing)("A web search on the real SDK", () => {
  test(
    "has its domains kept, a typed output, citations with places, and its usage counted",
    async () => {
      const stage = await localStage([[{ search: { web: "owls hunt" } }, { say: answer }]], {
        web: pages(),
      });
      const tool = webSearchTool({ domainFilter: { allowed: ["owls.example"] } });
      const response = await stage.run(promptOf({ hostedTools: [tool] }));
      expect(response.text).toBe(answer);
      const [main, side, last] = stage.requests.map(({ body }) => body);
      expect(stage.requests).toHaveLength(3);
      expect(recordsAt(side ?? {}, "tools")).toMatchObject([
        { name: "web_search", allowed_domains: ["owls.example"] },
      ]);
      expect(recordsAt(main ?? {}, "tools")).toMatchObject([{ name: "WebSearch" }]);
      expect(recordsAt(last ?? {}, "tools")).toEqual(recordsAt(main ?? {}, "tools"));
      const cited = { type: "url", url: night, title: "Night" };
      const place = [answer.indexOf("["), answer.indexOf(")") + 1];
      const output = response.hostedOutputs.get(tool);
      expect(output).toMatchObject({
        text: answer,
        sourceUrls: [night],
        citations: [{ ...cited, span: place }],
        searches: [{ action: "search", queries: ["owls hunt"], status: "completed" }],
      });
      expect(response.citations).toEqual(output?.citations);
      expect(stage.bus.of("ToolInvoked")).toMatchObject([
        {
          name: "web_search",
          result: { success: true },
          durationMs: null,
          origin: { execution: "provider", provider: "claude", capability: "web_search" },
        },
      ]);
      const told = stage.bus.of("TurnCompleted").map(({ usage }) => usage.inputTokens);
      expect(told).toHaveLength(2);
      expect(response.usage.inputTokens).toBe(told.reduce((sum, one) => sum + one, 0));
      expect(response.costUsd).toBeGreaterThan(0);
    },
    SDK_TIMEOUT,
  );

  test(
    "keeps off blocked domains, and has a place refused or dropped as it was told",
    async () => {
      const stage = await localStage([[{ search: { web: "owls hunt" } }, { say: answer }]], {
        web: pages(),
      });
      const tool = webSearchTool({
        domainFilter: { blocked: ["rumours.example"] },
        geoHint: { city: "Paris" },
      });
      const prompt = promptOf({ hostedTools: [tool] });
      const refused = await stage.failure(prompt);
      expect(refused.message).toBe(
        'Hosted tool "web_search" config.geoHint must be left out on Claude, whose search knows no ' +
          'place, got {"city":"Paris"}: name the place in the prompt, or have it dropped by ' +
          'unsupportedHostedTools: "omit"',
      );
      expect(stage.requests).toEqual([]);
      const response = await stage.run(prompt, { adapter: { unsupportedHostedTools: "omit" } });
      expect(response.hostedOutputs.get(tool)?.sourceUrls).toEqual([night]);
      expect(recordsAt(stage.requests[1]?.body ?? {}, "tools")).toMatchObject([
        { blocked_domains: ["rumours.example"] },
      ]);
      expect(stage.logged.filter((line) => line.startsWith("warn"))).toEqual([
        expect.stringContaining("a setting of a hosted tool was dropped"),
      ]);
    },
    SDK_TIMEOUT,
  );

  test(
    "costs what its own request used, too",
    async () => {
      const stage = await wireStage([
        { content: [use("WebSearch", { query: "owls" })] },
        { content: [say("At night.")] },
      ]);
      const response = await stage.run(promptOf({ hostedTools: [webSearchTool()] }));
      expect(stage.requests).toHaveLength(2);
      expect(response.usage).toMatchObject({ inputTokens: 30, outputTokens: 15 });
      expect(stage.bus.of("PromptExecuted")).toMatchObject([
        { turns: 2, usage: response.usage, costUsd: response.costUsd },
      ]);
    },
    SDK_TIMEOUT,
  );
});
