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

const section = (key: string, more: object = {}) =>
  new MarkdownSection({ key, title: key, template: "", ...more });

const template = (...sections: readonly MarkdownSection[]) =>
  new PromptTemplate({ ns: "demo", key: "k", sections });

const tool = (name: string) =>
  new Tool({ name, description: "Does it.", params: null, handler: () => ToolResult.ok(null) });
const hosted = (name: string) =>
  new HostedTool({ kind: "web_search", name, description: "Searches.", config: {} });
const native = (name: string) =>
  new NativeTool({ name, description: "Native.", params: z.object({}), result: z.object({}) });

describe("two sections at one path are refused", () => {
  test("among siblings", () => {
    const make = () => template(section("a"), section("b"), section("a"));
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(
      'Template "demo:k" section "a" must have a key that none of its siblings has, got "a". Give one of the two another key',
    );
  });

  test("below a section", () => {
    const children = [section("x"), section("x")];
    expect(() => template(section("a", { children }))).toThrow('section "a.x"');
  });

  test("where a dotted key meets a child's path", () => {
    const parent = section("a", { children: [section("b")] });
    expect(() => template(parent, section("a.b"))).toThrow('section "a.b"');
  });

  test("but a key may come again elsewhere", () => {
    const children = () => [section("x")];
    const made = template(
      section("a", { children: children() }),
      section("b", { children: children() }),
    );
    expect(made.outline.map(({ path }) => path)).toEqual(["a", "a.x", "b", "b.x"]);
  });
});

describe("two tools of one name are refused", () => {
  test.each([
    ["in one section", [section("a", { tools: [tool("look"), tool("look")] })]],
    [
      "in two sections",
      [section("a", { tools: [tool("look")] }), section("b", { tools: [tool("look")] })],
    ],
    [
      "in a section and its child",
      [
        section("a", {
          tools: [tool("look")],
          children: [section("b", { tools: [tool("look")] })],
        }),
      ],
    ],
    [
      "one of them hosted",
      [section("a", { tools: [tool("look")], hostedTools: [hosted("look")] })],
    ],
    ["both of them hosted", [section("a", { hostedTools: [hosted("look"), hosted("look")] })]],
    [
      "one of them native",
      [section("a", { tools: [native("look")], hostedTools: [hosted("look")] })],
    ],
    [
      "even if never enabled together",
      [
        section("a", { tools: [tool("look")], enabled: () => false }),
        section("b", { hostedTools: [hosted("look")], enabled: () => false }),
      ],
    ],
  ])("%s", (_, sections) => {
    expect(() => template(...sections)).toThrow(PromptValidationError);
    expect(() => template(...sections)).toThrow(
      /must have a name of its own, and section "a" has that one, got "look". Rename one/,
    );
  });

  test("and so is one tool in two places", () => {
    const look = tool("look");
    expect(() =>
      template(section("a", { tools: [look] }), section("b", { tools: [look] })),
    ).toThrow(PromptValidationError);
  });
});

test.each(["open_sections", "read_section"])("no tool may be called %s", (name) => {
  expect(() => template(section("a", { tools: [tool(name)] }))).toThrow(
    `Template "demo:k" section "a" tool must not be called "open_sections", "read_section", got "${name}"`,
  );
  expect(() => template(section("a", { hostedTools: [hosted(name)] }))).toThrow(
    PromptValidationError,
  );
});

describe("one param of two sections", () => {
  const twins = (one: Schema, other: Schema) => () =>
    template(
      section("a", { params: z.object({ mode: one as z.ZodType }) }),
      section("b", {
        children: [section("c", { params: z.object({ mode: other as z.ZodType }) })],
      }),
    );

  test.each([
    ["text and a number", z.string(), z.number()],
    ["text and a list", z.string(), z.array(z.string())],
    ["an object and a boolean", z.object({}), z.boolean()],
    ["literals that exclude each other", z.literal("fast"), z.literal("slow")],
    ["choices that exclude each other", z.enum(["a", "b"]), z.enum(["c"])],
    ["a literal and another type", z.literal("fast"), z.number()],
    ["a whole number and text", z.int(), z.string()],
  ])("may not be %s", (_, one, other) => {
    expect(twins(one, other)).toThrow(PromptValidationError);
    expect(twins(one, other)).toThrow(
      /^Template "demo:k" param "mode" must have one type, and sections "a" and "b\.c" differ, got .*. Rename one of the two or make their types agree$/,
    );
  });

  test.each([
    ["of one type", z.string(), z.string()],
    ["text, and a choice of texts", z.string(), z.enum(["fast", "slow"])],
    ["choices that share something", z.enum(["a", "b"]), z.enum(["b", "c"])],
    ["a literal among choices", z.literal("a"), z.enum(["a", "b"])],
    ["a number, whole or not", z.int(), z.number()],
    ["of limits that differ", z.string().max(5), z.string().min(3)],
    ["of a type that is not told", z.unknown(), z.string()],
    ["one of which may be null", z.string().nullable(), z.string()],
    ["one of which has a default", z.string().default("a"), z.string()],
  ])("may be %s", (_, one, other) => {
    expect(twins(one, other)).not.toThrow();
  });

  test("is compared with each that came before", () => {
    const of = (key: string, mode: z.ZodType) => section(key, { params: z.object({ mode }) });
    expect(() => template(of("a", z.unknown()), of("b", z.string()), of("c", z.number()))).toThrow(
      'sections "b" and "c" differ',
    );
  });

  test("may have several types, of which one is shared", () => {
    const several = (type: readonly string[]): Schema => {
      const { "~standard": standard } = z.object({});
      const input = () => ({ type: "object", properties: { mode: { type } } });
      return { "~standard": { ...standard, jsonSchema: { input, output: input } } };
    };
    const make = (one: readonly string[], other: readonly string[]) => () =>
      template(section("a", { params: several(one) }), section("b", { params: several(other) }));
    expect(make(["string", "null"], ["null", "number"])).not.toThrow();
    expect(make(["string", "null"], ["integer"])).toThrow(PromptValidationError);
  });
});
