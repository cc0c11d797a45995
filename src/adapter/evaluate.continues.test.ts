import { describe, expect, test } from "vitest";
import type { FeedbackProvider } from "../prompt/feedback.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import type { ScriptedTurn } from "../testing/scripted-turn.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import type { TurnRequest } from "./model-client.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null, "Looked."),
});
const feedback: FeedbackProvider = { name: "f", provide: () => "Cite it." };
const block = '<feedback provider="f">\nCite it.\n</feedback>';
const task = new MarkdownSection({
  key: "t",
  title: "T",
  template: "Work.",
  tools: [look],
  hostedTools: [webSearchTool()],
});
const template = new PromptTemplate({
  ns: "demo",
  key: "k",
  sections: [task],
  feedback: [feedback],
});

const continuing: ScriptedTurn = { text: "Let me see.", continues: true };
const searching = { ...continuing, hostedCalls: [{ name: "web_search", output: {} }] };
const done = { text: "Done." };

async function evaluateScript(script: readonly ScriptStep[], options: object = {}) {
  const bus = recordingBus();
  const client = scriptedClient(...script);
  const outcome: unknown = await client
    .evaluate(new Prompt(template), { session: new Session({ bus }), ...options })
    .catch((error: unknown) => error);
  return { outcome, asked: client.asked, bus };
}

describe("a turn that continues", () => {
  test("is not the answer, and the next request has no new input", async () => {
    const { outcome, asked, bus } = await evaluateScript([continuing, continuing, done]);
    expect(outcome).toMatchObject({ text: "Done.", output: "Done.", responseId: "response_3" });
    const nothing: Partial<TurnRequest> = {
      answers: [],
      delegatedResults: [],
      notes: [],
      toolChoice: "auto",
    };
    expect(asked).toMatchObject([
      { turn: 1, ...nothing },
      { turn: 2, ...nothing },
      { turn: 3, ...nothing },
    ]);
    expect(bus.of("TurnCompleted").map(({ text }) => text)).toEqual([
      "Let me see.",
      "Let me see.",
      "Done.",
    ]);
    expect(bus.of("PromptExecuted")).toMatchObject([{ text: "Done.", turns: 3 }]);
  });

  test("publishes the provider's calls, and the next request has feedback", async () => {
    const { outcome, asked, bus } = await evaluateScript([searching, done]);
    expect(outcome).toMatchObject({ text: "Done.", hostedCalls: [{ name: "web_search" }] });
    expect(asked.map(({ notes }) => notes)).toEqual([[], [block]]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "web_search" }]);
  });

  test("may call local tools, whose results are sent", async () => {
    const { asked } = await evaluateScript([{ ...searching, toolCalls: [{ name: "look" }] }, done]);
    expect(asked[1]).toMatchObject({ notes: [block], answers: [{ call: { name: "look" } }] });
  });

  test("counts toward maxTurns", async () => {
    const { outcome, asked } = await evaluateScript([searching, continuing, done], { maxTurns: 2 });
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      message: "No answer after 2 turns. Raise maxTurns or use a smaller task.",
      partial: { turns: 2, text: "Let me see.", hostedCalls: [{ name: "web_search" }] },
    });
    expect(asked).toHaveLength(2);
  });

  test("adds its tokens to the usage", async () => {
    const usage = { inputTokens: 3, outputTokens: 1 };
    const { outcome } = await evaluateScript([
      { ...continuing, usage },
      { ...done, usage },
    ]);
    expect(outcome).toMatchObject({ usage: { inputTokens: 6, totalTokens: 8 } });
  });
});

test.each([false, undefined])("a turn that does not continue (%s) is the answer", async (no) => {
  const { outcome, asked } = await evaluateScript([{ text: "Done.", continues: no }, done]);
  expect(outcome).toMatchObject({ text: "Done." });
  expect(asked).toHaveLength(1);
});
