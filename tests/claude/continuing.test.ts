import { describe, expect, test } from "vitest";
import { Session, Tool, ToolResult } from "weakincentives";
import { claudeHistorySlice } from "weakincentives/claude";
import { JsonlSessionStore } from "weakincentives/stores";
import { SDK_TIMEOUT, sdkMissing } from "../support/claude/installed.ts";
import { say, use } from "../support/claude/messages-server.ts";
import { promptOf, stageAt, wirePlace, wireStage } from "../support/claude/stage.ts";
import { temporaryTree } from "../support/temporary-tree.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null, "An owl."),
});

const usage = (input_tokens: number) => ({ usage: { input_tokens, output_tokens: 10 } });

describe.skipIf(sdkMissing)("Going on from a conversation", () => {
  test(
    "works from where a session is stored: the model has all of it, and only what is new is counted",
    async () => {
      const place = await wirePlace([
        { content: [use("mcp__wink__look", {})], ...usage(100) },
        { content: [say("It is an owl.")], ...usage(200) },
        { content: [say("It is grey.")], ...usage(1000) },
        { content: [say("It sleeps.")], ...usage(5000) },
      ]);
      const folder = temporaryTree();
      await using store = new JsonlSessionStore(folder);
      const first = stageAt(place, { session: new Session({ store }) });
      const began = await first.run(promptOf({ template: "What is it?", tools: [look] }), {
        evaluate: { continue: true },
      });
      expect(began.usage.inputTokens).toBe(300);
      await first.session.flush();
      await store.close();

      await using reopened = new JsonlSessionStore(folder);
      const session = await Session.open(reopened, first.session.id, [claudeHistorySlice]);
      const second = stageAt(place, { session });
      const went = await second.run(promptOf({ template: "Which colour?", tools: [look] }), {
        evaluate: { continue: true },
      });
      expect(went.text).toBe("It is grey.");
      const { text } = place.requests[2] ?? { text: "" };
      const words = ["What is it?", "An owl.", "It is an owl.", "Which colour?"];
      const places = words.map((word) => text.indexOf(word));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((one, two) => one - two));
      expect(went.usage).toMatchObject({ inputTokens: 1000, outputTokens: 10 });
      expect(went.costUsd).toBeGreaterThan(began.costUsd ?? Number.NaN);
      const third = await second.run(promptOf({ template: "What does it do?" }), {
        evaluate: { continue: true },
      });
      expect(third.usage).toMatchObject({ inputTokens: 5000, outputTokens: 10 });
      expect(third.costUsd).toBeGreaterThan(went.costUsd ?? Number.NaN);
      expect(place.requests[3]?.text).toContain("It is grey.");
      expect(place.requests[3]?.text).toContain("An owl.");
    },
    SDK_TIMEOUT,
  );

  test(
    "needs to be asked for, and knows nothing of what a handler evaluated",
    async () => {
      const nested = new Tool({
        name: "ask",
        description: "Asks another prompt.",
        params: null,
        handler: async (_params, { adapter, session }) => {
          const inner = promptOf({ template: "Inner question." });
          const { text } = await adapter.evaluate(inner, { session, continue: true });
          return ToolResult.ok(null, text ?? "");
        },
      });
      const stage = await wireStage([
        { content: [use("mcp__wink__ask", {})] },
        { content: [say("Inner answer.")] },
        { content: [say("Outer answer.")] },
        { content: [say("Anew.")] },
        { content: [say("Still anew.")] },
      ]);
      await stage.run(promptOf({ template: "Outer question.", tools: [nested] }));
      expect(stage.requests[1]?.text).not.toContain("Outer question.");
      await stage.run(promptOf({ template: "Something else." }));
      expect(stage.requests[3]?.text).not.toContain("Outer");
      await stage.run(promptOf({ template: "And now?" }), { evaluate: { continue: true } });
      const last = stage.requests[4]?.text;
      expect(last).toContain("Something else.");
      expect(last).not.toMatch(/Inner question|Outer question/);
      const stored = JSON.stringify(stage.session.get(claudeHistorySlice));
      expect(stored).toContain("Still anew.");
      expect(stored).not.toContain("Inner question.");
      expect(stage.bus.errors).toEqual([]);
    },
    SDK_TIMEOUT,
  );
});
