import { describe, expect, test } from "vitest";
import { Session, Tool, ToolResult } from "weakincentives";
import { claudeHistorySlice } from "weakincentives/claude";
import { JsonlSessionStore } from "weakincentives/stores";
import {
  createFixture,
  createPrompt,
  createServerFixture,
  startScriptedServer,
} from "../support/claude/claude-fixture.ts";
import { textBlock, toolUse } from "../support/claude/messages-server.ts";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/sdk-installed.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null, "An owl."),
});

const createUsage = (input_tokens: number) => ({ usage: { input_tokens, output_tokens: 10 } });

describe.skipIf(sdkMissing)("Continuing a conversation on the real SDK", () => {
  test(
    "works from a stored session: the model gets all messages, and only new usage is counted",
    async () => {
      const endpoint = await startScriptedServer([
        { content: [toolUse("mcp__wink__look", {})], ...createUsage(100) },
        { content: [textBlock("It is an owl.")], ...createUsage(200) },
        { content: [textBlock("It is grey.")], ...createUsage(1000) },
        { content: [textBlock("It sleeps.")], ...createUsage(5000) },
      ]);
      const folder = temporaryTree();
      await using store = new JsonlSessionStore(folder);
      const first = createFixture(endpoint, { session: new Session({ store }) });
      const firstResponse = await first.run(
        createPrompt({ template: "What is it?", tools: [look] }),
        {
          evaluate: { continue: true },
        },
      );
      expect(firstResponse.usage.inputTokens).toBe(300);
      await first.session.flush();
      await store.close();

      await using reopened = new JsonlSessionStore(folder);
      const session = await Session.open(reopened, first.session.id, [claudeHistorySlice]);
      const second = createFixture(endpoint, { session });
      const secondResponse = await second.run(
        createPrompt({ template: "Which color?", tools: [look] }),
        {
          evaluate: { continue: true },
        },
      );
      expect(secondResponse.text).toBe("It is grey.");
      const { text } = endpoint.requests[2] ?? { text: "" };
      const texts = ["What is it?", "An owl.", "It is an owl.", "Which color?"];
      const positions = texts.map((part) => text.indexOf(part));
      expect(positions).not.toContain(-1);
      expect(positions).toEqual(positions.toSorted((one, two) => one - two));
      expect(secondResponse.usage).toMatchObject({ inputTokens: 1000, outputTokens: 10 });
      expect(secondResponse.costUsd).toBeGreaterThan(firstResponse.costUsd ?? Number.NaN);
      const third = await second.run(createPrompt({ template: "What does it do?" }), {
        evaluate: { continue: true },
      });
      expect(third.usage).toMatchObject({ inputTokens: 5000, outputTokens: 10 });
      expect(third.costUsd).toBeGreaterThan(secondResponse.costUsd ?? Number.NaN);
      expect(endpoint.requests[3]?.text).toContain("It is grey.");
      expect(endpoint.requests[3]?.text).toContain("An owl.");
    },
    SDK_TIMEOUT,
  );

  test(
    "happens only with the continue option, and omits evaluations inside handlers",
    async () => {
      const nested = new Tool({
        name: "ask",
        description: "Asks another prompt.",
        params: null,
        handler: async (_params, { adapter, session }) => {
          const inner = createPrompt({ template: "Inner question." });
          const { text } = await adapter.evaluate(inner, { session, continue: true });
          return ToolResult.ok(null, text);
        },
      });
      const fixture = await createServerFixture([
        { content: [toolUse("mcp__wink__ask", {})] },
        { content: [textBlock("Inner answer.")] },
        { content: [textBlock("Outer answer.")] },
        { content: [textBlock("New answer.")] },
        { content: [textBlock("Last answer.")] },
      ]);
      await fixture.run(createPrompt({ template: "Outer question.", tools: [nested] }));
      expect(fixture.requests[1]?.text).not.toContain("Outer question.");
      await fixture.run(createPrompt({ template: "Something else." }));
      expect(fixture.requests[3]?.text).not.toContain("Outer");
      await fixture.run(createPrompt({ template: "And now?" }), { evaluate: { continue: true } });
      const last = fixture.requests[4]?.text;
      expect(last).toContain("Something else.");
      expect(last).not.toMatch(/Inner question|Outer question/);
      const stored = JSON.stringify(fixture.session.get(claudeHistorySlice));
      expect(stored).toContain("Last answer.");
      expect(stored).not.toContain("Inner question.");
      expect(fixture.bus.errors).toEqual([]);
    },
    SDK_TIMEOUT,
  );
});
