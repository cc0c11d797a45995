import { describe, expect, test } from "vitest";
import * as z from "zod";
import { OutputParseError } from "../base/errors.ts";
import { Prompt } from "../prompt/prompt.ts";
import { MarkdownSection } from "../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../prompt/template.ts";
import { Session } from "../session/session.ts";
import { recordingBus } from "../testing/recording-bus.ts";
import { scriptedClient } from "../testing/scripted-client.ts";
import type { ScriptedTurn } from "../testing/scripted-turn.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import type { FinishReason } from "./model-client.ts";

const search = webSearchTool();
const python = new HostedTool<object, number>({
  kind: "code_interpreter",
  name: "python",
  description: "Runs Python.",
  config: {},
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Work.",
  hostedTools: [search, python],
});
const about = { ns: "demo", key: "k", sections: [task] };
const text = new Prompt(new PromptTemplate(about));
const object = new Prompt(new PromptTemplate({ ...about, output: z.object({ sum: z.number() }) }));
const list = new Prompt(new PromptTemplate({ ...about, output: z.array(z.string()) }));

const answered = <Output>(prompt: Prompt<Output>, turn: ScriptedTurn) =>
  scriptedClient(turn).evaluate(prompt, { session: new Session() });

describe("an answer that was finished", () => {
  test.each<FinishReason>(["stop", "tool_calls"])("as %s is read", async (finishReason) => {
    expect(await answered(text, { text: "Done.", finishReason })).toMatchObject({
      text: "Done.",
      output: "Done.",
      finishReason,
    });
    expect(await answered(object, { text: '{"sum":3}', finishReason })).toMatchObject({
      text: null,
      output: { sum: 3 },
      finishReason,
    });
  });

  test("is a list where a list is wanted", async () => {
    expect((await answered(list, { text: '{"items":["a"]}' })).output).toEqual(["a"]);
    expect((await answered(list, { text: '["a","b"]' })).output).toEqual(["a", "b"]);
  });

  test("is frozen, output and all", async () => {
    const { output } = await answered(list, { text: '["a"]' });
    expect(output).toSatisfy(Object.isFrozen);
  });
});

describe("an answer that is not whole", () => {
  const reasons = [
    ["length", "it was cut off at its length limit; raise maxOutputTokens or ask for less"],
    ["content_filter", "the provider's content filter withheld it; rephrase the task"],
  ] as const;

  test.each(reasons)(
    "for %s is an answer where text is wanted and there is some",
    async (reason) => {
      expect(await answered(text, { text: "Once upon", finishReason: reason })).toMatchObject({
        text: "Once upon",
        finishReason: reason,
      });
    },
  );

  test.each(reasons)("for %s is none where there is no text", async (finishReason, why) => {
    await expect(answered(text, { text: "", finishReason })).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: `The answer is not whole: ${why}`,
      providerPayload: { finishReason, text: "" },
    });
  });

  test.each(reasons)("for %s is none where more than text is wanted", async (finishReason, why) => {
    const said = '{"sum":3}';
    await expect(answered(object, { text: said, finishReason })).rejects.toMatchObject({
      phase: "response",
      message: `The answer is not whole: ${why}`,
      providerPayload: { finishReason, text: said },
      partial: { text: said, turns: 1 },
    });
  });

  test.each([
    ["text", text],
    ["an object", object],
  ])("for an error is none, even where %s is wanted and there", async (_, prompt) => {
    const turn = { text: '{"sum":3}', finishReason: "error" } as const;
    await expect(answered<unknown>(prompt, turn)).rejects.toMatchObject({
      phase: "response",
      message: "The answer is not whole: the provider reported an error",
    });
  });

  test("is not announced as executed", async () => {
    const bus = recordingBus();
    const client = scriptedClient({ text: "", finishReason: "length" });
    await client.evaluate(text, { session: new Session({ bus }) }).catch(() => {});
    expect(bus.types()).toEqual(["PromptRendered", "TurnStarted", "TurnCompleted"]);
  });
});

test("an answer that does not fit fails in phase parse, with what the model wrote", async () => {
  await expect(answered(object, { text: "three" })).rejects.toMatchObject({
    name: "PromptEvaluationError",
    phase: "parse",
    promptName: "demo:k",
    message: "The answer does not fit the output schema: there is no JSON object or list in it",
    providerPayload: "three",
    cause: expect.any(OutputParseError),
    partial: { text: "three" },
  });
  await expect(answered(object, { text: "three" })).rejects.toMatchObject({
    cause: { text: "three" },
  });
  await expect(answered(object, { text: '{"sum":3,"why":1}' })).rejects.toMatchObject({
    phase: "parse",
    message: expect.stringContaining('fields nobody asked for: "why"'),
  });
});

describe("hosted outputs", () => {
  test("are found by tool and by name, the last of each", async () => {
    const { hostedOutputs } = await answered(text, {
      text: "Done.",
      hostedCalls: [
        { name: "python", output: 1 },
        { name: "python", output: 2 },
        { name: "web_search", output: null },
      ],
    });
    expect(hostedOutputs.get(python)).toBe(2);
    expect(hostedOutputs.get("python")).toBe(2);
    expect(hostedOutputs.get(search)).toBeUndefined();
    expect([...hostedOutputs.keys()]).toEqual(["python"]);
  });

  test("come with structured output as well", async () => {
    const { output, hostedOutputs } = await answered(object, {
      text: '{"sum":3}',
      hostedCalls: [{ name: "python", output: 3 }],
    });
    expect([output, hostedOutputs.get(python)]).toEqual([{ sum: 3 }, 3]);
  });
});
