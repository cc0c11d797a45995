import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { jsonSchema } from "../base/schema/json-schema.ts";
import type { Schema } from "../base/schema/schema.ts";
import { createOutputContract, parseOutput } from "./output-contract.ts";

const createContract = <Output>(schema: Schema<Output>, allowExtraKeys = false) =>
  createOutputContract(schema, allowExtraKeys, "output");

const sum = createContract(z.object({ sum: z.number() }));
const sums = createContract(z.array(z.object({ sum: z.number() })));
const right = { ok: true, value: { sum: 3 } };
const fence = "```";

describe("the output's JSON Schema", () => {
  test("is the schema without additional properties", () => {
    expect(sum).toMatchObject({ shape: "object" });
    expect(sum.jsonSchema).toEqual({
      type: "object",
      properties: { sum: { type: "number" } },
      required: ["sum"],
      additionalProperties: false,
    });
  });

  test("is closed at every depth", () => {
    const inner = z.object({ a: z.string() });
    const { jsonSchema } = createContract(
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

  test("is closed in recursive schemas", () => {
    const tree: z.ZodType = z.object({ name: z.string(), kids: z.array(z.lazy(() => tree)) });
    const { jsonSchema } = createContract(z.object({ tree }));
    expect(Object.values(jsonSchema["$defs"] ?? {})).toMatchObject([
      { additionalProperties: false },
    ]);
  });

  test("does not confuse fields with keywords of the same name", () => {
    const { jsonSchema } = createContract(
      z.object({ properties: z.object({ type: z.literal("object") }), items: z.string() }),
    );
    expect(jsonSchema).toMatchObject({
      properties: {
        properties: { properties: { type: { const: "object" } }, additionalProperties: false },
        items: { type: "string" },
      },
    });
  });

  test("stays open where the schema is explicitly open", () => {
    const { jsonSchema } = createContract(z.looseObject({ a: z.object({}) }));
    expect(jsonSchema).toMatchObject({
      additionalProperties: {},
      properties: { a: { additionalProperties: false } },
    });
  });

  test("is the unchanged schema if extra keys are allowed", () => {
    const { jsonSchema } = createContract(z.object({ a: z.object({ b: z.string() }) }), true);
    expect(JSON.stringify(jsonSchema)).not.toContain("additionalProperties");
  });

  test("is an object with items for a list", () => {
    expect(sums).toMatchObject({ shape: "list" });
    expect(sums.jsonSchema).toEqual({
      type: "object",
      properties: { items: { type: "array", items: sum.jsonSchema } },
      required: ["items"],
      additionalProperties: false,
    });
  });

  test("keeps its definitions at the root for a recursive list", () => {
    const tree: z.ZodType = z.object({ kids: z.array(z.lazy(() => tree)) });
    const { jsonSchema } = createContract(z.array(tree));
    expect(jsonSchema).toMatchObject({
      properties: {
        items: { type: "array", items: { $ref: expect.stringMatching(/^#\/\$defs\//) } },
      },
      $defs: expect.any(Object),
    });
  });

  test("points references of a recursive list to the list, not to the object around it", () => {
    const nested: z.ZodType<unknown[]> = z.array(z.lazy(() => nested));
    expect(createContract(nested).jsonSchema).toMatchObject({
      properties: { items: { type: "array", items: { $ref: "#/properties/items" } } },
    });
  });

  test("keeps the targets of all references for a list", () => {
    const node = { type: "object", properties: { next: { $ref: "#/items" }, x: { $ref: "#x" } } };
    const schema = {
      $id: "https://example.com/list",
      type: "array",
      items: node,
      definitions: { n: { $ref: "#/$defs/n" } },
      $defs: { n: { $anchor: "x", type: "number" }, m: { $ref: "#/definitions/n" } },
    };
    expect(createContract(jsonSchema(schema)).jsonSchema).toEqual({
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

  test("closes definitions under both keywords", () => {
    const definitions = { a: { type: "object" } };
    const schema = jsonSchema({ type: "object", definitions, $defs: definitions });
    const closed = { a: { type: "object", additionalProperties: false } };
    expect(createContract(schema).jsonSchema).toMatchObject({ definitions: closed, $defs: closed });
  });

  test("leaves definitions open that are composed with other schemas", () => {
    const $defs = { a: { type: "object", properties: { a: { type: "number" } } } };
    const allOf = [{ $ref: "#/$defs/a" }, { properties: { b: { type: "number" } } }];
    const schema = { type: "object", allOf, $defs };
    expect(createContract(jsonSchema(schema)).jsonSchema).toEqual(schema);
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
    expect(() => createContract(schema)).toThrow(PromptValidationError);
    expect(() => createContract(schema)).toThrow("output must have object or array at its root");
  });
});

describe("parseOutput() reads an object", () => {
  test.each([
    ["from the whole text", '{"sum":3}'],
    ["with spaces around it", '\n  {"sum": 3}\n'],
    ["from a json block", `Here:\n\n${fence}json\n{"sum":3}\n${fence}\nDone.`],
    ["from a json block in capitals", `${fence}JSON  \n{"sum":3}\n${fence}`],
    ["from a json block with CRLF line endings", `${fence}json\r\n{"sum":3}\r\n${fence}`],
    [
      "from the first json block",
      `${fence}json\n{"sum":3}\n${fence}\n${fence}json\n{"sum":4}\n${fence}`,
    ],
    ["from a block in preference to other text", `{"sum":1} ${fence}json\n{"sum":3}\n${fence}`],
    ["from a json block that is closed on its last line", `${fence}json\n{"sum":3}${fence}`],
    ["from a block without a language", `${fence}\n{"sum":3}\n${fence}`],
    ["from the first JSON in prose", 'The answer is {"sum":3}, not {"sum":4}.'],
    ["after a citation, which is JSON of another shape", 'As [1] says: {"sum":3}.'],
    ["after brackets that are not JSON", 'In {braces} and [brackets: {"sum":3}'],
    ["after a bracket that is never closed", 'A { and "quotes", then {"sum":3}'],
  ])("%s", async (_, text) => {
    expect(await parseOutput(sum, text)).toEqual(right);
  });

  test("and gives up quickly if brackets only open", async () => {
    const text = "{".repeat(200_000);
    expect(await parseOutput(sum, text)).toEqual({
      ok: false,
      problem: "it contains no JSON object or list",
    });
  });

  test("with brackets and quotes inside strings", async () => {
    const say = createContract(z.object({ say: z.string() }));
    const value = { say: '} ] "{[ \\' };
    expect(await parseOutput(say, `So: ${JSON.stringify(value)}!`)).toEqual({ ok: true, value });
  });

  test("from a block whose strings contain a block", async () => {
    const code = createContract(z.object({ code: z.string() }));
    const value = { code: `${fence}ts\nlet a;\n${fence}` };
    const text = `${fence}json\n${JSON.stringify(value)}\n${fence}`;
    expect(await parseOutput(code, text)).toEqual({ ok: true, value });
  });

  test("as transformed by its schema", async () => {
    const length = createContract(z.object({ text: z.string().transform((text) => text.length) }));
    expect(await parseOutput(length, '{"text":"owls"}')).toEqual({ ok: true, value: { text: 4 } });
  });

  test("with an asynchronous schema", async () => {
    const later = createContract(
      z.object({ n: z.number().refine(async (n) => n > 0, "too small") }),
    );
    expect(await parseOutput(later, '{"n":1}')).toEqual({ ok: true, value: { n: 1 } });
    expect(await parseOutput(later, '{"n":0}')).toEqual({ ok: false, problem: "n: too small" });
  });
});

describe("parseOutput() reads a list", () => {
  const list = { ok: true, value: [{ sum: 1 }, { sum: 2 }] };

  test.each([
    ["from its items", '{"items":[{"sum":1},{"sum":2}]}'],
    ["bare", '[{"sum":1},{"sum":2}]'],
    ["from a bare array in prose", 'These: [{"sum":1},{"sum":2}].'],
  ])("%s", async (_, text) => {
    expect(await parseOutput(sums, text)).toEqual(list);
  });

  test("that is empty", async () => {
    expect(await parseOutput(sums, "[]")).toEqual({ ok: true, value: [] });
  });
});

describe("parseOutput() rejects an answer", () => {
  test.each([
    ["without JSON", "three", "it contains no JSON object or list"],
    ["that is empty", "", "it contains no JSON object or list"],
    ["that is JSON of another type", "3", "it is not a JSON object"],
    ["that is a list", "[1]", "it is not a JSON object"],
    ["that is null", "null", "it is not a JSON object"],
    ["with a block that is not JSON", `${fence}json\n{sum: 3}\n${fence} {"sum":3}`, "JSON"],
    ["of the wrong type", '{"sum":"three"}', "sum: "],
    ["with a missing field", "{}", "sum: "],
    ["with an undeclared field", '{"sum":3,"why":"because"}', 'it has undeclared fields: "why"'],
    ["that is cut off", '{"sum":', "it contains no JSON object or list"],
  ])("%s", async (_, text, problem) => {
    const result = await parseOutput(sum, text);
    expect(result).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  test.each([
    ["without items", "{}", "expected array"],
    ["that is text", '"a"', "it is not a JSON list"],
    ["with more than items", '{"items":[],"total":0}', 'it has undeclared fields: "total"'],
    ["with items of the wrong type", '[{"sum":"a"}]', "0.sum: "],
    ["with extra fields in an item", '[{"sum":1},{"sum":2,"x":1}]', '"items.1.x"'],
  ])("as a list %s", async (_, text, problem) => {
    const result = await parseOutput(sums, text);
    expect(result).toEqual({ ok: false, problem: expect.stringContaining(problem) });
  });

  test("with extra fields at any depth", async () => {
    const nested = createContract(z.object({ a: z.object({ b: z.object({}).nullable() }) }));
    expect(await parseOutput(nested, '{"a":{"b":{"d":1},"c":1},"e":1}')).toEqual({
      ok: false,
      problem: 'it has undeclared fields: "a.b.d", "a.c", "e"',
    });
  });
});

describe("parseOutput() accepts extra fields", () => {
  test("if they are allowed", async () => {
    const open = createContract(z.looseObject({ a: z.looseObject({}) }), true);
    const value = { a: { b: 1 }, c: 2 };
    expect(await parseOutput(open, JSON.stringify(value))).toEqual({ ok: true, value });
  });

  test("and lets the schema drop them", async () => {
    const open = createContract(z.object({ a: z.object({}) }), true);
    expect(await parseOutput(open, '{"a":{"b":1},"c":2}')).toEqual({ ok: true, value: { a: {} } });
  });

  test.each<[string, object]>([
    ["by a pattern", { patternProperties: { "^[ab]$": { type: "number" } } }],
    [
      "by a pattern and no others",
      { patternProperties: { "^[ab]$": {} }, additionalProperties: false },
    ],
    ["by several schemas", { allOf: [{ $ref: "#/$defs/a" }, { properties: { b: {} } }] }],
    ["next to a reference", { $ref: "#/$defs/a", properties: { b: {} } }],
    [
      "next to alternatives",
      { properties: { a: {} }, anyOf: [{ type: "object", required: ["b"] }] },
    ],
    ["by a condition", JSON.parse('{ "if": true, "then": { "properties": { "a": {} } } }')],
  ])("that plain JSON Schema allows %s", async (_how, keywords) => {
    const $defs = { a: { type: "object", properties: { a: { type: "number" } } } };
    const named = createContract(jsonSchema({ type: "object", ...keywords, $defs }));
    const value = { a: 1, b: 2 };
    expect(await parseOutput(named, JSON.stringify(value))).toEqual({ ok: true, value });
  });

  test("of a record", async () => {
    const record = createContract(z.object({ of: z.record(z.string(), z.number()) }));
    const value = { of: { any: 1, name: 2 } };
    expect(await parseOutput(record, JSON.stringify(value))).toEqual({ ok: true, value });
  });
});
