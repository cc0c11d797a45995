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

const evaluateAnswer = <Output>(prompt: Prompt<Output>, turn: ScriptedTurn) =>
  scriptedClient(turn).evaluate(prompt, { session: new Session() });

describe("a complete answer", () => {
  test.each<FinishReason>(["stop", "tool_calls"])(
    "with the finish reason %s is accepted",
    async (finishReason) => {
      expect(await evaluateAnswer(text, { text: "Done.", finishReason })).toMatchObject({
        text: "Done.",
        output: "Done.",
        finishReason,
      });
      expect(await evaluateAnswer(object, { text: '{"sum":3}', finishReason })).toMatchObject({
        text: '{"sum":3}',
        output: { sum: 3 },
        finishReason,
      });
    },
  );

  test("is parsed as an array if the output schema is one", async () => {
    expect((await evaluateAnswer(list, { text: '{"items":["a"]}' })).output).toEqual(["a"]);
    expect((await evaluateAnswer(list, { text: '["a","b"]' })).output).toEqual(["a", "b"]);
  });

  test.each([
    ["an object", object, '{ "sum": 3 }'],
    ["an object within prose", object, 'It is {"sum":3}.'],
    ["a list", list, '{"items":["a"]}'],
    ["text", text, "Three."],
  ])("has the text as the model wrote it if the output is %s", async (_, prompt, written) => {
    const bus = recordingBus();
    const client = scriptedClient({ text: written });
    const response = await client.evaluate<unknown>(prompt, { session: new Session({ bus }) });
    expect(response.text).toBe(written);
    expect(bus.of("PromptExecuted")[0]?.text).toBe(written);
    expect(bus.of("TurnCompleted")[0]?.text).toBe(written);
  });

  test("has an empty text if the model wrote nothing", async () => {
    const hostedCalls = [{ name: "python", output: 1 }];
    expect((await evaluateAnswer(text, { text: "", hostedCalls })).text).toBe("");
  });

  test("is serialized to JSON with its hosted outputs", async () => {
    const hostedCalls = [{ name: "python", output: { sum: 3 } }];
    const response = await evaluateAnswer(object, { text: '{"sum":3}', hostedCalls });
    expect(JSON.parse(JSON.stringify(response))).toMatchObject({
      text: '{"sum":3}',
      output: { sum: 3 },
      hostedOutputs: { python: { sum: 3 } },
      hostedCalls: [{ name: "python", output: { sum: 3 } }],
    });
  });

  test("is frozen, including the output", async () => {
    const { output } = await evaluateAnswer(list, { text: '["a"]' });
    expect(output).toSatisfy(Object.isFrozen);
  });
});

describe("an incomplete answer", () => {
  const reasons = [
    ["length", "it reached the output token limit. Raise maxOutputTokens or request less output."],
    ["content_filter", "the provider's content filter blocked it. Rephrase the task."],
  ] as const;

  test.each(reasons)(
    "because of %s is accepted if plain text is expected and there is some",
    async (reason) => {
      expect(await evaluateAnswer(text, { text: "Once upon", finishReason: reason })).toMatchObject(
        {
          text: "Once upon",
          finishReason: reason,
        },
      );
    },
  );

  test.each(reasons)("because of %s is rejected without text", async (finishReason, why) => {
    await expect(evaluateAnswer(text, { text: "", finishReason })).rejects.toMatchObject({
      name: "PromptEvaluationError",
      phase: "response",
      message: `The answer is incomplete: ${why}`,
      providerPayload: { finishReason, text: "" },
    });
  });

  test.each(reasons)(
    "because of %s is rejected if a structured output is expected",
    async (finishReason, why) => {
      const answerText = '{"sum":3}';
      await expect(
        evaluateAnswer(object, { text: answerText, finishReason }),
      ).rejects.toMatchObject({
        phase: "response",
        message: `The answer is incomplete: ${why}`,
        providerPayload: { finishReason, text: answerText },
        partial: { text: answerText, turns: 1 },
      });
    },
  );

  test.each([
    ["text", text],
    ["an object", object],
  ])("because of an error is rejected even if %s is expected and present", async (_, prompt) => {
    const turn = { text: '{"sum":3}', finishReason: "error" } as const;
    await expect(evaluateAnswer<unknown>(prompt, turn)).rejects.toMatchObject({
      phase: "response",
      message: "The answer is incomplete: the provider reported an error.",
    });
  });

  test("publishes PromptFailed in place of PromptExecuted", async () => {
    const bus = recordingBus();
    const client = scriptedClient({ text: "", finishReason: "length" });
    await client.evaluate(text, { session: new Session({ bus }) }).catch(() => {});
    expect(bus.types()).toEqual(["PromptRendered", "TurnStarted", "TurnCompleted", "PromptFailed"]);
  });
});

test("an answer that does not match the schema fails in phase parse, with the model's text", async () => {
  await expect(evaluateAnswer(object, { text: "three" })).rejects.toMatchObject({
    name: "PromptEvaluationError",
    phase: "parse",
    promptName: "demo:k",
    message: "The answer does not match the output schema: it contains no JSON object or list",
    providerPayload: "three",
    cause: expect.any(OutputParseError),
    partial: { text: "three" },
  });
  await expect(evaluateAnswer(object, { text: "three" })).rejects.toMatchObject({
    cause: { text: "three" },
  });
  await expect(evaluateAnswer(object, { text: '{"sum":3,"why":1}' })).rejects.toMatchObject({
    phase: "parse",
    message: expect.stringContaining('it has undeclared fields: "why"'),
  });
});

describe("hosted outputs", () => {
  test("are found by tool and by name, the last of each", async () => {
    const { hostedOutputs } = await evaluateAnswer(text, {
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

  test("have the lists of all calls, over several turns", async () => {
    const client = scriptedClient(
      {
        continues: true,
        hostedCalls: [
          { name: "python", output: { last: 1, all: [{ id: 1 }] } },
          { name: "python", output: { last: 2, all: [{ id: 2 }] } },
        ],
      },
      { text: "Done.", hostedCalls: [{ name: "python", output: { last: 3, all: [{ id: 3 }] } }] },
    );
    const { hostedOutputs } = await client.evaluate(text, { session: new Session() });
    expect(hostedOutputs.get("python")).toEqual({
      last: 3,
      all: [{ id: 1 }, { id: 2 }, { id: 3 }],
    });
  });

  test("are available with structured output", async () => {
    const { output, hostedOutputs } = await evaluateAnswer(object, {
      text: '{"sum":3}',
      hostedCalls: [{ name: "python", output: 3 }],
    });
    expect([output, hostedOutputs.get(python)]).toEqual([{ sum: 3 }, 3]);
  });
});
