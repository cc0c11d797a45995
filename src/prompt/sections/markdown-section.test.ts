// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a template is text with such placeholders
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError, WinkError } from "../../base/errors.ts";
import { Session } from "../../session/session.ts";
import { webSearchTool } from "../../tools/hosted/web-search.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { Prompt } from "../prompt.ts";
import { Section } from "../section.ts";
import { PromptTemplate } from "../template.ts";
import { MarkdownSection, type MarkdownSectionOptions } from "./markdown-section.ts";

const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null),
});

class Fixed extends Section {
  override render(): string {
    return "Fixed.";
  }
}

class Special extends MarkdownSection {}

describe("MarkdownSection", () => {
  test("renders its template with its params", () => {
    const section = new MarkdownSection({
      key: "task",
      title: "Task",
      template: "\n    Write about $topic.\n    Be brief.\n  ",
      params: z.object({ topic: z.string() }),
    });
    expect(section.render({ topic: "owls" }, 0, "1")).toBe("Write about owls.\nBe brief.");
    expect(section.template).toContain("$topic");
  });

  test.each([
    [
      "a template that is not a string",
      { template: 5 },
      'Section "task" template must be a string, got 5',
    ],
    ["no template", {}, 'Section "task" template must be a string, got undefined'],
    [
      "a stray dollar sign",
      { template: "It costs $5.", params: z.object({}) },
      'Section "task" template must have a name after each $',
    ],
    [
      "a placeholder for params without fields",
      { template: "$topic", params: z.object({}) },
      `Section "task" template must only use placeholders of the section's params, got "$topic". Declare it in the section's params, or write $$ for a dollar sign.`,
    ],
    [
      "a misspelled placeholder",
      { template: "$topik", params: z.object({ topic: z.string() }) },
      'Did you mean "$topic"?',
    ],
    [
      "a placeholder for an optional key of a record",
      { template: "$topic", params: z.record(z.string(), z.string()) },
      "Declare it in the section's params",
    ],
  ])("with %s is rejected", (_, given, message) => {
    const options = { key: "task", title: "Task", ...given } as never;
    const make = () => new MarkdownSection(options);
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(message);
  });

  test.each([
    "It costs $5.",
    "Run echo $HOME and ${PATH:-none}, then kill $$.",
    "$topic",
    "${topic} $",
    "`awk '{ print $1 }'` and US$",
  ])("without params has its text as it was written: %j", (template) => {
    const section = new MarkdownSection({ key: "task", title: "Task", template });
    expect(section.render({}, 0, "1")).toBe(template);
    const look = new Tool({
      name: "look",
      description: "Looks.",
      params: z.object({ topic: z.string() }),
      handler: () => ToolResult.ok(null),
    });
    const withTools = section.clone({ tools: [look] });
    const prompt = new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [withTools] }));
    expect(prompt.render().text).toBe(`## 1. Task (task)\n\n${template}`);
  });

  test("without params has a summary as it was written", () => {
    const about = { key: "task", title: "Task", template: "$HOME", summary: "About $HOME: $5 $$." };
    const section = new MarkdownSection({ ...about, visibility: "summary" });
    expect(section.renderSummary({})).toBe("About $HOME: $5 $$.");
  });

  test("parses dollar signs by its own params, not its parent's or its children's", () => {
    const params = z.object({ topic: z.string() });
    const plain = { title: "Plain", template: "Literal $topic, $5." };
    const filled = { title: "Filled", template: "Filled $topic, $$5.", params };
    const inner = new MarkdownSection({ key: "inner", ...plain });
    const middle = new MarkdownSection({ key: "middle", ...filled, children: [inner] });
    const outer = new MarkdownSection({ key: "outer", ...plain, children: [middle] });
    const template = new PromptTemplate({ ns: "demo", key: "k", sections: [outer] });
    const { text } = new Prompt(template).bind({ topic: "owls" }).render();
    expect(text.split("\n\n").filter((line) => !line.startsWith("#"))).toEqual([
      "Literal $topic, $5.",
      "Filled owls, $5.",
      "Literal $topic, $5.",
    ]);
  });

  test("accepts only its own params, not its children's", () => {
    const child = new MarkdownSection({
      key: "child",
      title: "Child",
      template: "$topic",
      params: z.object({ topic: z.string() }),
    });
    const params = z.object({ words: z.number() });
    const parent = { key: "task", title: "Task", template: "$topic", params, children: [child] };
    expect(() => new MarkdownSection(parent)).toThrow(PromptValidationError);
  });
});

describe("a clone of a MarkdownSection", () => {
  const options = {
    key: "task",
    title: "Task",
    template: "Write about $topic in $language.",
    params: z.object({ topic: z.string(), language: z.string() }),
    defaultParams: { language: "English" },
    tools: [look],
    hostedTools: [webSearchTool()],
    enabled: ({ topic }: { topic: string }) => topic !== "",
  };
  const original = new MarkdownSection(options);
  const text = (section: typeof original, params: { topic: string; language?: string }) =>
    new Prompt(new PromptTemplate({ ns: "demo", key: "k", sections: [section] }))
      .bind(params)
      .render().text;

  test("is another section with the same options", () => {
    const clone = original.clone();
    expect(clone).not.toBe(original);
    expect(clone).toBeInstanceOf(MarkdownSection);
    expect(text(clone, { topic: "owls" })).toBe(text(original, { topic: "owls" }));
    expect(clone.tools()).toEqual([look]);
    expect(clone.hostedTools()).toEqual(original.hostedTools());
    expect(clone.isEnabled({ topic: "" }, new Session())).toBe(false);
  });

  test("has changed options", () => {
    const clone = original.clone({ key: "other", template: "Only $topic.", tools: [] });
    expect(clone).toMatchObject({ key: "other", title: "Task" });
    expect(text(clone, { topic: "owls" })).toBe("## 1. Task (other)\n\nOnly owls.");
    expect(clone.tools()).toEqual([]);
    expect(original.key).toBe("task");
  });

  test("validates changed options", () => {
    expect(() => original.clone({ template: "$words" })).toThrow(PromptValidationError);
  });

  test("clones all descendants", () => {
    const leaf = new MarkdownSection({ key: "leaf", title: "Leaf", template: "" });
    const branch = new MarkdownSection({
      key: "branch",
      title: "B",
      template: "",
      children: [leaf],
    });
    const root = new MarkdownSection({ key: "root", title: "R", template: "", children: [branch] });
    const [copy] = root.clone().children;
    expect(copy).toMatchObject({ key: "branch" });
    expect(copy).not.toBe(branch);
    expect(copy?.children[0]).toMatchObject({ key: "leaf" });
    expect(copy?.children[0]).not.toBe(leaf);
  });

  test("uses other children unchanged and does not clone its own", () => {
    const child: Section = new Fixed({ key: "fixed", title: "Fixed" });
    const root = new MarkdownSection({ key: "root", title: "R", template: "", children: [child] });
    expect(() => root.clone()).toThrow("Fixed cannot be cloned");
    const other = new Fixed({ key: "other", title: "Other" });
    expect(root.clone({ children: [other] }).children).toEqual([other]);
    expect(root.clone({ children: [] }).children).toEqual([]);
  });

  test("uses the original options, even if the caller changed them since", () => {
    const tools = [look];
    const children = [new MarkdownSection({ key: "leaf", title: "Leaf", template: "" })];
    const defaultParams = { language: "English" };
    const given = { ...options, tools, children, defaultParams };
    const section = new MarkdownSection(given);
    tools.pop();
    children.pop();
    defaultParams.language = "Dutch";
    const clone = section.clone();
    expect(clone.tools()).toEqual([look]);
    expect(clone.children).toHaveLength(1);
    expect(clone.defaultParams).toEqual({ language: "English" });
  });

  test("of a subclass must be created by the subclass", () => {
    const special = new Special({ key: "k", title: "K", template: "" });
    expect(() => special.clone()).toThrow(WinkError);
    expect(() => special.clone()).toThrow(
      "Special cannot be cloned. Override clone() to create a Special.",
    );
  });
});

test("a section does not change the options it was created with", () => {
  const given: MarkdownSectionOptions<object, object, never, never> = Object.freeze({
    key: "k",
    title: " K ",
    template: "  text  ",
    tools: Object.freeze([look]),
  });
  expect(new MarkdownSection(given).title).toBe("K");
  expect(given.title).toBe(" K ");
});
