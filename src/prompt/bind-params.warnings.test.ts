import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { definePrompt } from "./define-prompt.ts";
import { Prompt } from "./prompt.ts";
import { Section } from "./section.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const warnings: string[] = [];
const onWarning = (warning: Error) => {
  if (warning.name === "WinkWarning") warnings.push(warning.message);
};
beforeEach(() => void process.on("warning", onWarning));
afterEach(() => {
  process.off("warning", onWarning);
  warnings.length = 0;
});
/** Node delivers warnings in the next tick. */
const listWarnings = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  return [...warnings];
};

const params = z.object({ text: z.unknown(), short: z.string().default("") });
const createPrompt = (key: string, role: "system" | "user", template = "Read $text") =>
  new Prompt(
    new PromptTemplate({
      ns: "warn",
      key,
      sections: [new MarkdownSection({ key: "task", title: "Task", template, params, role })],
    }),
  );

describe("bind() of a long text warns", () => {
  test("for a system section, with the prompt, section, param and length", async () => {
    createPrompt("system", "system").bind({ text: "x".repeat(20_001) });
    expect(await listWarnings()).toEqual([
      'Prompt "warn:system" binds 20001 characters to the param "text" of the system section "task". ' +
        'Use a section with role "user" or the input of evaluate() for text that is not part of the ' +
        "instructions, above all for text that you do not trust.",
    ]);
  });

  test("once for each prompt, section and param", async () => {
    const prompt = createPrompt("once", "system");
    for (const _time of [1, 2, 3]) prompt.bind({ text: "x".repeat(30_000) });
    createPrompt("once", "system").bind({ text: "y".repeat(30_000) });
    createPrompt("twice", "system").bind({ text: "y".repeat(30_000) });
    expect(await listWarnings()).toMatchObject([
      expect.stringContaining('"warn:once"'),
      expect.stringContaining('"warn:twice"'),
    ]);
  });

  test("for data that is inserted as JSON", async () => {
    createPrompt("json", "system").bind({ text: Array(10_000).fill("x") });
    expect(await listWarnings()).toMatchObject([expect.stringContaining("binds 40001 characters")]);
  });

  test("for a section of another class that declares the param", async () => {
    class Quote extends Section<{ readonly text: string }> {
      constructor() {
        super({ key: "quote", title: "Quote", params: z.object({ text: z.string() }) });
      }
      override render({ text }: { readonly text: string }): string {
        return `> ${text}`;
      }
    }
    const template = new PromptTemplate({ ns: "warn", key: "own", sections: [new Quote()] });
    new Prompt(template).bind({ text: "x".repeat(20_001) });
    expect(await listWarnings()).toMatchObject([expect.stringContaining('section "quote"')]);
  });

  test("for a child of a system section", async () => {
    const child = new MarkdownSection({ key: "c", title: "C", template: "$text", params });
    const top = new MarkdownSection({ key: "t", title: "T", template: "", children: [child] });
    const template = new PromptTemplate({ ns: "warn", key: "child", sections: [top] });
    new Prompt(template).bind({ text: "x".repeat(20_001) });
    expect(await listWarnings()).toMatchObject([expect.stringContaining('section "t.c"')]);
  });
});

describe("bind() does not warn", () => {
  test.each([
    ["for 20,000 characters", "system", "Read $text", "x".repeat(20_000)],
    ["for a user section", "user", "Read $text", "x".repeat(50_000)],
    ["for a param that the section does not use", "system", "Read $short", "x".repeat(50_000)],
    ["for a number", "system", "Read $text", 7],
    ["for null", "system", "Read $text", null],
    ["for short data", "system", "Read $text", { a: 1 }],
  ] as const)("%s", async (title, role, template, text) => {
    createPrompt(title.replaceAll(/\W/g, "_").toLowerCase(), role, template).bind({ text });
    expect(await listWarnings()).toEqual([]);
  });

  test("for a long param of a user template", async () => {
    const agent = definePrompt({
      name: "warn:define",
      instructions: "Summarize.",
      userTemplate: "$text",
      params,
    });
    agent.bind({ text: "x".repeat(50_000) });
    expect(await listWarnings()).toEqual([]);
  });
});
