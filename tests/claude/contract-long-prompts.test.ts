import { describe, expect, onTestFinished, test } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { ClaudeAgentSDKAdapter } from "weakincentives/claude";
import { recordingBus } from "weakincentives/testing";
import { noteTool } from "../../src/testing/contract/prompts.ts";
import { startMessagesServer, textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";

const rules = Array.from({ length: 2_000 }, (_, rule) => `Rule ${rule}: count owls.`);

/** Creates a prompt that is much longer than the output limit of an SDK hook. */
function createLongPrompt(): Prompt<string> {
  const template = rules.join("\n");
  const section = new MarkdownSection({
    key: "rules",
    title: "Rules",
    template,
    tools: [noteTool],
  });
  return new Prompt(new PromptTemplate({ ns: "tests", key: "long", sections: [section] }));
}

describe.skipIf(sdkMissing)("a prompt that changes during a run on the real SDK", () => {
  test(
    "reaches the model completely, even if it has become long",
    async () => {
      const closed = new MarkdownSection({
        key: "rules",
        title: "Rules",
        template: rules.join("\n"),
        summary: "There are rules.",
        visibility: "summary",
        tools: [noteTool],
      });
      const template = new PromptTemplate({ ns: "tests", key: "closed", sections: [closed] });
      const opening = { section_keys: ["rules"], reason: "to know them" };
      const server = await startMessagesServer([
        { content: [toolUse("mcp__wink__open_sections", opening)] },
        { content: [textBlock("Done.")] },
      ]);
      onTestFinished(() => server.close());
      const isolation = { apiKey: "tests", baseURL: server.url };
      const adapter = new ClaudeAgentSDKAdapter({ isolation });
      await adapter.evaluate(new Prompt(template), { session: new Session() });
      const [first = "", second = ""] = server.requests.map(({ text }) => text);
      expect(first).not.toContain(rules[0]);
      expect(rules.filter((rule) => !second.includes(rule))).toEqual([]);
    },
    SDK_TIMEOUT,
  );
});

describe.skipIf(sdkMissing)("a conversation that the real SDK compacts", () => {
  test(
    "continues with the complete prompt, and counts the usage of the compaction",
    async () => {
      const createNote = (word: string) => toolUse("mcp__wink__note", { word });
      const server = await startMessagesServer([
        { content: [createNote("one")] },
        { content: [createNote("two")], usage: { input_tokens: 150_000 } },
        { content: [textBlock("Done.")] },
      ]);
      onTestFinished(() => server.close());
      const adapter = new ClaudeAgentSDKAdapter({
        isolation: { apiKey: "tests", baseURL: server.url },
        env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" },
      });
      const bus = recordingBus();
      const session = new Session({ bus });
      const { text, usage } = await adapter.evaluate(createLongPrompt(), { session });
      expect(text).toBe("Done.");
      expect(bus.of("ContextCompacted")).toMatchObject([
        { strategy: "sdk", tokensBefore: expect.any(Number), tokensAfter: expect.any(Number) },
      ]);
      const last = server.requests.at(-1)?.text ?? "";
      expect(rules.filter((rule) => !last.includes(rule))).toEqual([]);
      expect(last).toContain("Much was read.");
      expect(last).not.toContain("noted one");
      // Ten tokens for each request, including the request for the summary.
      expect(usage.inputTokens).toBe(150_030);
    },
    SDK_TIMEOUT,
  );
});
