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

function createOptions(
  changes: Readonly<Record<string, unknown>> = {},
): ToolOptions<unknown, unknown> {
  const handler = () => ToolResult.ok({ sum: 0 });
  const whole = { name: "add", description: "Adds two numbers.", params, result, handler };
  return { ...whole, ...changes } as never;
}

describe("Tool", () => {
  test("has the given options and defaults for the rest", () => {
    const handler = () => ToolResult.ok({ sum: 0 });
    const tool = new Tool(createOptions({ handler }));
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
    const other = new Tool(
      createOptions({ acceptsOverrides: false, parallel: true, render: () => "7" }),
    );
    expect(other).toMatchObject({ acceptsOverrides: false, parallel: true });
    expect(other.render?.(null)).toBe("7");
  });

  test("is frozen and copies the arrays it is given", () => {
    const examples = [{ description: "One", input: { a: 1, b: 1 }, output: { sum: 2 } }];
    const tool = new Tool(createOptions({ examples }));
    examples.pop();
    expect(tool.examples).toHaveLength(1);
    const [example] = tool.examples;
    const frozen = [tool, tool.examples, example, example?.input, tool.paramsSchema];
    expect(frozen.every(Object.isFrozen)).toBe(true);
  });

  test("can be subclassed with additional fields", () => {
    class LoggedTool extends Tool {
      readonly calls: string[] = [];
    }
    const tool = new LoggedTool(createOptions());
    tool.calls.push("one");
    expect(tool).toBeInstanceOf(Tool);
    expect(tool.calls).toEqual(["one"]);
    expect(() => new LoggedTool(createOptions({ name: "" }))).toThrow("LoggedTool.name must be");
    expect(() => new LoggedTool(createOptions({ description: "" }))).toThrow(
      'LoggedTool "add" description',
    );
  });

  test("accepts a null handler for tools that a provider runs", () => {
    expect(new Tool(createOptions({ handler: null })).handler).toBeNull();
  });

  test("converts its params to JSON Schema for the model", () => {
    expect(new Tool(createOptions()).paramsSchema).toEqual({
      type: "object",
      properties: { a: { type: "number" }, b: { type: "number" } },
      required: ["a", "b"],
    });
  });

  test("without params has a schema that allows no properties", () => {
    const { params: none, paramsSchema } = new Tool(createOptions({ params: null }));
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
  ])("accepts params from %s", (_vendor, schema) => {
    expect(new Tool(createOptions({ params: schema })).paramsSchema).toMatchObject({
      type: "object",
      properties: { path: { type: "string" } },
    });
  });

  test.each([z.string(), z.array(result), z.union([z.string(), z.number()]), null, undefined])(
    "accepts a result schema of any type, or none",
    (schema) => {
      expect(new Tool(createOptions({ result: schema })).result).toBe(schema ?? null);
    },
  );
});

describe("a tool's needsApproval", () => {
  test("is false by default, and keeps a boolean or a function", () => {
    const rule = ({ a }: { readonly a: number }) => a > 10;
    expect(new Tool(createOptions()).needsApproval).toBe(false);
    expect(new Tool(createOptions({ needsApproval: true })).needsApproval).toBe(true);
    const tool = new Tool(createOptions({ needsApproval: rule }));
    expect([tool.needsApproval, tool.withDescription("Sums.").needsApproval]).toEqual([rule, rule]);
  });

  test.each(["always", 1, null, {}])("cannot be %j", (needsApproval) => {
    expect(() => new Tool(createOptions({ needsApproval }))).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: 'Tool "add" needsApproval',
        value: needsApproval,
      }),
    );
  });
});

describe("a tool's name", () => {
  test.each([
    "a",
    "a".repeat(64),
    "web-search",
    "web_search",
    "9lives",
    "Add",
    "getWeather",
    "A".repeat(64),
  ])("may be %j", (name) => {
    expect(new Tool(createOptions({ name })).name).toBe(name);
  });

  test.each(["", "  ", " add ", "a".repeat(65), "add!", "add two", "größe", undefined])(
    "cannot be %j",
    (name) => {
      expect(() => new Tool(createOptions({ name }))).toThrow(
        expect.objectContaining({
          name: "PromptValidationError",
          field: "Tool.name",
          value: name,
          message: expect.stringMatching(
            /must be 1-64 of A-Z, a-z, 0-9, _ and -.*\. Write it like "/,
          ),
        }),
      );
    },
  );
});

describe("a tool's description", () => {
  test.each(["x".repeat(4096), "Fügt hinzu. 🌱", "Adds.\n\n- one\n- two"])(
    "may be %j",
    (description) => {
      expect(new Tool(createOptions({ description })).description).toBe(description);
    },
  );

  test.each(["", "  ", "\n\n", "x".repeat(4097), undefined])("cannot be %j", (description) => {
    expect(() => new Tool(createOptions({ description }))).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: 'Tool "add" description',
        value: description,
        message: expect.stringContaining("Say what it does and when to use it"),
      }),
    );
  });
});

describe("Tool rejects", () => {
  const refusals: readonly (readonly [string, Record<string, unknown>, string, string])[] = [
    [
      "missing params",
      { params: undefined },
      "params",
      "Use params: null for a tool that takes none",
    ],
    ["params that are not a schema", { params: {} }, "params", "Use Zod 4, ArkType, Valibot"],
    [
      "params that are not an object",
      { params: z.string() },
      "params",
      "Wrap it, for example in z.object(",
    ],
    [
      "params that JSON cannot represent",
      { params: z.object({ d: z.date() }) },
      "params",
      "Keep to what JSON can say",
    ],
    [
      "plain Valibot params",
      { params: v.object({}) },
      "params",
      "Wrap it in toStandardJsonSchema() of @valibot/to-json-schema",
    ],
    ["a result that is not a schema", { result: {} }, "result", "Use Zod 4, ArkType"],
    ["an empty result", { result: "" }, "result", "Use Zod 4, ArkType"],
    [
      "a result that JSON cannot represent",
      { result: z.date() },
      "result",
      "Keep to what JSON can say",
    ],
    ["unknown effects", { effects: "twice" }, "effects", 'Omit it for "once"'],
    [
      "a reconcile that is not a function",
      { reconcile: "add" },
      "reconcile",
      "Pass a function or omit it",
    ],
    ...(["none", "idempotent"] as const).map(
      (effects) =>
        [
          `a reconcile with effects: "${effects}"`,
          { effects, reconcile: () => "unknown" },
          "reconcile",
          'Omit it, or use effects: "once"',
        ] as const,
    ),
    [
      "a handler that is not a function",
      { handler: "add" },
      "handler",
      "Pass a function or omit it",
    ],
    ["a render that is not a function", { render: {} }, "render", "Pass a function or omit it"],
    [
      "examples that are not an array",
      { examples: {} },
      "examples",
      "Use [{ description, input, output }]",
    ],
  ];

  test.each(refusals)("%s", (_what, changes, part, remedy) => {
    const make = () => new Tool(createOptions(changes));
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(expect.objectContaining({ field: `Tool "add" ${part}` }));
    expect(make).toThrow(`. ${remedy}`);
  });
});
