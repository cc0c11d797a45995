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

/** Options as an untyped program might pass them. */
const createNote = (given: object) => new Note({ ...options, ...given } as SectionOptions<never>);

describe("Section", () => {
  test("has the given options", () => {
    const child = new Note({ key: "child", title: "Child" });
    const search = webSearchTool();
    const section = createNote({
      title: " Note ",
      tools: [look],
      hostedTools: [search],
      children: [child],
    });
    expect(section).toMatchObject({ key: "note", title: "Note", children: [child], params: null });
    expect(section.tools()).toEqual([look]);
    expect(section.hostedTools()).toEqual([search]);
  });

  test("has empty defaults", () => {
    const section = createNote({});
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

  test("converts its params to JSON Schema", () => {
    const section = createNote({ params: topic });
    expect(section.params).toBe(topic);
    expect(section.paramsSchema).toMatchObject({ properties: { topic: { type: "string" } } });
  });

  test("calls its predicate to find out whether it is enabled", () => {
    const session = new Session();
    const section = createNote({
      enabled: (params: { topic: string }, context: { session: Session }) =>
        params.topic === "owls" && context.session === session,
    });
    expect(section.isEnabled({ topic: "owls" }, session)).toBe(true);
    expect(section.isEnabled({ topic: "bats" }, session)).toBe(false);
  });

  test("copies its arrays and defaults", () => {
    const tools = [look];
    const children: Section[] = [];
    const defaultParams = { topic: "owls" };
    const section = createNote({ tools, children, defaultParams, params: topic });
    tools.pop();
    children.push(createNote({}));
    defaultParams.topic = "bats";
    expect(section.tools()).toEqual([look]);
    expect(section.children).toEqual([]);
    expect(section.defaultParams).toEqual({ topic: "owls" });
    const kept = [section.tools(), section.hostedTools(), section.children, section.defaultParams];
    expect(kept.every(Object.isFrozen)).toBe(true);
  });

  test("has an empty cleanup() by default", async () => {
    expect(await createNote({}).cleanup()).toBeUndefined();
  });

  test("rejects clone() unless its class overrides it", () => {
    const clone = () => createNote({}).clone();
    expect(clone).toThrow(WinkError);
    expect(clone).toThrow("Note cannot be cloned. Override clone() to create a Note.");
  });
});

describe("Section rejects", () => {
  test.each([
    ["a missing key", { key: undefined }, /^Note\.key must be 1-64 of/],
    ["a key in capitals", { key: "Note" }, 'Write it like "note"'],
    ["a key that starts with a dot", { key: ".a" }, /^Note\.key must be/],
    ["a key of 65 characters", { key: "a".repeat(65) }, /^Note\.key must be/],
    [
      "a missing title",
      { title: undefined },
      'Section "note" title must be one line that is not blank',
    ],
    ["a blank title", { title: "  " }, 'Section "note" title must be one line'],
    ["a title of two lines", { title: "a\nb" }, 'Section "note" title must be one line'],
    [
      "params that are not a schema",
      { params: {} },
      'Section "note" params must be a Standard Schema',
    ],
    [
      "params that are not an object",
      { params: z.string() },
      'Section "note" params must have object at its root',
    ],
    [
      "a child that is not a section",
      { children: [createNote({}), "b"] },
      'Section "note" children[1] must be a Section, got "b". Create it with new Section(…) or a factory.',
    ],
    [
      "a child outside an array",
      { children: createNote({}) },
      'Section "note" children must be an array of Sections, got a Note',
    ],
    [
      "children of null",
      { children: null },
      'Section "note" children must be an array of Sections',
    ],
    [
      "a tool that is not a Tool",
      { tools: [{ name: "look" }] },
      'Section "note" tools[0] must be a Tool, got {"name":"look"}',
    ],
    ["a tool outside an array", { tools: look }, 'Section "note" tools must be an array of Tools'],
    ["a hosted tool among its tools", { tools: [webSearchTool()] }, "tools[0] must be a Tool"],
    [
      "a tool among its hosted tools",
      { hostedTools: [look] },
      'Section "note" hostedTools[0] must be a HostedTool, got a Tool',
    ],
    [
      "hosted tools that are a string",
      { hostedTools: "web_search" },
      'Section "note" hostedTools must be an array of HostedTools, got "web_search"',
    ],
    [
      "a predicate that is not a function",
      { enabled: true },
      'Section "note" enabled must be a function, got true',
    ],
    [
      "a default for an undeclared field",
      { params: topic, defaultParams: { topik: "owls" } },
      `Section "note" defaultParams.topik must be one of the section's params, got "topik". Did you mean "topic"?`,
    ],
    [
      "a default that resembles no declared field",
      { params: topic, defaultParams: { language: "Dutch" } },
      'Use "topic"',
    ],
    [
      "defaults without params",
      { defaultParams: { topic: "owls" } },
      "Use no defaults, or declare params",
    ],
    [
      "defaults that are not an object",
      { params: topic, defaultParams: 5 },
      'Section "note" defaultParams must be a plain object, got 5',
    ],
    [
      "defaults in an array",
      { params: topic, defaultParams: [] },
      'Section "note" defaultParams must be a plain object, got []',
    ],
  ])("%s", (_, given, message) => {
    expect(() => createNote(given)).toThrow(PromptValidationError);
    expect(() => createNote(given)).toThrow(message);
  });

  test("missing options", () => {
    expect(() => new Note(undefined as never)).toThrow(PromptValidationError);
  });
});

test("params that allow additional properties accept any default", () => {
  const section = createNote({
    params: z.record(z.string(), z.string()),
    defaultParams: { a: "b" },
  });
  expect(section.defaultParams).toEqual({ a: "b" });
});
