import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { Tool, type ToolOptions } from "./tool.ts";
import { ToolResult } from "./tool-result.ts";

const params = z.object({ a: z.number(), b: z.number() });
const result = z.object({ sum: z.number() });

function options(changes: Readonly<Record<string, unknown>> = {}): ToolOptions<unknown, unknown> {
  const handler = () => ToolResult.ok({ sum: 0 });
  const whole = { name: "add", description: "Adds two numbers.", params, result, handler };
  return { ...whole, ...changes } as never;
}

describe("a tool", () => {
  test("keeps what it was given, and fills in the rest", () => {
    const handler = () => ToolResult.ok({ sum: 0 });
    const tool = new Tool(options({ handler }));
    expect(tool).toMatchObject({
      name: "add",
      description: "Adds two numbers.",
      examples: [],
      acceptsOverrides: true,
      parallel: false,
      render: null,
    });
    expect([tool.params, tool.result, tool.handler]).toEqual([params, result, handler]);
    expect(tool.params).toBe(params);
    const other = new Tool(options({ acceptsOverrides: false, parallel: true, render: () => "7" }));
    expect(other).toMatchObject({ acceptsOverrides: false, parallel: true });
    expect(other.render?.(null)).toBe("7");
  });

  test("is frozen, and shares no list with its maker", () => {
    const examples = [{ description: "One", input: { a: 1, b: 1 }, output: { sum: 2 } }];
    const tool = new Tool(options({ examples }));
    examples.pop();
    expect(tool.examples).toHaveLength(1);
    const [example] = tool.examples;
    const frozen = [tool, tool.examples, example, example?.input, tool.paramsSchema];
    expect(frozen.every(Object.isFrozen)).toBe(true);
  });

  test("can be extended, with fields of its own", () => {
    class LoggedTool extends Tool {
      readonly calls: string[] = [];
    }
    const tool = new LoggedTool(options());
    tool.calls.push("one");
    expect(tool).toBeInstanceOf(Tool);
    expect(tool.calls).toEqual(["one"]);
    expect(() => new LoggedTool(options({ name: "" }))).toThrow("LoggedTool.name must be");
    expect(() => new LoggedTool(options({ description: "" }))).toThrow(
      'LoggedTool "add" description',
    );
  });

  test("may have no handler, if a provider runs it", () => {
    expect(new Tool(options({ handler: null })).handler).toBeNull();
  });

  test("describes its params as the model is told of them", () => {
    expect(new Tool(options()).paramsSchema).toEqual({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    });
  });

  test("that takes nothing says so, and allows nothing", () => {
    const { params: none, paramsSchema } = new Tool(options({ params: null }));
    expect(none).toBeNull();
    expect(paramsSchema).toEqual({
      type: "object",
      properties: {},
      required: [],
      additionalProperties: false,
    });
    expect(Object.values(paramsSchema).filter((part) => typeof part === "object")).toSatisfy(
      (parts: object[]) => parts.every(Object.isFrozen),
    );
  });

  test.each([
    ["Zod", z.object({ path: z.string() })],
    ["ArkType", type({ path: "string" })],
    ["Valibot", toStandardJsonSchema(v.object({ path: v.string() }))],
  ])("takes its params from %s", (_vendor, schema) => {
    expect(new Tool(options({ params: schema })).paramsSchema).toMatchObject({
      type: "object",
      properties: { path: { type: "string" } },
    });
  });

  test.each([z.string(), z.array(result), z.union([z.string(), z.number()]), null, undefined])(
    "may give back what any schema says, or anything",
    (schema) => {
      expect(new Tool(options({ result: schema })).result).toBe(schema ?? null);
    },
  );
});

describe("a tool's name", () => {
  test.each(["a", "a".repeat(64), "web-search", "web_search", "9lives"])("may be %j", (name) => {
    expect(new Tool(options({ name })).name).toBe(name);
  });

  test.each(["", "  ", " add ", "Add", "a".repeat(65), "add!", "add two", "größe", undefined])(
    "cannot be %j",
    (name) => {
      expect(() => new Tool(options({ name }))).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: "Tool.name",
          value: name,
          message: expect.stringMatching(/must be 1-64 of a-z, 0-9, _ and -.*: write it like "/),
        }),
      );
    },
  );
});

describe("a tool's description", () => {
  test("may have 200 characters", () => {
    expect(new Tool(options({ description: "x".repeat(200) })).description).toHaveLength(200);
  });

  test.each(["", "  ", "x".repeat(201), "Fügt hinzu.", "one\ntwo", undefined])(
    "cannot be %j",
    (description) => {
      expect(() => new Tool(options({ description }))).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: 'Tool "add" description',
          value: description,
          message: expect.stringContaining("say in one plain sentence what it does"),
        }),
      );
    },
  );
});

describe("a tool is refused", () => {
  const refusals: readonly (readonly [string, Record<string, unknown>, string, string])[] = [
    ["without params", { params: undefined }, "params", "write params: null for a tool that takes"],
    ["with params that are no schema", { params: {} }, "params", "use Zod 4, ArkType, Valibot"],
    ["with params that are no object", { params: z.string() }, "params", "wrap it: z.object("],
    [
      "with params no JSON can say",
      { params: z.object({ d: z.date() }) },
      "params",
      "keep to what JSON can say",
    ],
    [
      "with plain Valibot params",
      { params: v.object({}) },
      "params",
      "wrap it in toStandardJsonSchema() of @valibot/to-json-schema",
    ],
    ["with a result that is no schema", { result: {} }, "result", "use Zod 4, ArkType"],
    ["with an empty result", { result: "" }, "result", "use Zod 4, ArkType"],
    ["with a result no JSON can say", { result: z.date() }, "result", "keep to what JSON can say"],
    [
      "with a handler that is none",
      { handler: "add" },
      "handler",
      "give a function or leave it out",
    ],
    ["with a render that is none", { render: {} }, "render", "give a function or leave it out"],
    [
      "with examples that are no list",
      { examples: {} },
      "examples",
      "write [{ description, input, output }]",
    ],
  ];

  test.each(refusals)("%s", (_what, changes, part, remedy) => {
    const make = () => new Tool(options(changes));
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(expect.objectContaining({ field: `Tool "add" ${part}` }));
    expect(make).toThrow(`: ${remedy}`);
  });
});
