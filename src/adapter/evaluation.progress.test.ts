import { describe, expect, test } from "vitest";
import { noUsage, usageOf } from "../base/usage.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { type ScriptedTurn, turnOf } from "../testing/scripted-turn.ts";
import type { Citation } from "../tools/hosted/citation.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { Progress } from "./evaluation.ts";

const cited = (url: string, span: Citation["span"]): Citation => ({
  type: "url",
  url,
  title: url,
  span,
});

const soFar = (...turns: readonly ScriptedTurn[]) => {
  const progress = new Progress();
  for (const [index, turn] of turns.entries()) progress.add(turnOf(turn, index + 1));
  return progress;
};

describe("what an evaluation has so far", () => {
  test("is nothing at first", () => {
    expect(soFar().partial()).toEqual({
      text: null,
      usage: noUsage,
      responseId: null,
      turns: 0,
      hostedCalls: [],
    });
  });

  test("is the last words, whichever turn they came in", () => {
    expect(soFar({ text: "a" }, { text: "b" }, { text: "" }).text).toBe("b");
  });

  test("is the usage of all turns together", () => {
    const { usage, turns } = soFar(
      { usage: { inputTokens: 1, outputTokens: 2 } },
      { usage: { inputTokens: 3 } },
    );
    expect(usage).toEqual(usageOf({ inputTokens: 4, outputTokens: 2 }));
    expect(turns).toBe(2);
  });

  test("is the last ids and model that were told", () => {
    const progress = soFar(
      { responseId: "r1", requestId: "q1", model: "m1" },
      { responseId: "r2", requestId: null, model: null },
      { responseId: null, requestId: "q3", model: null },
    );
    expect(progress).toMatchObject({ responseId: "r2", model: "m1", requestIds: ["q1", "q3"] });
  });

  test("is every hosted call, as it came and then as it was left", () => {
    const turn = turnOf({ hostedCalls: [{ name: "a" }, { name: "b" }] }, 1);
    const progress = new Progress();
    progress.add(turn);
    expect(progress.partial().hostedCalls).toEqual(turn.hostedCalls);
    const [first, second] = turn.hostedCalls.map((call) => ({ ...call, output: "seen" }));
    for (const [index, settled] of [first, second].entries()) {
      const call = turn.hostedCalls[index];
      if (call && settled) progress.settle(call, settled);
    }
    expect(progress.partial().hostedCalls).toEqual([first, second]);
  });

  test("does not change once it was told", () => {
    const progress = soFar({ text: "a" });
    const partial = progress.partial();
    progress.add(turnOf({ text: "b" }, 2));
    expect(partial).toMatchObject({ text: "a", turns: 1 });
    expect([partial, partial.hostedCalls].every(Object.isFrozen)).toBe(true);
  });
});

describe("citations", () => {
  test("of earlier turns have no span: it is not the answer they point into", () => {
    const progress = soFar(
      { citations: [cited("a", [0, 1]), cited("b", null)] },
      {},
      { citations: [cited("c", [2, 3])] },
      { citations: [cited("d", [4, 5])] },
    );
    expect(progress.citations()).toEqual([
      cited("a", null),
      cited("b", null),
      cited("c", null),
      cited("d", [4, 5]),
    ]);
  });

  test("come with the answer, in order", async () => {
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
      { text: "See.", toolCalls: [{ name: "look" }], citations: [cited("a", [0, 3])] },
      { text: "Done.", citations: [cited("b", [0, 4])] },
    );
    const { citations } = await client.evaluate(prompt, { session: new Session() });
    expect(citations).toEqual([cited("a", null), cited("b", [0, 4])]);
  });
});
