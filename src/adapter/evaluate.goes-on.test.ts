import { describe, expect, test } from "vitest";
import type { FeedbackProvider } from "../prompt/feedback.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { type ScriptStep, scriptedClient } from "../testing/scripted-client.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";

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

const goesOn = { text: "Let me see.", goesOn: true };
const searching = { ...goesOn, hostedCalls: [{ name: "web_search", output: {} }] };
const done = { text: "Done." };

async function run(script: readonly ScriptStep[], options: object = {}) {
  const bus = recordingBus();
  const client = scriptedClient(...script);
  const outcome: unknown = await client
    .evaluate(new Prompt(template), { session: new Session({ bus }), ...options })
    .catch((error: unknown) => error);
  return { outcome, asked: client.asked, bus };
}

describe("a turn that goes on", () => {
  test("is no answer: the next request follows, with nothing to tell", async () => {
    const { outcome, asked, bus } = await run([goesOn, goesOn, done]);
    expect(outcome).toMatchObject({ text: "Done.", output: "Done.", responseId: "response_3" });
    const nothing = { answers: [], performed: [], notes: [], toolChoice: "auto" };
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

  test("tells of what the provider ran, and feedback reaches the next request", async () => {
    const { outcome, asked, bus } = await run([searching, done]);
    expect(outcome).toMatchObject({ text: "Done.", hostedCalls: [{ name: "web_search" }] });
    expect(asked.map(({ notes }) => notes)).toEqual([[], [block]]);
    expect(bus.of("ToolInvoked")).toMatchObject([{ name: "web_search" }]);
  });

  test("may call tools of ours as well, which are answered", async () => {
    const { asked } = await run([{ ...searching, toolCalls: [{ name: "look" }] }, done]);
    expect(asked[1]).toMatchObject({ notes: [block], answers: [{ call: { name: "look" } }] });
  });

  test("counts: there is an end to it after maxTurns", async () => {
    const { outcome, asked } = await run([searching, goesOn, done], { maxTurns: 2 });
    expect(outcome).toMatchObject({
      name: "PromptEvaluationError",
      message: "No answer after 2 turns: raise maxTurns or give a smaller task",
      partial: { turns: 2, text: "Let me see.", hostedCalls: [{ name: "web_search" }] },
    });
    expect(asked).toHaveLength(2);
  });

  test("uses tokens, which are summed", async () => {
    const usage = { inputTokens: 3, outputTokens: 1 };
    const { outcome } = await run([
      { ...goesOn, usage },
      { ...done, usage },
    ]);
    expect(outcome).toMatchObject({ usage: { inputTokens: 6, totalTokens: 8 } });
  });
});

test.each([false, undefined])("a turn that does not (%s) is the answer", async (no) => {
  const { outcome, asked } = await run([{ text: "Done.", goesOn: no }, done]);
  expect(outcome).toMatchObject({ text: "Done." });
  expect(asked).toHaveLength(1);
});
