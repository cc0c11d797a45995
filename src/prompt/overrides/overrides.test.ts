// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a template is text with such placeholders
import { createHash } from "node:crypto";
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

/** Creates a store that returns these overrides for every request. */
const createStore = (
  overrides: Overrides | null,
): OverridesStore & { readonly asked: string[] } => {
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

const createPrompt = (overrides: Overrides | null) =>
  new Prompt(template, { overrides: createStore(overrides) }).bind({ topic: "owls" });

describe("the descriptor", () => {
  test("lists all parts that accept overrides, with their current hashes", () => {
    expect(template.descriptor).toEqual({
      ns: "demo",
      key: "k",
      sections: [{ path: "task", number: "1", contentHash: expectedHash }],
      tools: [{ path: "task", name: "add", contractHash: expectedContractHash }],
    });
    expect(expectedHash).toMatch(/^[0-9a-f]{64}$/);
    expect(createPrompt(null).template.descriptor).toBe(template.descriptor);
  });

  test("contains the SHA-256 of the template text", async () => {
    const bytes = new TextEncoder().encode("Write about $topic.");
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    const hex = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    expect(expectedHash).toBe(hex);
  });

  test.each([
    ["description", { description: "Sums." }],
    ["params", { params: z.object({ a: z.number(), b: z.string() }) }],
    ["result", { result: z.object({ total: z.number() }) }],
  ])("changes with a tool's %s", (_, change) => {
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

describe("an override that matches the current prompt", () => {
  test("replaces a section's text, including placeholders", async () => {
    const overrides = { sections: { task: { expectedHash, body: "In short: $topic!" } } };
    const prompt = await createPrompt(overrides).loadOverrides();
    expect(prompt.render().text).toContain("## 1. Task (task)\n\nIn short: owls!");
    expect(prompt.skippedOverrides).toEqual([]);
  });

  test("replaces the descriptions of a tool and its params", async () => {
    const paramDescriptions = { b: "The other." };
    const description = "Adds two numbers up.";
    const overrides = { tools: { add: { expectedContractHash, description, paramDescriptions } } };
    const [told] = (await createPrompt(overrides).loadOverrides()).render().tools;
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

  test("keeps the tool's handler", async () => {
    const overrides = { tools: { add: { expectedContractHash, description: "Sums." } } };
    const model = scriptedClient(
      { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] },
      { text: "3" },
    );
    await model.evaluate(createPrompt(overrides), { session: new Session() });
    expect(model.asked[0]?.rendered.tools[0]?.description).toBe("Sums.");
    expect(model.asked[1]?.answers[0]?.result.value).toEqual({ sum: 3 });
  });
});

test("an override of a section without params is plain text, matched by the hash of that text", async () => {
  const text = "Costs $5 or $$5. Set $HOME.";
  const plain = new MarkdownSection({ key: "plain", title: "Plain", template: text });
  const own = new PromptTemplate({ ns: "demo", key: "p", sections: [plain] });
  const contentHash = own.descriptor.sections[0]?.contentHash ?? "";
  expect(contentHash).toBe(createHash("sha256").update(text).digest("hex"));
  const body = "Now $7, $$7 and ${HOME}.";
  const overrides = { sections: { plain: { expectedHash: contentHash, body } } };
  const prompt = await new Prompt(own, { overrides: createStore(overrides) }).loadOverrides();
  expect(prompt.skippedOverrides).toEqual([]);
  expect(prompt.render().text).toContain(body);
});

test.each(["Zählt 🌱 zusammen.", "Sums.\n\nUse it for:\n- numbers", "x".repeat(4096)])(
  "an override may describe a tool as %j",
  async (description) => {
    const overrides = { tools: { add: { expectedContractHash, description } } };
    const prompt = await createPrompt(overrides).loadOverrides();
    expect(prompt.skippedOverrides).toEqual([]);
    expect(prompt.render().tools[0]?.description).toBe(description);
  },
);

describe("an override is skipped and reported", () => {
  const hash = "0".repeat(64);

  test.each<[string, Overrides, string, string]>([
    [
      "if it was written for another text",
      { sections: { task: { expectedHash: hash, body: "x" } } },
      "section task",
      "it was written for a different text",
    ],
    [
      "if its section does not exist",
      { sections: { nought: { expectedHash: hash, body: "x" } } },
      "section nought",
      "no section with this path",
    ],
    [
      "if its section accepts no overrides",
      { sections: { fixed: { expectedHash: hash, body: "x" } } },
      "section fixed",
      "no section with this path accepts overrides",
    ],
    [
      "if it has a placeholder that is not a param",
      { sections: { task: { expectedHash, body: "$topik" } } },
      "section task",
      'Did you mean "$topic"?',
    ],
    [
      "if it was written for another tool",
      { tools: { add: { expectedContractHash: hash } } },
      "tool add",
      "it was written for a different tool",
    ],
    [
      "if its tool accepts no overrides",
      { tools: { find: { expectedContractHash: hash } } },
      "tool find",
      "no tool with this name accepts overrides",
    ],
    [
      "if its param does not exist",
      { tools: { add: { expectedContractHash, paramDescriptions: { c: "?" } } } },
      "tool add",
      'the tool has no param "c"',
    ],
    [
      "if its description is invalid",
      { tools: { add: { expectedContractHash, description: " \n" } } },
      "tool add",
      "its description must be text of 1-4,096 characters that is not blank",
    ],
  ])("%s", async (_, overrides, of, reason) => {
    const bus = recordingBus();
    const model = scriptedClient({ text: "Done." });
    const prompt = createPrompt(overrides);
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
  test('loads the overrides by prompt and tag, "latest" by default, at each evaluation', async () => {
    const store = createStore(null);
    const model = scriptedClient({ text: "1" }, { text: "2" });
    const bound = new Prompt(template, { overrides: store }).bind({ topic: "owls" });
    await model.evaluate(bound, { session: new Session() });
    await model.evaluate(bound, { session: new Session() });
    await new Prompt(template, { overrides: store, overridesTag: "beta" }).loadOverrides();
    expect(store.asked).toEqual(["demo/k/latest", "demo/k/latest", "demo/k/beta"]);
  });

  test("cannot be rendered before its overrides are loaded", () => {
    expect(() => createPrompt(null).render()).toThrow(PromptValidationError);
    expect(() => createPrompt(null).render()).toThrow("Call await prompt.loadOverrides() first");
  });

  test("shares loaded overrides with prompts bound from it", async () => {
    const overrides = { sections: { task: { expectedHash, body: "Short: $topic" } } };
    const prompt = new Prompt(template, { overrides: createStore(overrides) });
    await prompt.loadOverrides();
    expect(prompt.bind({ topic: "owls" }).render().text).toContain("Short: owls");
  });

  test("ends the evaluation in phase render, before any request, if the store fails", async () => {
    const store = { ...createStore(null), load: () => Promise.reject(new Error("no disk")) };
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
  ])("rejects %j", (options, field) => {
    expect(() => new Prompt(template, options as never)).toThrow(
      expect.objectContaining({ name: "PromptValidationError", field }),
    );
  });
});

test("a prompt without a store loads nothing and renders immediately", async () => {
  const prompt = new Prompt(template).bind({ topic: "owls" });
  expect(await prompt.loadOverrides()).toBe(prompt);
  expect(prompt.skippedOverrides).toEqual([]);
  expect(prompt.render().descriptor).toBe(template.descriptor);
});
