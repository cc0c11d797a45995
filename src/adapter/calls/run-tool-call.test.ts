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

const createPrompt = (...tools: readonly Tool[]) => {
  const task = new MarkdownSection({ key: "task", title: "Task", template: "Work.", tools });
  return new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
};

/** Runs one call and returns the model's answer and the event. */
async function evaluateCall(name: string, args: string | object, ...tools: readonly Tool[]) {
  const bus = recordingBus();
  const client = scriptedClient({ toolCalls: [{ name, arguments: args }] }, { text: "Done." });
  const prompt = createPrompt(...(tools.length > 0 ? tools : [double, look, native]));
  await client.evaluate(prompt, { session: new Session({ bus }) });
  return { answer: client.asked[1]?.answers[0], event: bus.of("ToolInvoked")[0] };
}

const createTool = (handler: () => unknown, more: object = {}) =>
  new Tool({
    name: "work",
    description: "Works.",
    params: null,
    handler: handler as ToolHandler<unknown, unknown>,
    ...more,
  });

describe("a tool call", () => {
  test("passes the parsed arguments to its handler", async () => {
    const { answer, event } = await evaluateCall("double", '{"n":21,"extra":true}');
    expect(answer).toMatchObject({
      text: "Doubled\n\n42 m",
      result: { success: true, value: "42 m" },
    });
    expect(event).toMatchObject({ params: { n: 21, unit: "m" }, renderedOutput: "42 m" });
  });

  test.each([[""], ["  \n "], ["{}"]])("treats %j as empty arguments", async (args) => {
    const { answer, event } = await evaluateCall("look", args);
    expect(answer).toMatchObject({ text: "Looked", result: { success: true } });
    expect(event).toMatchObject({ params: null, result: { value: null } });
  });

  test("supports an asynchronous schema", async () => {
    const slow = new Tool({
      name: "slow",
      description: "Slow.",
      params: z.object({ n: z.number().refine(async (n) => n > 0, "too small") }),
      handler: ({ n }) => ToolResult.ok(n),
    });
    expect((await evaluateCall("slow", { n: 1 }, slow)).answer).toMatchObject({ text: "OK\n\n1" });
    expect((await evaluateCall("slow", { n: 0 }, slow)).answer).toMatchObject({
      text: "The arguments do not fit the tool's parameters: n: too small",
    });
  });
});

describe("a mistake of the model becomes a result with a remedy:", () => {
  test.each([
    [
      "an unknown tool",
      "treble",
      "{}",
      'There is no tool named "treble". Available tools: "double", "look".',
    ],
    [
      "a misspelled tool",
      "doubel",
      "{}",
      'There is no tool named "doubel". Did you mean "double"?',
    ],
    ["a tool that the provider runs", "find", "{}", /^There is no tool named "find"\./],
    [
      "a tool named like a method of Object.prototype",
      "constructor",
      "{}",
      /^There is no tool named/,
    ],
    ["arguments that are not JSON", "double", "{n: 1}", /^The arguments are not JSON: ./],
    ["truncated arguments", "double", '{"n":', /^The arguments are not JSON: ./],
    ["an array", "double", "[1]", "The arguments must be a JSON object, not [1]"],
    ["a number", "double", "1", "The arguments must be a JSON object, not 1"],
    ["null", "double", "null", "The arguments must be a JSON object, not null"],
    [
      "invalid arguments",
      "double",
      '{"n":"x"}',
      /^The arguments do not fit the tool's parameters: n: ./,
    ],
    ["missing arguments", "double", "", /^The arguments do not fit the tool's parameters: n: ./],
    [
      "arguments for a tool without parameters",
      "look",
      '{"at":"owls","why":1}',
      'The tool takes no arguments, but got "at", "why"',
    ],
  ])("%s", async (_, name, args, message) => {
    const { answer, event } = await evaluateCall(name, args);
    const expected = typeof message === "string" ? message : expect.stringMatching(message);
    expect(answer).toMatchObject({
      text: expected,
      result: { success: false, message: expected, value: null },
    });
    expect(event).toMatchObject({
      name,
      params: { rejected: true, given: args, problem: expected },
      result: { success: false, message: expected },
      renderedOutput: "",
    });
    expect(event?.params).toSatisfy(Object.isFrozen);
  });

  test("a provider tool whose handler is not for calls", async () => {
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
    const { answer } = await evaluateCall("python", "{}", python, look);
    expect(answer?.text).toBe('There is no tool named "python". Available tools: "look".');
    expect(asked).toBe(0);
  });

  test("a call in a prompt without tools", async () => {
    const client = scriptedClient({ toolCalls: [{ name: "look" }] }, { text: "Done." });
    const task = new MarkdownSection({ key: "task", title: "Task", template: "Work." });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [task] }));
    await client.evaluate(prompt, { session: new Session() });
    expect(client.asked[1]?.answers[0]?.text).toBe(
      'There is no tool named "look". No tools are available.',
    );
  });

  test("arguments on which the schema throws", async () => {
    const fragile = new Tool({
      name: "fragile",
      description: "Fragile.",
      params: z.object({ n: z.number() }).transform(() => {
        throw new Error("schema broke");
      }),
      handler: () => ToolResult.ok(null),
    });
    const { answer } = await evaluateCall("fragile", { n: 1 }, fragile);
    expect(answer?.text).toBe("The arguments do not fit the tool's parameters: schema broke");
  });
});

describe("a handler's failure becomes a result:", () => {
  test("a failed result", async () => {
    const { answer } = await evaluateCall(
      "work",
      "",
      createTool(() => ToolResult.error("No such owl.", { id: 1 })),
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
      "a string thrown",
      () => {
        throw "broken";
      },
      'Tool "work" failed: "broken"',
    ],
  ])("%s", async (_, handler, message) => {
    const { answer, event } = await evaluateCall("work", "", createTool(handler));
    expect(answer).toMatchObject({
      text: message,
      result: { success: false, message, value: null },
    });
    expect(event).toMatchObject({ params: null, result: { success: false, message } });
  });

  test.each([
    ["undefined", () => undefined, "undefined"],
    ["a string", () => "done", '"done"'],
    ["a promise of a string", async () => "done", '"done"'],
    ["an object that is not a result", () => ({ success: true }), '{"success":true}'],
    [
      "a result without a value",
      () => ({ success: true, message: "OK" }),
      '{"success":true,"message":"OK"}',
    ],
  ])("%s instead of a result", async (_, handler, shown) => {
    const { answer } = await evaluateCall("work", "", createTool(handler));
    expect(answer?.result).toEqual(
      ToolResult.error(
        `Tool "work" returned ${shown} instead of a tool result. Its handler must return ToolResult.ok(…) or ToolResult.error(…).`,
      ),
    );
  });
});

test("a handler's own error is reported even if its resources then fail to close", async () => {
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
  for (const [fails, expectedText] of [
    [true, 'Tool "work" failed: broken'],
    [false, 'Tool "work" failed: Resource "file" failed to close: still open'],
  ] as const) {
    const client = scriptedClient({ toolCalls: [{ name: "work" }] }, { text: "Done." });
    const options = { session: new Session(), resources: registry };
    await client.evaluate(createPrompt(work(fails)), options);
    expect(client.asked[1]?.answers[0]?.text).toBe(expectedText);
  }
});

describe("the model reads", () => {
  test("only the message if the value is excluded from the context", async () => {
    const secret = createTool(() => ({
      ...ToolResult.ok("secret", "Kept"),
      excludeValueFromContext: true,
    }));
    const { answer, event } = await evaluateCall("work", "", secret);
    expect(answer?.text).toBe("Kept");
    expect(event).toMatchObject({ renderedOutput: "secret", result: { value: "secret" } });
  });

  test("the value as the tool renders it", async () => {
    const shouting = createTool(() => ToolResult.ok("hoo", ""), {
      render: (value: string) => value.toUpperCase(),
    });
    expect((await evaluateCall("work", "", shouting)).answer?.text).toBe("HOO");
  });
});
