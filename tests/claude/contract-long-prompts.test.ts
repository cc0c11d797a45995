import { describe, expect, onTestFinished, test } from "vitest";
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { ClaudeAgentSDKAdapter } from "weakincentives/claude";
import { recordingBus } from "weakincentives/testing";
import { noteTool } from "../../src/testing/contract/prompts.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { messagesServer, say, use } from "../support/claude/messages-server.ts";

const rules = Array.from({ length: 2_000 }, (_, rule) => `Rule ${rule}: count owls.`);

/** A prompt that is far longer than what a hook of the SDK may say at once. */
function longPrompt(): Prompt<string> {
  const template = rules.join("\n");
  const section = new MarkdownSection({
    key: "rules",
    title: "Rules",
    template,
    tools: [noteTool],
  });
  return new Prompt(new PromptTemplate({ ns: "tests", key: "long", sections: [section] }));
}

describe.skipIf(sdkMissing)("a prompt that is rendered anew", () => {
  test(
    "reaches the model whole, however long it is by then",
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
      const server = await messagesServer([
        { content: [use("mcp__wink__open_sections", opening)] },
        { content: [say("Done.")] },
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

describe.skipIf(sdkMissing)("a conversation that the SDK makes shorter", () => {
  test(
    "goes on with the whole prompt, however long, and what that cost is counted",
    async () => {
      const note = (word: string) => use("mcp__wink__note", { word });
      const server = await messagesServer([
        { content: [note("one")] },
        { content: [note("two")], usage: { input_tokens: 150_000 } },
        { content: [say("Done.")] },
      ]);
      onTestFinished(() => server.close());
      const adapter = new ClaudeAgentSDKAdapter({
        isolation: { apiKey: "tests", baseURL: server.url },
        env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "100000" },
      });
      const bus = recordingBus();
      const session = new Session({ bus });
      const { text, usage } = await adapter.evaluate(longPrompt(), { session });
      expect(text).toBe("Done.");
      expect(bus.of("ContextCompacted")).toMatchObject([
        { strategy: "sdk", tokensBefore: expect.any(Number), tokensAfter: expect.any(Number) },
      ]);
      const last = server.requests.at(-1)?.text ?? "";
      expect(rules.filter((rule) => !last.includes(rule))).toEqual([]);
      expect(last).toContain("Much was read.");
      expect(last).not.toContain("noted one");
      // Ten for each request, that for the summary among them.
      expect(usage.inputTokens).toBe(150_030);
    },
    SDK_TIMEOUT,
  );
});
