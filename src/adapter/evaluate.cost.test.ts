import { describe, expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { completeTurn, type ScriptedTurn } from "../testing/scripted-turn.ts";
import { Progress } from "./evaluation.ts";

const task = new MarkdownSection({ key: "t", title: "T", template: "Work." });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));

async function evaluateScript(...script: readonly ScriptedTurn[]) {
  const bus = recordingBus();
  const response = await scriptedClient(...script).evaluate(prompt, {
    session: new Session({ bus }),
  });
  return { response, executed: bus.of("PromptExecuted")[0] };
}

describe("the cost of an evaluation", () => {
  test("is the sum of all turns, in the response and in the event", async () => {
    const { response, executed } = await evaluateScript(
      { continues: true, costUsd: 0.25 },
      { continues: true },
      { text: "Done.", costUsd: 0.5 },
    );
    expect([response.costUsd, executed?.costUsd]).toEqual([0.75, 0.75]);
  });

  test("may be zero", async () => {
    const { response, executed } = await evaluateScript({ text: "Done.", costUsd: 0 });
    expect([response.costUsd, executed?.costUsd]).toEqual([0, 0]);
  });

  test("is absent if no turn reports one", async () => {
    const { response, executed } = await evaluateScript({ continues: true }, { text: "Done." });
    expect([response, executed].some((one) => one && "costUsd" in one)).toBe(false);
  });
});

test("Progress includes the cost of earlier turns in the partial response", () => {
  const progress = new Progress();
  expect(progress.getCost()).toEqual({});
  progress.addEarlier(completeTurn({ costUsd: 0.5 }, 1));
  progress.addEarlier(completeTurn({}, 2));
  expect(progress.getCost()).toEqual({ costUsd: 0.5 });
  expect(progress.toPartialResponse()).toHaveProperty("costUsd", 0.5);
});
