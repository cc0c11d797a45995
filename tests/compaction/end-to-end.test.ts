import { describe, expect, it, onTestFinished } from "vitest";
import {
  type BusEvent,
  MarkdownSection,
  Prompt,
  PromptTemplate,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { compactionSlice, OpenAIAdapter } from "weakincentives/openai";
import { z } from "zod";

type Item = Readonly<Record<string, unknown>>;

describe("a conversation above its threshold", () => {
  it.each(["endpoint", "server"] as const)(
    "is compacted by the %s strategy, keeps its prompt and is continued by the next evaluation",
    async (strategy) => {
      const seen: (readonly Item[])[] = [];
      const provider = new LocalProvider({
        model: scriptedModel(({ items }) => {
          seen.push(items as readonly Item[]);
          const calls = items.filter((item) => (item as Item)["type"] === "function_call").length;
          return seen.length <= 6 && calls < 6
            ? [{ call: { name: "look", args: { at: `page ${seen.length}` } } }]
            : [{ say: "Done." }];
        }),
      });
      onTestFinished(() => provider[Symbol.asyncDispose]());
      const { url } = await provider.listen();
      const adapter = new OpenAIAdapter({
        model: "local",
        clientConfig: { baseURL: url, apiKey: "local" },
        compaction: { thresholdTokens: 1_500, strategy, zdrMode: true },
      });
      const session = new Session();
      const events: BusEvent[] = [];
      session.bus.subscribe("*", (event) => events.push(event));
      const look = new Tool({
        name: "look",
        description: "Looks at a page.",
        params: z.object({ at: z.string() }),
        result: z.string(),
        handler: async ({ at }) => ToolResult.ok(`${at}: ${"word ".repeat(500)}`),
      });
      const template = new PromptTemplate({
        ns: "tests",
        key: "compaction",
        sections: [
          new MarkdownSection({
            key: "task",
            title: "Task",
            template: "Read it all.",
            tools: [look],
          }),
        ],
      });
      const response = await adapter.evaluate(new Prompt(template), { session });
      expect(response.text).toBe("Done.");
      const compactions = events.filter(({ type }) => type === "ContextCompacted");
      expect(compactions.length).toBeGreaterThan(0);
      for (const items of seen) {
        const prompts = items.filter((item) => item["role"] === "system");
        expect(prompts.map((item) => String(item["content"]).includes("Read it all."))).toContain(
          true,
        );
      }
      const state = session.get(compactionSlice);
      expect(state.compactionCount).toBe(compactions.length);
      expect(state.encryptedItems.length).toBe(1);
      await adapter.evaluate(new Prompt(template), { session });
      expect(JSON.stringify(seen.at(-1))).toContain("page 1");
    },
  );
});
