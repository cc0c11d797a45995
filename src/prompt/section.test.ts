import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError, WinkError } from "../base/errors.ts";
import { Session } from "../session/session.ts";
import { webSearchTool } from "../tools/hosted/web-search.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { Section, type SectionOptions } from "./section.ts";

class Note extends Section<{ readonly topic: string }> {
  override render({ topic }: { readonly topic: string }): string {
    return `About ${topic}.`;
  }
}

const options = { key: "note", title: "Note" };
const topic = z.object({ topic: z.string() });
const look = new Tool({
  name: "look",
  description: "Looks.",
  params: null,
  handler: () => ToolResult.ok(null),
});

/** Options as a program without types might give them. */
const made = (given: object) => new Note({ ...options, ...given } as SectionOptions<never>);

describe("a section", () => {
  test("has what it was given", () => {
    const child = new Note({ key: "child", title: "Child" });
    const search = webSearchTool();
    const section = made({
      title: " Note ",
      tools: [look],
      hostedTools: [search],
      children: [child],
    });
    expect(section).toMatchObject({ key: "note", title: "Note", children: [child], params: null });
    expect(section.tools()).toEqual([look]);
    expect(section.hostedTools()).toEqual([search]);
  });

  test("that was given little has nothing", () => {
    const section = made({});
    expect(section).toMatchObject({
      children: [],
      params: null,
      paramsSchema: null,
      defaultParams: {},
    });
    expect(section.tools()).toEqual([]);
    expect(section.hostedTools()).toEqual([]);
    expect(section.isEnabled({ topic: "owls" }, new Session())).toBe(true);
  });

  test("describes its params", () => {
    const section = made({ params: topic });
    expect(section.params).toBe(topic);
    expect(section.paramsSchema).toMatchObject({ properties: { topic: { type: "string" } } });
  });

  test("asks its predicate whether it is enabled", () => {
    const session = new Session();
    const section = made({
      enabled: (params: { topic: string }, context: { session: Session }) =>
        params.topic === "owls" && context.session === session,
    });
    expect(section.isEnabled({ topic: "owls" }, session)).toBe(true);
    expect(section.isEnabled({ topic: "bats" }, session)).toBe(false);
  });

  test("keeps lists and defaults of its own", () => {
    const tools = [look];
    const children: Section[] = [];
    const defaultParams = { topic: "owls" };
    const section = made({ tools, children, defaultParams, params: topic });
    tools.pop();
    children.push(made({}));
    defaultParams.topic = "bats";
    expect(section.tools()).toEqual([look]);
    expect(section.children).toEqual([]);
    expect(section.defaultParams).toEqual({ topic: "owls" });
    const kept = [section.tools(), section.hostedTools(), section.children, section.defaultParams];
    expect(kept.every(Object.isFrozen)).toBe(true);
  });

  test("has nothing to clean up", async () => {
    expect(await made({}).cleanup()).toBeUndefined();
  });

  test("that does not say how it is made cannot be cloned", () => {
    const clone = () => made({}).clone();
    expect(clone).toThrow(WinkError);
    expect(clone).toThrow("Note cannot be cloned: override clone() to say how a Note is made");
  });
});

describe("a section is refused", () => {
  test.each([
    ["without a key", { key: undefined }, /^Note\.key must be 1-64 of/],
    ["with a key in capitals", { key: "Note" }, 'write it like "note"'],
    ["with a key that starts with a dot", { key: ".a" }, /^Note\.key must be/],
    ["with a key of 65 characters", { key: "a".repeat(65) }, /^Note\.key must be/],
    [
      "without a title",
      { title: undefined },
      'Section "note" title must be one line that is not blank',
    ],
    ["with a blank title", { title: "  " }, 'Section "note" title must be one line'],
    ["with a title of two lines", { title: "a\nb" }, 'Section "note" title must be one line'],
    [
      "with params that are no schema",
      { params: {} },
      'Section "note" params must be a Standard Schema',
    ],
    [
      "with params that are no object",
      { params: z.string() },
      'Section "note" params must have object at its root',
    ],
    [
      "with a child that is none",
      { children: [made({}), "b"] },
      'Section "note" children[1] must be a Section, got "b". Make it with new Section(…) or a factory',
    ],
    [
      "with a child outside a list",
      { children: made({}) },
      'Section "note" children must be a list of Sections, got a Note',
    ],
    [
      "with children of null",
      { children: null },
      'Section "note" children must be a list of Sections',
    ],
    [
      "with a tool that is none",
      { tools: [{ name: "look" }] },
      'Section "note" tools[0] must be a Tool, got {"name":"look"}',
    ],
    ["with a tool outside a list", { tools: look }, 'Section "note" tools must be a list of Tools'],
    ["with a hosted tool among its tools", { tools: [webSearchTool()] }, "tools[0] must be a Tool"],
    [
      "with a tool among its hosted tools",
      { hostedTools: [look] },
      'Section "note" hostedTools[0] must be a HostedTool, got a Tool',
    ],
    [
      "with hosted tools that are text",
      { hostedTools: "web_search" },
      'Section "note" hostedTools must be a list of HostedTools, got "web_search"',
    ],
    [
      "with a predicate that is no function",
      { enabled: true },
      'Section "note" enabled must be a function, got true',
    ],
    [
      "with a default for a field it does not have",
      { params: topic, defaultParams: { topik: "owls" } },
      `Section "note" defaultParams.topik must be a field of the section's params, got "topik". Did you mean "topic"?`,
    ],
    [
      "with a default that is like no field it has",
      { params: topic, defaultParams: { language: "Dutch" } },
      'there are "topic"',
    ],
    [
      "with defaults and no params",
      { defaultParams: { topic: "owls" } },
      "there are none: give params",
    ],
    [
      "with defaults that are no object",
      { params: topic, defaultParams: 5 },
      'Section "note" defaultParams must be a plain object, got 5',
    ],
    [
      "with defaults in a list",
      { params: topic, defaultParams: [] },
      'Section "note" defaultParams must be a plain object, got []',
    ],
  ])("%s", (_, given, message) => {
    expect(() => made(given)).toThrow(PromptValidationError);
    expect(() => made(given)).toThrow(message);
  });

  test("without any options", () => {
    expect(() => new Note(undefined as never)).toThrow(PromptValidationError);
  });
});

test("params that are open to more may have any default", () => {
  const section = made({ params: z.record(z.string(), z.string()), defaultParams: { a: "b" } });
  expect(section.defaultParams).toEqual({ a: "b" });
});
