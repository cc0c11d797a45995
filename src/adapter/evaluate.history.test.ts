import { describe, expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import type { ScriptedTurn } from "../testing/scripted-turn.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

function createPrompt(tools: readonly Tool[] = []): Prompt<string> {
  const section = new MarkdownSection({ key: "t", title: "T", template: "Go.", tools });
  return new Prompt(new PromptTemplate({ ns: "test", key: "history", sections: [section] }));
}

function evaluateTurns(turns: readonly ScriptedTurn[], tools: readonly Tool[] = []) {
  const bus = recordingBus();
  const session = new Session({ bus });
  return { bus, response: scriptedClient(...turns).evaluate(createPrompt(tools), { session }) };
}

describe("a turn's history step", () => {
  const history = { kept: 0, added: [{ type: "message" }] };

  test("is published with the turn, as HistoryAdvanced", async () => {
    const { bus, response } = evaluateTurns([{ text: "Hi.", history }]);
    await response;
    expect(bus.of("HistoryAdvanced")).toMatchObject([{ turn: 1, ...history }]);
    expect(JSON.stringify(bus.of("TurnCompleted"))).not.toContain("added");
    expect(bus.types()).toEqual([
      "PromptRendered",
      "TurnStarted",
      "TurnCompleted",
      "PromptExecuted",
    ]);
  });

  test("is not delivered to subscribers of all events", async () => {
    const { bus, response } = evaluateTurns([{ text: "Hi.", history }]);
    const [all, named]: [string[], string[]] = [[], []];
    bus.subscribe("*", ({ type }) => all.push(type));
    bus.subscribe("HistoryAdvanced", ({ type }) => named.push(type));
    await response;
    expect(named).toEqual(["HistoryAdvanced"]);
    expect(all).toContain("TurnCompleted");
    expect(all).not.toContain("HistoryAdvanced");
  });

  test("is not published in a nested evaluation, whose conversation is not the session's", async () => {
    const inner = scriptedClient({ text: "Inner.", history });
    const tool = new Tool({
      name: "ask",
      description: "Asks.",
      params: null,
      handler: async (_, { session }) => {
        const { text } = await inner.evaluate(createPrompt(), { session });
        return ToolResult.ok(text);
      },
    });
    const calling = { toolCalls: [{ name: "ask", callId: "c1", arguments: "{}" }], history };
    const { bus, response } = evaluateTurns([calling, { text: "Outer.", history }], [tool]);
    await response;
    expect(bus.of("TurnCompleted")).toHaveLength(3);
    expect(bus.of("HistoryAdvanced")).toMatchObject([
      { turn: 1, ...history },
      { turn: 2, ...history },
    ]);
  });
});
