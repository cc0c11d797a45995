import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { recordingBus } from "../../testing/recording-bus.ts";
import { scriptedClient } from "../../testing/scripted-client.ts";
import { NativeTool } from "../../tools/native-tool.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { Prompt } from "../prompt.ts";
import { MarkdownSection } from "../sections/markdown-section.ts";
import { PromptTemplate } from "../template.ts";
import type { Overrides, OverridesStore } from "./overrides.ts";

const add = new Tool({
  name: "add",
  description: "Adds.",
  params: z.object({ a: z.number().describe("One."), b: z.number() }),
  result: z.object({ sum: z.number() }),
  handler: ({ a, b }) => ToolResult.ok({ sum: a + b }),
});
const native = new NativeTool({
  name: "find",
  description: "Finds.",
  params: z.object({}),
  result: z.object({}),
});
const task = new MarkdownSection({
  key: "task",
  title: "Task",
  template: "Write about $topic.",
  params: z.object({ topic: z.string() }),
  tools: [add, native],
});
const fixed = new MarkdownSection({
  key: "fixed",
  title: "Fixed",
  template: "As it is.",
  acceptsOverrides: false,
});
const template = new PromptTemplate({ ns: "demo", key: "k", sections: [task, fixed] });
const [section] = template.descriptor.sections;
const [tool] = template.descriptor.tools;
const expectedHash = section?.contentHash ?? "";
const expectedContractHash = tool?.contractHash ?? "";

/** A store that has these overrides, whatever is asked for. */
const storeOf = (overrides: Overrides | null): OverridesStore & { readonly asked: string[] } => {
  const asked: string[] = [];
  return {
    asked,
    load: async ({ ns, key }, tag) => {
      asked.push(`${ns}/${key}/${tag}`);
      return overrides;
    },
    save: async () => {},
  };
};

const promptWith = (overrides: Overrides | null) =>
  new Prompt(template, { overrides: storeOf(overrides) }).bind({ topic: "owls" });

describe("the descriptor", () => {
  test("names what accepts overrides, each with a hash of what it is now", () => {
    expect(template.descriptor).toEqual({
      ns: "demo",
      key: "k",
      sections: [{ path: "task", number: "1", contentHash: expectedHash }],
      tools: [{ path: "task", name: "add", contractHash: expectedContractHash }],
    });
    expect(expectedHash).toMatch(/^[0-9a-f]{64}$/);
    expect(promptWith(null).template.descriptor).toBe(template.descriptor);
  });

  test("has SHA-256 of the template as it was written", async () => {
    const bytes = new TextEncoder().encode("Write about $topic.");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    expect(expectedHash).toBe(hex);
  });

  test.each([
    ["description", { description: "Sums." }],
    ["params", { params: z.object({ a: z.number(), b: z.string() }) }],
    ["result", { result: z.object({ total: z.number() }) }],
  ])("tells a tool of another %s apart", (_, change) => {
    const { name, description, params, result } = add;
    const other = new Tool({
      name,
      description,
      params,
      result,
      handler: null,
      ...(change as object),
    });
    const sections = [
      new MarkdownSection({ key: "task", title: "T", template: "", tools: [other] }),
    ];
    const [described] = new PromptTemplate({ ns: "a", key: "b", sections }).descriptor.tools;
    expect(described?.contractHash).not.toBe(expectedContractHash);
  });
});

describe("an override that was written for the prompt as it is", () => {
  test("stands in for a section's text, with its placeholders", async () => {
    const overrides = { sections: { task: { expectedHash, body: "In short: $topic!" } } };
    const prompt = await promptWith(overrides).loadOverrides();
    expect(prompt.render().text).toContain("## 1. Task (task)\n\nIn short: owls!");
    expect(prompt.skippedOverrides).toEqual([]);
  });

  test("stands in for a tool's description and those of its params", async () => {
    const paramDescriptions = { b: "The other." };
    const description = "Adds two numbers up.";
    const overrides = { tools: { add: { expectedContractHash, description, paramDescriptions } } };
    const [told] = (await promptWith(overrides).loadOverrides()).render().tools;
    expect(told).toBeInstanceOf(Tool);
    expect(told).toMatchObject({ name: "add", description });
    expect(told?.paramsSchema).toMatchObject({
      properties: { a: { description: "One." }, b: { type: "number", description: "The other." } },
      required: ["a", "b"],
    });
    expect(add.description).toBe("Adds.");
    expect(add.paramsSchema).not.toMatchObject({
      properties: { b: { description: "The other." } },
    });
  });

  test("still runs the same handler", async () => {
    const overrides = { tools: { add: { expectedContractHash, description: "Sums." } } };
    const model = scriptedClient(
      { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
      { text: "3" },
    );
    await model.evaluate(promptWith(overrides), { session: new Session() });
    expect(model.asked[0]?.rendered.tools[0]?.description).toBe("Sums.");
    expect(model.asked[1]?.answers[0]?.result.value).toEqual({ sum: 3 });
  });
});

describe("an override is told and not applied", () => {
  const hash = "0".repeat(64);

  test.each<[string, Overrides, string, string]>([
    [
      "that was written for another text",
      { sections: { task: { expectedHash: hash, body: "x" } } },
      "section task",
      "it was written for another text",
    ],
    [
      "of a section that is not there",
      { sections: { nought: { expectedHash: hash, body: "x" } } },
      "section nought",
      "there is no such section",
    ],
    [
      "of a section that accepts none",
      { sections: { fixed: { expectedHash: hash, body: "x" } } },
      "section fixed",
      "there is no such section that accepts overrides",
    ],
    [
      "with a placeholder that is no param",
      { sections: { task: { expectedHash, body: "$topik" } } },
      "section task",
      'did you mean "$topic"?',
    ],
    [
      "of another tool",
      { tools: { add: { expectedContractHash: hash } } },
      "tool add",
      "it was written for another tool",
    ],
    [
      "of a tool that accepts none",
      { tools: { find: { expectedContractHash: hash } } },
      "tool find",
      "there is no such tool that accepts overrides",
    ],
    [
      "of a param that is not there",
      { tools: { add: { expectedContractHash, paramDescriptions: { c: "?" } } } },
      "tool add",
      'the tool has no param "c"',
    ],
    [
      "with a description no tool may have",
      { tools: { add: { expectedContractHash, description: "Ä" } } },
      "tool add",
      "1-200 printable ASCII",
    ],
  ])("%s", async (_, overrides, of, reason) => {
    const bus = recordingBus();
    const model = scriptedClient({ text: "Done." });
    const prompt = promptWith(overrides);
    await model.evaluate(prompt, { session: new Session({ bus }) });
    expect(prompt.skippedOverrides).toEqual([{ of, reason: expect.stringContaining(reason) }]);
    expect(bus.of("OverrideSkipped")).toEqual([
      expect.objectContaining({ of, reason: expect.stringContaining(reason) }),
    ]);
    expect(model.asked[0]?.rendered.text).toContain("Write about owls.");
    expect(model.asked[0]?.rendered.tools[0]).toBe(add);
  });
});

describe("a prompt with a store", () => {
  test("asks it for the prompt and the tag, latest unless said, at each evaluation", async () => {
    const store = storeOf(null);
    const model = scriptedClient({ text: "1" }, { text: "2" });
    const bound = new Prompt(template, { overrides: store }).bind({ topic: "owls" });
    await model.evaluate(bound, { session: new Session() });
    await model.evaluate(bound, { session: new Session() });
    await new Prompt(template, { overrides: store, overridesTag: "beta" }).loadOverrides();
    expect(store.asked).toEqual(["demo/k/latest", "demo/k/latest", "demo/k/beta"]);
  });

  test("cannot be rendered before it was asked", () => {
    expect(() => promptWith(null).render()).toThrow(PromptValidationError);
    expect(() => promptWith(null).render()).toThrow("await prompt.loadOverrides() first");
  });

  test("shares what was loaded with the prompts bound from it", async () => {
    const overrides = { sections: { task: { expectedHash, body: "Short: $topic" } } };
    const prompt = new Prompt(template, { overrides: storeOf(overrides) });
    await prompt.loadOverrides();
    expect(prompt.bind({ topic: "owls" }).render().text).toContain("Short: owls");
  });

  test("that fails ends the evaluation in phase render, with nothing sent", async () => {
    const store = { ...storeOf(null), load: () => Promise.reject(new Error("no disk")) };
    const model = scriptedClient({ text: "never" });
    const prompt = new Prompt(template, { overrides: store }).bind({ topic: "owls" });
    await expect(model.evaluate(prompt, { session: new Session() })).rejects.toMatchObject({
      phase: "render",
      message: "The overrides could not be loaded: no disk",
    });
    expect(model.asked).toEqual([]);
  });

  test.each([
    [{ overrides: {} }, "Prompt overrides"],
    [{ overrides: null }, "Prompt overrides"],
    [{ overridesTag: "../x" }, "Prompt overridesTag"],
  ])("refuses %j", (options, field) => {
    expect(() => new Prompt(template, options as never)).toThrow(
      expect.objectContaining({ name: "PromptValidationError", field }),
    );
  });
});

test("a prompt without a store loads nothing and renders at once", async () => {
  const prompt = new Prompt(template).bind({ topic: "owls" });
  expect(await prompt.loadOverrides()).toBe(prompt);
  expect(prompt.skippedOverrides).toEqual([]);
  expect(prompt.render().descriptor).toBe(template.descriptor);
});
