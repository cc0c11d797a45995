import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { jsonSchema } from "../../base/schema/json-schema.ts";
import { checkSchema, type JsonSchema, type Schema } from "../../base/schema/schema.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { readingTools, writingTools } from "../../prompt/sections/vfs-tools.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { isStrict } from "./strict.ts";

const strictly = (schema: Schema) => isStrict(checkSchema(schema, "it", ["any"]));
const valibot = (entries: v.ObjectEntries) => toStandardJsonSchema(v.strictObject(entries));

/** An object with this one field. */
const holding = (field: unknown): JsonSchema => ({
  type: "object",
  properties: { field },
  required: ["field"],
  additionalProperties: false,
});

describe("a schema of zod is strict", () => {
  test.each<[string, Schema]>([
    ["closed, with every field required", z.strictObject({ a: z.string(), b: z.int().min(1) })],
    ["without fields", z.strictObject({})],
    ["with what may be null", z.strictObject({ a: z.string().nullable() })],
    ["with enums and literals", z.strictObject({ a: z.enum(["x", "y"]), b: z.literal("z") })],
    [
      "with closed objects in lists",
      z.strictObject({ a: z.array(z.strictObject({ b: z.int() })) }),
    ],
    ["with a union", z.strictObject({ a: z.union([z.string(), z.strictObject({ b: z.int() })]) })],
    [
      "with formats and limits",
      z.strictObject({ a: z.uuid(), b: z.email(), c: z.string().min(2) }),
    ],
    ["with words about it", z.strictObject({ a: z.string().describe("A") }).meta({ title: "T" })],
  ])("%s", (_how, schema) => {
    expect(strictly(schema)).toBe(true);
  });

  test("that contains itself", () => {
    interface Tree {
      readonly name: string;
      readonly children: readonly Tree[];
    }
    const tree: z.ZodType<Tree> = z.strictObject({
      name: z.string(),
      get children() {
        return z.array(tree);
      },
    });
    expect(strictly(tree)).toBe(true);
  });

  test("that uses a named part twice", () => {
    const place = z.strictObject({ city: z.string() }).meta({ id: "Place" });
    const schema = z.strictObject({ from: place, to: place });
    expect(checkSchema(schema, "it", ["object"])).toHaveProperty("$defs.Place");
    expect(strictly(schema)).toBe(true);
  });
});

describe("a schema of zod is not strict", () => {
  test.each<[string, Schema]>([
    ["if it is open to more", z.object({ a: z.string() })],
    ["if anything may be in it", z.looseObject({ a: z.string() })],
    ["with an optional field", z.strictObject({ a: z.string(), b: z.string().optional() })],
    ["with a default, which may be left out", z.strictObject({ a: z.string().default("x") })],
    ["as a record", z.record(z.string(), z.string())],
    ["with a record in it", z.strictObject({ a: z.record(z.string(), z.int()) })],
    ["with an open object in a list", z.strictObject({ a: z.array(z.object({ b: z.int() })) })],
    ["with anything", z.strictObject({ a: z.any() })],
    ["with a list of anything", z.strictObject({ a: z.array(z.unknown()) })],
    ["with a tuple", z.strictObject({ a: z.tuple([z.string(), z.int()]) })],
    ["with literals of several types", z.strictObject({ a: z.literal(["x", 1]) })],
    ["with a format of which the provider does not know", z.strictObject({ a: z.url() })],
    ["with a pattern that looks ahead", z.strictObject({ a: z.string().regex(/^(?!x)/) })],
    ["with a pattern that looks behind", z.strictObject({ a: z.string().regex(/(?<=x)y/) })],
    ["as a list", z.array(z.string())],
    ["as a text", z.string()],
    ["as a union", z.union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.int() })])],
    [
      "with alternatives of which just one must fit",
      z.strictObject({
        a: z.discriminatedUnion("t", [
          z.strictObject({ t: z.literal("a") }),
          z.strictObject({ t: z.literal("b") }),
        ]),
      }),
    ],
  ])("%s", (_why, schema) => {
    expect(strictly(schema)).toBe(false);
  });

  test("if a named part is described anew where it is used", () => {
    const place = z.strictObject({ city: z.string() }).meta({ id: "Place" });
    expect(strictly(z.strictObject({ to: place, via: place.describe("On the way.") }))).toBe(false);
  });
});

describe("schemas of other libraries", () => {
  test.each<[string, Schema, boolean]>([
    ["valibot, closed", valibot({ a: v.string(), b: v.picklist(["x", "y"]) }), true],
    ["valibot, nullable", valibot({ a: v.nullable(v.string()) }), true],
    ["valibot, union", valibot({ a: v.union([v.string(), v.number()]) }), true],
    ["valibot, optional", valibot({ a: v.optional(v.string()) }), false],
    ["valibot, default", valibot({ a: v.optional(v.string(), "x") }), false],
    ["valibot, literal without a type", valibot({ a: v.literal("x") }), false],
    ["valibot, open", toStandardJsonSchema(v.object({ a: v.string() })), false],
    ["valibot, record", toStandardJsonSchema(v.record(v.string(), v.string())), false],
    ["arktype, closed", type({ "+": "reject", a: "string", b: "string[]", c: "boolean" }), true],
    ["arktype, nullable", type({ "+": "reject", a: "string | null" }), true],
    ["arktype, nested", type({ "+": "reject", a: { "+": "reject", b: "string" } }), true],
    ["arktype, nested and open", type({ "+": "reject", a: { b: "string" } }), false],
    ["arktype, open", type({ a: "string" }), false],
    ["arktype, optional", type({ "+": "reject", "a?": "string" }), false],
    ["arktype, default", type({ "+": "reject", a: "string = 'x'" }), false],
    ["arktype, words without a type", type({ "+": "reject", a: "'x' | 'y'" }), false],
    ["arktype, record", type("Record<string, string>"), false],
  ])("are told apart: %s", (_name, schema, strict) => {
    expect(strictly(schema)).toBe(strict);
  });

  test("of the library's own tools, and of one that takes nothing", () => {
    const filesystem = new InMemoryFilesystem();
    const tools = [...readingTools(filesystem), ...writingTools(filesystem)];
    const strict = tools.filter(({ paramsSchema }) => isStrict(paramsSchema));
    expect(strict.map(({ name }) => name)).toEqual(["glob", "write", "rm"]);
    const ping = new Tool({
      name: "ping",
      description: "Pings.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    expect(isStrict(ping.paramsSchema)).toBe(true);
  });
});

describe("a schema from jsonSchema()", () => {
  const closed = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      name: { type: "string", pattern: "^[a-z]+$" },
      kids: { type: "array", items: { $ref: "#" } },
    },
    required: ["name", "kids"],
    additionalProperties: false,
  };

  test("is strict if it is closed and every field is required", () => {
    expect(strictly(jsonSchema(closed))).toBe(true);
  });

  test.each<[string, object]>([
    ["open", { additionalProperties: true }],
    ["silent about other fields", { additionalProperties: undefined }],
    ["without a required field", { required: ["name"] }],
    ["with a keyword that the provider does not know", { minProperties: 1 }],
  ])("is not strict if it is %s", (_what, change) => {
    const schema = JSON.parse(JSON.stringify({ ...closed, ...change }));
    expect(strictly(jsonSchema(schema))).toBe(false);
  });
});

describe("a schema written by hand", () => {
  test.each<[string, unknown]>([
    [
      "a nullable object that is closed",
      { ...holding({ type: "null" }), type: ["object", "null"] },
    ],
    ["a reference", { $ref: "#/$defs/place" }],
    [
      "annotations",
      { type: "string", title: "T", examples: ["x"], deprecated: true, $comment: "" },
    ],
    ["a default beside a required field", { type: "string", default: "x" }],
    ["a closed object that names no properties", { type: "object", additionalProperties: false }],
    ["a keyword that is undefined, which JSON leaves out", { type: "string", oneOf: undefined }],
    ["every format that is known", { type: "string", format: "ipv6" }],
  ])("is strict with %s", (_what, field) => {
    expect(isStrict(holding(field))).toBe(true);
  });

  test.each<[string, unknown]>([
    ["an object without additionalProperties", { type: "object", properties: {}, required: [] }],
    ["a nullable open object", { type: ["object", "null"], properties: {} }],
    ["properties without a type", { properties: { a: { type: "string" } } }],
    ["an open object by its keywords alone", { anyOf: [{ type: "null" }], required: ["a"] }],
    ["a required field that it does not have", { ...holding({ type: "null" }), required: ["x"] }],
    ["one required field too many", { ...holding({ type: "null" }), required: ["field", "x"] }],
    ["required that is no list", { ...holding({ type: "null" }), required: "field" }],
    ["properties that are no record", { ...holding(0), properties: [], required: [] }],
    ["a boolean for a schema", true],
    ["a text for a schema", "string"],
    ["null for a schema", null],
    ["an array without items", { type: "array" }],
    ["an array of true", { type: "array", items: true }],
    ["an array of several schemas", { type: "array", items: [{ type: "string" }] }],
    ["an empty anyOf", { anyOf: [] }],
    ["an anyOf that is no list", { anyOf: { type: "string" } }],
    ["an anyOf with an open object", { anyOf: [{ type: "object", properties: {} }] }],
    ["an anyOf with true", { anyOf: [true] }],
    ["an enum alone", { enum: ["a"] }],
    ["nothing", {}],
    ["a reference to elsewhere", { $ref: "https://example.com/schema.json" }],
    ["a reference that is no text", { $ref: 1 }],
    ["a reference with a description", { $ref: "#", description: "again" }],
    ["an $id", { type: "string", $id: "x" }],
    ["a keyword of nobody's", { type: "string", "x-order": 1 }],
    ...[
      ...["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"],
      ...["dependencies", "patternProperties", "propertyNames", "unevaluatedProperties"],
      ...["unevaluatedItems", "contains", "minContains", "maxContains", "prefixItems"],
      ...["additionalItems", "uniqueItems", "minProperties", "maxProperties", "$anchor"],
      ...["$dynamicRef", "contentEncoding", "constructor"],
    ].map((keyword): [string, unknown] => [keyword, { type: "string", [keyword]: [] }]),
  ])("is not strict with %s", (_what, field) => {
    expect(isStrict(holding(field))).toBe(false);
  });

  test("may say which JSON Schema it is", () => {
    const $schema = "https://json-schema.org/draft/2020-12/schema";
    expect(isStrict({ $schema, ...holding({ type: "string" }) })).toBe(true);
  });

  test("is looked through to its definitions, used or not", () => {
    const open = { type: "object", properties: {} };
    for (const place of ["$defs", "definitions"]) {
      expect(isStrict({ ...holding({ $ref: "#" }), [place]: { open } })).toBe(false);
      expect(
        isStrict({ ...holding({ $ref: "#" }), [place]: { none: holding({ $ref: "#" }) } }),
      ).toBe(true);
    }
  });

  test("must be an object itself, and no union", () => {
    expect(isStrict({ ...holding({ type: "string" }), type: ["object", "null"] })).toBe(false);
    expect(isStrict({ ...holding({ type: "string" }), anyOf: [holding({ type: "null" })] })).toBe(
      false,
    );
    expect(isStrict({ $ref: "#/$defs/a", $defs: { a: holding({ type: "null" }) } })).toBe(false);
    for (const schema of [null, undefined, true, "object", [], new Map()]) {
      expect(isStrict(schema as never)).toBe(false);
    }
  });
});

describe("a schema that is hard to walk", () => {
  test("may be nested a hundred thousand levels deep", () => {
    const deep = (innermost: JsonSchema) => {
      let schema = innermost;
      for (let level = 0; level < 100_000; level++) schema = holding(schema);
      return schema;
    };
    expect(isStrict(deep({ type: "string" }))).toBe(true);
    expect(isStrict(deep({}))).toBe(false);
  });

  test("may contain itself as an object, not by reference", () => {
    const properties: Record<string, unknown> = {};
    const schema = {
      type: "object",
      properties,
      required: ["again"],
      additionalProperties: false,
    };
    properties["again"] = schema;
    expect(isStrict(schema)).toBe(true);
  });

  test("may have very many fields", () => {
    const names = Array.from({ length: 130_000 }, (_, index) => `f${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const schema = { type: "object", properties, additionalProperties: false };
    expect(isStrict({ ...schema, required: names })).toBe(true);
    expect(isStrict({ ...schema, required: names.slice(1) })).toBe(false);
  });
});
