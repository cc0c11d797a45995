import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import type { Schema } from "../base/schema/schema.ts";
import { HostedTool } from "../tools/hosted-tool.ts";
import { NativeTool } from "../tools/native-tool.ts";
import { Tool } from "../tools/tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { MarkdownSection } from "./sections/markdown-section.ts";
import { PromptTemplate } from "./template.ts";

const createSection = (key: string, more: object = {}) =>
  new MarkdownSection({ key, title: key, template: "", ...more });

const createTemplate = (...sections: readonly MarkdownSection[]) =>
  new PromptTemplate({ ns: "demo", key: "k", sections });

const createTool = (name: string) =>
  new Tool({ name, description: "Does it.", params: null, handler: () => ToolResult.ok(null) });
const createHostedTool = (name: string) =>
  new HostedTool({ kind: "web_search", name, description: "Searches.", config: {} });
const createNativeTool = (name: string) =>
  new NativeTool({ name, description: "Native.", params: z.object({}), result: z.object({}) });

describe("a template rejects two sections with the same path", () => {
  test("among siblings", () => {
    const make = () => createTemplate(createSection("a"), createSection("b"), createSection("a"));
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(
      'Template "demo:k" section "a" must have a key that no sibling has, got "a". Rename either key.',
    );
  });

  test("below a section", () => {
    const children = [createSection("x"), createSection("x")];
    expect(() => createTemplate(createSection("a", { children }))).toThrow('section "a.x"');
  });

  test("if a dotted key equals a child's path", () => {
    const parent = createSection("a", { children: [createSection("b")] });
    expect(() => createTemplate(parent, createSection("a.b"))).toThrow('section "a.b"');
  });

  test("but accepts the same key in different places", () => {
    const children = () => [createSection("x")];
    const made = createTemplate(
      createSection("a", { children: children() }),
      createSection("b", { children: children() }),
    );
    expect(made.outline.map(({ path }) => path)).toEqual(["a", "a.x", "b", "b.x"]);
  });
});

describe("a template rejects two tools with the same name", () => {
  test.each([
    ["in one section", [createSection("a", { tools: [createTool("look"), createTool("look")] })]],
    [
      "in two sections",
      [
        createSection("a", { tools: [createTool("look")] }),
        createSection("b", { tools: [createTool("look")] }),
      ],
    ],
    [
      "in a section and its child",
      [
        createSection("a", {
          tools: [createTool("look")],
          children: [createSection("b", { tools: [createTool("look")] })],
        }),
      ],
    ],
    [
      "if one is hosted",
      [
        createSection("a", {
          tools: [createTool("look")],
          hostedTools: [createHostedTool("look")],
        }),
      ],
    ],
    [
      "if both are hosted",
      [createSection("a", { hostedTools: [createHostedTool("look"), createHostedTool("look")] })],
    ],
    [
      "if one is native",
      [
        createSection("a", {
          tools: [createNativeTool("look")],
          hostedTools: [createHostedTool("look")],
        }),
      ],
    ],
    [
      "even if they are never enabled together",
      [
        createSection("a", { tools: [createTool("look")], enabled: () => false }),
        createSection("b", { hostedTools: [createHostedTool("look")], enabled: () => false }),
      ],
    ],
  ])("%s", (_, sections) => {
    expect(() => createTemplate(...sections)).toThrow(PromptValidationError);
    expect(() => createTemplate(...sections)).toThrow(
      /must have a unique name, but section "a" also uses it, got "look"\. Rename either tool\.$/,
    );
  });

  test("but accepts names that differ only in case, as providers do", () => {
    const section = createSection("a", { tools: [createTool("look"), createTool("Look")] });
    expect(createTemplate(section).outline).toHaveLength(1);
  });

  test("even if they are the same tool in two places", () => {
    const look = createTool("look");
    expect(() =>
      createTemplate(createSection("a", { tools: [look] }), createSection("b", { tools: [look] })),
    ).toThrow(PromptValidationError);
  });
});

test.each(["open_sections", "read_section"])("a template rejects the tool name %s", (name) => {
  expect(() => createTemplate(createSection("a", { tools: [createTool(name)] }))).toThrow(
    `Template "demo:k" section "a" tool must not be named "open_sections", "read_section", got "${name}"`,
  );
  expect(() =>
    createTemplate(createSection("a", { hostedTools: [createHostedTool(name)] })),
  ).toThrow(PromptValidationError);
});

describe("a param of two sections", () => {
  const createTwins = (one: Schema, other: Schema) => () =>
    createTemplate(
      createSection("a", { params: z.object({ mode: one as z.ZodType }) }),
      createSection("b", {
        children: [createSection("c", { params: z.object({ mode: other as z.ZodType }) })],
      }),
    );

  test.each([
    ["a string and a number", z.string(), z.number()],
    ["a string and an array", z.string(), z.array(z.string())],
    ["an object and a boolean", z.object({}), z.boolean()],
    ["literals that exclude each other", z.literal("fast"), z.literal("slow")],
    ["enums that exclude each other", z.enum(["a", "b"]), z.enum(["c"])],
    ["a literal and another type", z.literal("fast"), z.number()],
    ["an integer and a string", z.int(), z.string()],
  ])("cannot be %s", (_, one, other) => {
    expect(createTwins(one, other)).toThrow(PromptValidationError);
    expect(createTwins(one, other)).toThrow(
      /^Template "demo:k" param "mode" must have one type, but sections "a" and "b\.c" differ, got .*\. Rename either param, or make their types agree\.$/,
    );
  });

  test.each([
    ["of the same type", z.string(), z.string()],
    ["a string and an enum", z.string(), z.enum(["fast", "slow"])],
    ["enums that overlap", z.enum(["a", "b"]), z.enum(["b", "c"])],
    ["a literal and an enum with it", z.literal("a"), z.enum(["a", "b"])],
    ["a number and an integer", z.int(), z.number()],
    ["of different limits", z.string().max(5), z.string().min(3)],
    ["of an unknown type", z.unknown(), z.string()],
    ["nullable in one", z.string().nullable(), z.string()],
    ["defaulted in one", z.string().default("a"), z.string()],
  ])("can be %s", (_, one, other) => {
    expect(createTwins(one, other)).not.toThrow();
  });

  test("is compared with all earlier ones", () => {
    const of = (key: string, mode: z.ZodType) => createSection(key, { params: z.object({ mode }) });
    expect(() =>
      createTemplate(of("a", z.unknown()), of("b", z.string()), of("c", z.number())),
    ).toThrow('sections "b" and "c" differ');
  });

  test("may have several types if one is shared", () => {
    const createSchema = (type: readonly string[]): Schema => {
      const { "~standard": standard } = z.object({});
      const input = () => ({ type: "object", properties: { mode: { type } } });
      return { "~standard": { ...standard, jsonSchema: { input, output: input } } };
    };
    const make = (one: readonly string[], other: readonly string[]) => () =>
      createTemplate(
        createSection("a", { params: createSchema(one) }),
        createSection("b", { params: createSchema(other) }),
      );
    expect(make(["string", "null"], ["null", "number"])).not.toThrow();
    expect(make(["string", "null"], ["integer"])).toThrow(PromptValidationError);
  });
});
