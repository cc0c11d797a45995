import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Prompt } from "../../prompt/prompt.ts";
import { MarkdownSection } from "../../prompt/sections/markdown-section.ts";
import { PromptTemplate } from "../../prompt/template.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { ProviderTool } from "../../tools/provider-tool.ts";
import { ResourceRegistry, resource } from "../../tools/resources.ts";
import { Tool } from "../../tools/tool.ts";
import type { ToolHandler } from "../../tools/tool-context.ts";
import { ToolResult } from "../../tools/tool-result.ts";

const double = new Tool({
  name: "double",
  description: "Doubles a number.",
  params: z.object({ n: z.number(), unit: z.string().default("m") }),
  handler: ({ n, unit }) => ToolResult.ok(`${n * 2} ${unit}`, "Doubled"),
});
const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: (params) => ToolResult.ok(params, "Looked"),
});
const native = new NativeTool({
  name: "find",
  description: "Finds.",
  params: z.object({}),
  result: z.object({}),
});

const promptWith = (...tools: readonly Tool[]) => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
  return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
};

/** What one call comes to: what the model reads, and the event. */
async function called(name: string, args: string | object, ...tools: readonly Tool[]) {
  const bus = recordingBus();
  const client = scriptedClient({ toolCalls: [{ name, arguments: args }] }, { text: "Done." });
  const prompt = promptWith(...(tools.length > 0 ? tools : [double, look, native]));
  await client.evaluate(prompt, { session: new Session({ bus }) });
  return { answer: client.asked[1]?.answers[0], event: bus.of("ToolInvoked")[0] };
}

const toolWith = (handler: () => unknown, more: object = {}) =>
  new Tool({
    name: "work",
    description: "Works.",
    params: null,
    handler: handler as ToolHandler<unknown, unknown>,
    ...more,
  });

describe("a call", () => {
  test("gives its handler what its schema makes of the arguments", async () => {
    const { answer, event } = await called("double", '{"n":21,"extra":true}');
    expect(answer).toMatchObject({
      text: "Doubled\n\n42 m",
      result: { success: true, value: "42 m" },
    });
    expect(event).toMatchObject({ params: { n: 21, unit: "m" }, renderedOutput: "42 m" });
  });

  test.each([[""], ["  \n "], ["{}"]])("with %j for arguments has none", async (args) => {
    const { answer, event } = await called("look", args);
    expect(answer).toMatchObject({ text: "Looked", result: { success: true } });
    expect(event).toMatchObject({ params: null, result: { value: null } });
  });

  test("may be validated by a schema that takes its time", async () => {
    const slow = new Tool({
      name: "slow",
      description: "Slow.",
      params: z.object({ n: z.number().refine(async (n) => n > 0, "too small") }),
      handler: ({ n }) => ToolResult.ok(n),
    });
    expect((await called("slow", { n: 1 }, slow)).answer).toMatchObject({ text: "OK\n\n1" });
    expect((await called("slow", { n: 0 }, slow)).answer).toMatchObject({
      text: "The arguments do not fit: n: too small",
    });
  });
});

describe("a model's mistake is a result that says what to do instead:", () => {
  test.each([
    [
      "a tool nobody has",
      "treble",
      "{}",
      'There is no tool named "treble". There are "double", "look".',
    ],
    [
      "a misspelled tool",
      "doubel",
      "{}",
      'There is no tool named "doubel". Did you mean "double"?',
    ],
    ["a tool that the provider runs", "find", "{}", /^There is no tool named "find"\./],
    ["a tool called like a method of every object", "constructor", "{}", /^There is no tool named/],
    ["arguments that are not JSON", "double", "{n: 1}", /^The arguments are not JSON: ./],
    ["arguments that are cut off", "double", '{"n":', /^The arguments are not JSON: ./],
    ["a list", "double", "[1]", "The arguments must be a JSON object, not [1]"],
    ["a number", "double", "1", "The arguments must be a JSON object, not 1"],
    ["null", "double", "null", "The arguments must be a JSON object, not null"],
    ["arguments that do not fit", "double", '{"n":"x"}', /^The arguments do not fit: n: ./],
    ["arguments that are missing", "double", "", /^The arguments do not fit: n: ./],
    [
      "arguments for a tool that takes none",
      "look",
      '{"at":"owls","why":1}',
      'The tool takes no arguments, and was given "at", "why"',
    ],
  ])("%s", async (_, name, args, message) => {
    const { answer, event } = await called(name, args);
    const said = typeof message === "string" ? message : expect.stringMatching(message);
    expect(answer).toMatchObject({
      text: said,
      result: { success: false, message: said, value: null },
    });
    expect(event).toMatchObject({
      name,
      params: { rejected: true, given: args, problem: said },
      result: { success: false, message: said },
      renderedOutput: "",
    });
    expect(event?.params).toSatisfy(Object.isFrozen);
  });

  test("a tool of the provider that has a handler, which is not for calls", async () => {
    let asked = 0;
    const python = new ProviderTool({
      provider: "scripted",
      kind: "code_interpreter",
      name: "python",
      description: "Runs Python.",
      params: null,
      config: {},
      handler: () => ToolResult.ok(asked++),
    });
    const { answer } = await called("python", "{}", python, look);
    expect(answer?.text).toBe('There is no tool named "python". There are "look".');
    expect(asked).toBe(0);
  });

  test("a tool where there are none", async () => {
    const client = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Done." });
    const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
    await client.evaluate(prompt, { session: new Session() });
    expect(client.asked[1]?.answers[0]?.text).toBe(
      'There is no tool named "look". There are none.',
    );
  });

  test("arguments on which the schema itself breaks", async () => {
    const fragile = new Tool({
      name: "fragile",
      description: "Fragile.",
      params: z.object({ n: z.number() }).transform(() => {
        throw new Error("schema broke");
      }),
      handler: () => ToolResult.ok(null),
    });
    const { answer } = await called("fragile", { n: 1 }, fragile);
    expect(answer?.text).toBe("The arguments do not fit: schema broke");
  });
});

describe("a handler's failure is a result too:", () => {
  test("a failed result", async () => {
    const { answer } = await called(
      "work",
      "",
      toolWith(() => ToolResult.error("No such owl.", { id: 1 })),
    );
    expect(answer).toMatchObject({
      text: 'No such owl.\n\n{"id":1}',
      result: { success: false, value: { id: 1 } },
    });
  });

  test.each([
    [
      "an error thrown",
      () => {
        throw new Error("broken");
      },
      'Tool "work" failed: broken',
    ],
    [
      "a rejection",
      async () => Promise.reject(new Error("broken later")),
      'Tool "work" failed: broken later',
    ],
    [
      "something else thrown",
      () => {
        throw "broken";
      },
      'Tool "work" failed: "broken"',
    ],
  ])("%s", async (_, handler, message) => {
    const { answer, event } = await called("work", "", toolWith(handler));
    expect(answer).toMatchObject({
      text: message,
      result: { success: false, message, value: null },
    });
    expect(event).toMatchObject({ params: null, result: { success: false, message } });
  });

  test.each([
    ["nothing", () => undefined, "undefined"],
    ["text", () => "done", '"done"'],
    ["a promise of text", async () => "done", '"done"'],
    ["an object that is no result", () => ({ success: true }), '{"success":true}'],
    [
      "a result without a value",
      () => ({ success: true, message: "OK" }),
      '{"success":true,"message":"OK"}',
    ],
  ])("%s in place of a result", async (_, handler, shown) => {
    const { answer } = await called("work", "", toolWith(handler));
    expect(answer?.result).toEqual(
      ToolResult.error(
        `Tool "work" returned ${shown} and no result: its handler must return ToolResult.ok(…) or ToolResult.error(…)`,
      ),
    );
  });
});

test("a handler's own failure is told, even if its resources then fail to close", async () => {
  const key = resource<Disposable>("file");
  const close = () => {
    throw new Error("still open");
  };
  const registry = new ResourceRegistry().bind(key, () => ({ [Symbol.dispose]: close }), {
    scope: "tool",
  });
  const work = (fails: boolean) =>
    new Tool({
      name: "work",
      description: "Works.",
      params: null,
      handler: (_params, { resources }) => {
        resources.get(key);
        if (fails) throw new Error("broken");
        return ToolResult.ok(1);
      },
    });
  for (const [fails, told] of [
    [true, 'Tool "work" failed: broken'],
    [false, 'Tool "work" failed: Resource "file" failed to close: still open'],
  ] as const) {
    const client = scriptedClient({ toolCalls: [{ name: "work" }] }, { text: "Done." });
    const options = { session: new Session(), resources: registry };
    await client.evaluate(promptWith(work(fails)), options);
    expect(client.asked[1]?.answers[0]?.text).toBe(told);
  }
});

describe("the model reads", () => {
  test("the message alone where the value is kept from it", async () => {
    const secret = toolWith(() => ({
      ...ToolResult.ok("secret", "Kept"),
      excludeValueFromContext: true,
    }));
    const { answer, event } = await called("work", "", secret);
    expect(answer?.text).toBe("Kept");
    expect(event).toMatchObject({ renderedOutput: "secret", result: { value: "secret" } });
  });

  test("the value as the tool renders it", async () => {
    const shouting = toolWith(() => ToolResult.ok("hoo", ""), {
      render: (value: string) => value.toUpperCase(),
    });
    expect((await called("work", "", shouting)).answer?.text).toBe("HOO");
  });
});
