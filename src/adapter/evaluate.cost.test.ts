import { describe, expect, test } from "vitest";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import { type ScriptedTurn, turnOf } from "../testing/scripted-turn.ts";
import { Progress } from "./evaluation.ts";

const task = new MarkdownSection({ key: "t", title: "T", template: "Work." });
const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));

async function run(...script: readonly ScriptedTurn[]) {
  const bus = recordingBus();
  const response = await scriptedClient(...script).evaluate(prompt, {
    session: new Session({ bus }),
  });
  return { response, executed: bus.of("PromptExecuted")[0] };
}

describe("the cost of an evaluation", () => {
  test("is that of all turns together, in the answer and in the event", async () => {
    const { response, executed } = await run(
      { goesOn: true, costUsd: 0.25 },
      { goesOn: true },
      { text: "Done.", costUsd: 0.5 },
    );
    expect([response.costUsd, executed?.costUsd]).toEqual([0.75, 0.75]);
  });

  test("may be nothing", async () => {
    const { response, executed } = await run({ text: "Done.", costUsd: 0 });
    expect([response.costUsd, executed?.costUsd]).toEqual([0, 0]);
  });

  test("is left out where no turn has one", async () => {
    const { response, executed } = await run({ goesOn: true }, { text: "Done." });
    expect([response, executed].some((one) => one && "costUsd" in one)).toBe(false);
  });
});

test("what an evaluation has so far has its cost apart", () => {
  const progress = new Progress();
  expect(progress.cost()).toEqual({});
  progress.add(turnOf({ costUsd: 0.5 }, 1));
  progress.add(turnOf({}, 2));
  expect(progress.cost()).toEqual({ costUsd: 0.5 });
  expect(progress.partial()).not.toHaveProperty("costUsd");
});
