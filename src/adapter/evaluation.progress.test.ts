import { describe, expect, test } from "vitest";
import { noUsage, toUsage } from "../base/usage.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { completeTurn, type ScriptedTurn } from "../testing/scripted-turn.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { Progress } from "./evaluation.ts";

const createCitation = (url: string, span: Citation["span"]): Citation => ({
  type: "url",
  url,
  title: url,
  span,
});

const createProgress = (...turns: readonly ScriptedTurn[]) => {
  const progress = new Progress();
  for (const [index, turn] of turns.entries()) progress.add(completeTurn(turn, index + 1));
  return progress;
};

describe("Progress", () => {
  test("starts empty", () => {
    expect(createProgress().toPartialResponse()).toEqual({
      text: null,
      usage: noUsage,
      responseId: null,
      turns: 0,
      hostedCalls: [],
    });
  });

  test("has the last text that was not empty", () => {
    expect(createProgress({ text: "a" }, { text: "b" }, { text: "" }).text).toBe("b");
  });

  test("has the usage of all turns together", () => {
    const { usage, turns } = createProgress(
      { usage: { inputTokens: 1, outputTokens: 2 } },
      { usage: { inputTokens: 3 } },
    );
    expect(usage).toEqual(toUsage({ inputTokens: 4, outputTokens: 2 }));
    expect(turns).toBe(2);
  });

  test("has the last ids and model that were reported", () => {
    const progress = createProgress(
      { responseId: "r1", requestId: "q1", model: "m1" },
      { responseId: "r2", requestId: null, model: null },
      { responseId: null, requestId: "q3", model: null },
    );
    expect(progress).toMatchObject({ responseId: "r2", model: "m1", requestIds: ["q1", "q3"] });
  });

  test("has every hosted call, first as received and then as settled", () => {
    const turn = completeTurn({ hostedCalls: [{ name: "a" }, { name: "b" }] }, 1);
    const progress = new Progress();
    progress.add(turn);
    expect(progress.toPartialResponse().hostedCalls).toEqual(turn.hostedCalls);
    const [first, second] = turn.hostedCalls.map((call) => ({ ...call, output: "seen" }));
    for (const [index, settled] of [first, second].entries()) {
      const call = turn.hostedCalls[index];
      if (call && settled)
        progress.settleCall(call, { call: settled, declared: call.output, tool: null });
    }
    expect(progress.hasReplacedOutputs).toBe(true);
    expect(progress.toPartialResponse().hostedCalls).toEqual([first, second]);
  });

  test("returns a partial response that does not change later", () => {
    const progress = createProgress({ text: "a" });
    const partial = progress.toPartialResponse();
    progress.add(completeTurn({ text: "b" }, 2));
    expect(partial).toMatchObject({ text: "a", turns: 1 });
    expect([partial, partial.hostedCalls].every(Object.isFrozen)).toBe(true);
  });
});

describe("citations", () => {
  test("of earlier turns have no span, because it does not refer to the answer", () => {
    const progress = createProgress(
      { citations: [createCitation("a", [0, 1]), createCitation("b", null)] },
      {},
      { citations: [createCitation("c", [2, 3])] },
      { citations: [createCitation("d", [4, 5])] },
    );
    expect(progress.listCitations()).toEqual([
      createCitation("a", null),
      createCitation("b", null),
      createCitation("c", null),
      createCitation("d", [4, 5]),
    ]);
  });

  test("are part of the response, in order", async () => {
    const look = new Tool({
      name: "look",
      description: "Looks.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    const task = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "Work.",
      tools: [look],
    });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
    const client = scriptedClient(
      { text: "See.", toolCalls: [{ name: "look" }], citations: [createCitation("a", [0, 3])] },
      { text: "Done.", citations: [createCitation("b", [0, 4])] },
    );
    const { citations } = await client.evaluate(prompt, { session: new Session() });
    expect(citations).toEqual([createCitation("a", null), createCitation("b", [0, 4])]);
  });
});
