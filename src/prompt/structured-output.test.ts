import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { jsonSchema } from "../base/schema/json-schema.ts";
import type { Schema } from "../base/schema/schema.ts";
import { outputContract, readOutput } from "./structured-output.ts";

const contract = <Output>(schema: Schema<Output>, allowExtraKeys = false) =>
  outputContract(schema, allowExtraKeys, "output");

const sum = contract(z.object({ sum: z.number() }));
const sums = contract(z.array(z.object({ sum: z.number() })));
const right = { ok: true, value: { sum: 3 } };
const fence = "```";

describe("what the model is told to fit", () => {
  test("is the schema, closed to fields it does not name", () => {
    expect(sum).toMatchObject({ shape: "object" });
    expect(sum.jsonSchema).toEqual({
      type: "object",
      properties: { sum: { type: "number" } },
      required: ["sum"],
      additionalProperties: false,
    });
  });

  test("is closed throughout", () => {
    const inner = z.object({ a: z.string() });
    const { jsonSchema } = contract(
      z.object({
        one: inner,
        list: z.array(inner),
        either: z.union([inner, z.null()]),
        pair: z.tuple([inner]),
        byName: z.record(z.string(), inner),
      }),
    );
    const closed = expect.objectContaining({ type: "object", additionalProperties: false });
    expect(jsonSchema).toMatchObject({
      additionalProperties: false,
      properties: {
        one: closed,
        list: { items: closed },
        either: { anyOf: [closed, { type: "null" }] },
        pair: { prefixItems: [closed] },
        byName: { additionalProperties: closed },
      },
    });
  });

  test("is closed where it refers to itself", () => {
    const tree: z.ZodType = z.object({ name: z.string(), kids: z.array(z.lazy(() => tree)) });
    const { jsonSchema } = contract(z.object({ tree }));
    expect(Object.values(jsonSchema["$defs"] ?? {})).toMatchObject([
      { additionalProperties: false },
    ]);
  });

  test("is not mistaken where a field has the name of a keyword", () => {
    const { jsonSchema } = contract(
      z.object({ properties: z.object({ type: z.literal("object") }), items: z.string() }),
    );
    expect(jsonSchema).toMatchObject({
      properties: {
        properties: { properties: { type: { const: "object" } }, additionalProperties: false },
        items: { type: "string" },
      },
    });
  });

  test("stays open where the schema says so itself", () => {
    const { jsonSchema } = contract(z.looseObject({ a: z.object({}) }));
    expect(jsonSchema).toMatchObject({
      additionalProperties: {},
      properties: { a: { additionalProperties: false } },
    });
  });

  test("is the schema as it is where extra keys are allowed", () => {
    const { jsonSchema } = contract(z.object({ a: z.object({ b: z.string() }) }), true);
    expect(JSON.stringify(jsonSchema)).not.toContain("additionalProperties");
  });

  test("is an object of items for a list", () => {
    expect(sums).toMatchObject({ shape: "list" });
    expect(sums.jsonSchema).toEqual({
      type: "object",
      properties: { items: { type: "array", items: sum.jsonSchema } },
      required: ["items"],
      additionalProperties: false,
    });
  });

  test("keeps its definitions at the root for a list of what refers to itself", () => {
    const tree: z.ZodType = z.object({ kids: z.array(z.lazy(() => tree)) });
    const { jsonSchema } = contract(z.array(tree));
    expect(jsonSchema).toMatchObject({
      properties: {
        items: { type: "array", items: { $ref: expect.stringMatching(/^#\/\$defs\//) } },
      },
      $defs: expect.any(Object),
    });
  });

  test("refers to the list, not to the object around it, where a list holds itself", () => {
    const nested: z.ZodType<unknown[]> = z.array(z.lazy(() => nested));
    expect(contract(nested).jsonSchema).toMatchObject({
      properties: { items: { type: "array", items: { $ref: "#/properties/items" } } },
    });
  });

  test("leads references to the same schemas as before for a list", () => {
    const node = { type: "object", properties: { next: { $ref: "#/items" }, x: { $ref: "#x" } } };
    const schema = {
      $id: "https://example.com/list",
      type: "array",
      items: node,
      definitions: { n: { $ref: "#/$defs/n" } },
      $defs: { n: { $anchor: "x", type: "number" }, m: { $ref: "#/definitions/n" } },
    };
    expect(contract(jsonSchema(schema)).jsonSchema).toEqual({
      type: "object",
      properties: {
        items: {
          type: "array",
          items: {
            type: "object",
            properties: { next: { $ref: "#/properties/items/items" }, x: { $ref: "#x" } },
            additionalProperties: false,
          },
          definitions: { n: { $ref: "#/$defs/n" } },
        },
      },
      required: ["items"],
      additionalProperties: false,
      $defs: {
        n: { $anchor: "x", type: "number" },
        m: { $ref: "#/properties/items/definitions/n" },
      },
    });
  });

  test("closes definitions by either name", () => {
    const definitions = { a: { type: "object" } };
    const schema = jsonSchema({ type: "object", definitions, $defs: definitions });
    const closed = { a: { type: "object", additionalProperties: false } };
    expect(contract(schema).jsonSchema).toMatchObject({ definitions: closed, $defs: closed });
  });

  test("leaves definitions open that are put together with other schemas", () => {
    const $defs = { a: { type: "object", properties: { a: { type: "number" } } } };
    const allOf = [{ $ref: "#/$defs/a" }, { properties: { b: { type: "number" } } }];
    const schema = { type: "object", allOf, $defs };
    expect(contract(jsonSchema(schema)).jsonSchema).toEqual(schema);
  });

  test("is frozen", () => {
    expect([sum, sum.jsonSchema, sums.jsonSchema["properties"]].every(Object.isFrozen)).toBe(true);
  });

  test.each([
    ["text", z.string()],
    ["a number", z.number()],
    ["one of two objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ["anything", z.unknown()],
  ])("cannot be %s", (_, schema) => {
    expect(() => contract(schema)).toThrow(PromptValidationError);
    expect(() => contract(schema)).toThrow("output must have object or array at its root");
  });
});

describe("an answer is read", () => {
  test.each([
    ["as the whole text", '{"sum":3}'],
    ["with space around it", '\n  {"sum": 3}\n'],
    ["from a json block", `Here:\n\n${fence}json\n{"sum":3}\n${fence}\nDone.`],
    ["from a json block in capitals", `${fence}JSON  \n{"sum":3}\n${fence}`],
    ["from a json block with the line ends of Windows", `${fence}json\r\n{"sum":3}\r\n${fence}`],
    [
      "from the first json block",
      `${fence}json\n{"sum":3}\n${fence}\n${fence}json\n{"sum":4}\n${fence}`,
    ],
    ["from a block before anything else", `{"sum":1} ${fence}json\n{"sum":3}\n${fence}`],
    ["from a json block that is closed on its last line", `${fence}json\n{"sum":3}${fence}`],
    ["from a block without a language", `${fence}\n{"sum":3}\n${fence}`],
    ["from the first JSON in prose", 'The answer is {"sum":3}, not {"sum":4}.'],
    ["after a citation, which is JSON of another shape", 'As [1] says: {"sum":3}.'],
    ["after brackets that are no JSON", 'In {braces} and [brackets: {"sum":3}'],
    ["after a bracket that is never closed", 'A { and "quotes", then {"sum":3}'],
  ])("%s", async (_, text) => {
    expect(await readOutput(sum, text)).toEqual(right);
  });

  test("as nothing where brackets only open, and in no time", async () => {
    const text = "{".repeat(200_000);
    expect(await readOutput(sum, text)).toEqual({
      ok: false,
      problem: "there is no JSON object or list in it",
    });
  });

  test("with brackets and quotes inside its strings", async () => {
    const say = contract(z.object({ say: z.string() }));
    const value = { say: '} ] "{[ \\' };
    expect(await readOutput(say, `So: ${JSON.stringify(value)}!`)).toEqual({ ok: true, value });
  });

  test("from a block whose strings hold a block of their own", async () => {
    const code = contract(z.object({ code: z.string() }));
    const value = { code: `${fence}ts\nlet a;\n${fence}` };
    const text = `${fence}json\n${JSON.stringify(value)}\n${fence}`;
    expect(await readOutput(code, text)).toEqual({ ok: true, value });
  });

  test("as its schema transforms it", async () => {
    const length = contract(z.object({ text: z.string().transform((text) => text.length) }));
    expect(await readOutput(length, '{"text":"owls"}')).toEqual({ ok: true, value: { text: 4 } });
  });

  test("by a schema that takes its time", async () => {
    const later = contract(z.object({ n: z.number().refine(async (n) => n > 0, "too small") }));
    expect(await readOutput(later, '{"n":1}')).toEqual({ ok: true, value: { n: 1 } });
    expect(await readOutput(later, '{"n":0}')).toEqual({ ok: false, problem: "n: too small" });
  });
});

describe("a list is read", () => {
  const list = { ok: true, value: [{ sum: 1 }, { sum: 2 }] };

  test.each([
    ["from its items", '{"items":[{"sum":1},{"sum":2}]}'],
    ["bare", '[{"sum":1},{"sum":2}]'],
    ["bare, in prose", 'These: [{"sum":1},{"sum":2}].'],
  ])("%s", async (_, text) => {
    expect(await readOutput(sums, text)).toEqual(list);
  });

  test("when it is empty", async () => {
    expect(await readOutput(sums, "[]")).toEqual({ ok: true, value: [] });
  });
});

describe("an answer is refused", () => {
  test.each([
    ["without JSON", "three", "there is no JSON object or list in it"],
    ["that is empty", "", "there is no JSON object or list in it"],
    ["that is JSON of another kind", "3", "it is not a JSON object"],
    ["that is a list", "[1]", "it is not a JSON object"],
    ["that is null", "null", "it is not a JSON object"],
    ["with a block that is no JSON", `${fence}json\n{sum: 3}\n${fence} {"sum":3}`, "JSON"],
    ["of the wrong type", '{"sum":"three"}', "sum: "],
    ["that lacks a field", "{}", "sum: "],
    [
      "with a field nobody asked for",
      '{"sum":3,"why":"because"}',
      'it has fields nobody asked for: "why"',
    ],
    ["that is cut off", '{"sum":', "there is no JSON object or list in it"],
  ])("%s", async (_, text, problem) => {
    const result = await readOutput(sum, text);
    expect(result).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  test.each([
    ["without items", "{}", "expected array"],
    ["that is text", '"a"', "it is not a JSON list"],
    ["with more than items", '{"items":[],"total":0}', 'it has fields nobody asked for: "total"'],
    ["with items of the wrong type", '[{"sum":"a"}]', "0.sum: "],
    ["with extra fields in an item", '[{"sum":1},{"sum":2,"x":1}]', '"items.1.x"'],
  ])("as a list %s", async (_, text, problem) => {
    const result = await readOutput(sums, text);
    expect(result).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  test("with extra fields, wherever they are", async () => {
    const nested = contract(z.object({ a: z.object({ b: z.object({}).nullable() }) }));
    expect(await readOutput(nested, '{"a":{"b":{"d":1},"c":1},"e":1}')).toEqual({
      ok: false,
      problem: 'it has fields nobody asked for: "a.b.d", "a.c", "e"',
    });
  });
});

describe("extra fields are let through", () => {
  test("where they are allowed", async () => {
    const open = contract(z.looseObject({ a: z.looseObject({}) }), true);
    const value = { a: { b: 1 }, c: 2 };
    expect(await readOutput(open, JSON.stringify(value))).toEqual({ ok: true, value });
  });

  test("and dropped by a schema that drops them", async () => {
    const open = contract(z.object({ a: z.object({}) }), true);
    expect(await readOutput(open, '{"a":{"b":1},"c":2}')).toEqual({ ok: true, value: { a: {} } });
  });

  test.each<[string, object]>([
    ["by a pattern", { patternProperties: { "^[ab]$": { type: "number" } } }],
    [
      "by a pattern and no others",
      { patternProperties: { "^[ab]$": {} }, additionalProperties: false },
    ],
    ["by several schemas", { allOf: [{ $ref: "#/$defs/a" }, { properties: { b: {} } }] }],
    ["beside a reference", { $ref: "#/$defs/a", properties: { b: {} } }],
    [
      "beside alternatives",
      { properties: { a: {} }, anyOf: [{ type: "object", required: ["b"] }] },
    ],
    ["by a condition", JSON.parse('{ "if": true, "then": { "properties": { "a": {} } } }')],
  ])("where plain JSON Schema names them %s", async (_how, keywords) => {
    const $defs = { a: { type: "object", properties: { a: { type: "number" } } } };
    const named = contract(jsonSchema({ type: "object", ...keywords, $defs }));
    const value = { a: 1, b: 2 };
    expect(await readOutput(named, JSON.stringify(value))).toEqual({ ok: true, value });
  });

  test("of a record, which names none", async () => {
    const record = contract(z.object({ of: z.record(z.string(), z.number()) }));
    const value = { of: { any: 1, name: 2 } };
    expect(await readOutput(record, JSON.stringify(value))).toEqual({ ok: true, value });
  });
});
