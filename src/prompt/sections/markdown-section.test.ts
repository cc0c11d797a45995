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

describe("a markdown section", () => {
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
    ["a template that is no text", { template: 5 }, 'Section "task" template must be text, got 5'],
    ["no template", {}, 'Section "task" template must be text, got undefined'],
    [
      "a stray dollar",
      { template: "It costs $5." },
      'Section "task" template must have a name after each $',
    ],
    [
      "a placeholder and no params",
      { template: "$topic" },
      `Section "task" template must only name fields of the section's params, got "$topic". The section declares none`,
    ],
    [
      "a misspelled placeholder",
      { template: "$topik", params: z.object({ topic: z.string() }) },
      'did you mean "$topic"?',
    ],
    [
      "a placeholder for what a record may or may not have",
      { template: "$topic", params: z.record(z.string(), z.string()) },
      "the section declares none",
    ],
  ])("with %s is refused", (_, given, message) => {
    const options = { key: "task", title: "Task", ...given } as never;
    const make = () => new MarkdownSection(options);
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(message);
  });

  test("only knows the fields of its own params, not those of its children", () => {
    const child = new MarkdownSection({
      key: "child",
      title: "Child",
      template: "$topic",
      params: z.object({ topic: z.string() }),
    });
    const make = () =>
      new MarkdownSection({ key: "task", title: "Task", template: "$topic", children: [child] });
    expect(make).toThrow(PromptValidationError);
  });
});

describe("a clone of a markdown section", () => {
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

  test("is another section like it", () => {
    const clone = original.clone();
    expect(clone).not.toBe(original);
    expect(clone).toBeInstanceOf(MarkdownSection);
    expect(text(clone, { topic: "owls" })).toBe(text(original, { topic: "owls" }));
    expect(clone.tools()).toEqual([look]);
    expect(clone.hostedTools()).toEqual(original.hostedTools());
    expect(clone.isEnabled({ topic: "" }, new Session())).toBe(false);
  });

  test("has other options where they are given", () => {
    const clone = original.clone({ key: "other", template: "Only $topic.", tools: [] });
    expect(clone).toMatchObject({ key: "other", title: "Task" });
    expect(text(clone, { topic: "owls" })).toBe("## 1. Task (other)\n\nOnly owls.");
    expect(clone.tools()).toEqual([]);
    expect(original.key).toBe("task");
  });

  test("checks the options it is given", () => {
    expect(() => original.clone({ template: "$words" })).toThrow(PromptValidationError);
  });

  test("has clones of its children, all the way down", () => {
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

  test("takes other children as they are, and then need not clone its own", () => {
    const child: Section = new Fixed({ key: "fixed", title: "Fixed" });
    const root = new MarkdownSection({ key: "root", title: "R", template: "", children: [child] });
    expect(() => root.clone()).toThrow("Fixed cannot be cloned");
    const other = new Fixed({ key: "other", title: "Other" });
    expect(root.clone({ children: [other] }).children).toEqual([other]);
    expect(root.clone({ children: [] }).children).toEqual([]);
  });

  test("is of what was given, not of what became of it since", () => {
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

  test("of a subclass is for the subclass to make", () => {
    const special = new Special({ key: "k", title: "K", template: "" });
    expect(() => special.clone()).toThrow(WinkError);
    expect(() => special.clone()).toThrow(
      "Special cannot be cloned: override clone() to say how a Special is made",
    );
  });
});

test("the options a section was made with are not changed", () => {
  const given: MarkdownSectionOptions<object, object, never, never> = Object.freeze({
    key: "k",
    title: " K ",
    template: "  text  ",
    tools: Object.freeze([look]),
  });
  expect(new MarkdownSection(given).title).toBe("K");
  expect(given.title).toBe(" K ");
});
