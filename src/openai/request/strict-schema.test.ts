import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { jsonSchema } from "../../base/schema/json-schema.ts";
import { checkSchema, type JsonSchema, type Schema } from "../../base/schema/schema.ts";
import { InMemoryFilesystem } from "../../files/filesystem/in-memory-filesystem.ts";
import { createVfsReadTools, createVfsWriteTools } from "../../prompt/sections/vfs-tools.ts";
import { Tool } from "../../tools/tool.ts";
import { ToolResult } from "../../tools/tool-result.ts";
import { isStrictSchema } from "./strict-schema.ts";

const isStrict = (schema: Schema) => isStrictSchema(checkSchema(schema, "it", ["any"]));
const createValibotSchema = (entries: v.ObjectEntries) =>
  toStandardJsonSchema(v.strictObject(entries));

/** Creates an object schema with this one field. */
const createObjectSchema = (field: unknown): JsonSchema => ({
  type: "object",
  properties: { field },
  required: ["field"],
  additionalProperties: false,
});

describe("isStrictSchema() accepts a Zod schema", () => {
  test.each<[string, Schema]>([
    [
      "that is closed and requires every field",
      z.strictObject({ a: z.string(), b: z.int().min(1) }),
    ],
    ["without fields", z.strictObject({})],
    ["with a nullable field", z.strictObject({ a: z.string().nullable() })],
    ["with enums and literals", z.strictObject({ a: z.enum(["x", "y"]), b: z.literal("z") })],
    [
      "with closed objects in arrays",
      z.strictObject({ a: z.array(z.strictObject({ b: z.int() })) }),
    ],
    ["with a union", z.strictObject({ a: z.union([z.string(), z.strictObject({ b: z.int() })]) })],
    [
      "with formats and limits",
      z.strictObject({ a: z.uuid(), b: z.email(), c: z.string().min(2) }),
    ],
    [
      "with a title and descriptions",
      z.strictObject({ a: z.string().describe("A") }).meta({ title: "T" }),
    ],
  ])("%s", (_how, schema) => {
    expect(isStrict(schema)).toBe(true);
  });

  test("that is recursive", () => {
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
    expect(isStrict(tree)).toBe(true);
  });

  test("that uses a named part twice", () => {
    const place = z.strictObject({ city: z.string() }).meta({ id: "Place" });
    const schema = z.strictObject({ from: place, to: place });
    expect(checkSchema(schema, "it", ["object"])).toHaveProperty("$defs.Place");
    expect(isStrict(schema)).toBe(true);
  });
});

describe("isStrictSchema() rejects a Zod schema", () => {
  test.each<[string, Schema]>([
    ["that allows additional fields", z.object({ a: z.string() })],
    ["that is loose", z.looseObject({ a: z.string() })],
    ["with an optional field", z.strictObject({ a: z.string(), b: z.string().optional() })],
    [
      "with a default, which makes the field optional",
      z.strictObject({ a: z.string().default("x") }),
    ],
    ["that is a record", z.record(z.string(), z.string())],
    ["with a nested record", z.strictObject({ a: z.record(z.string(), z.int()) })],
    ["with an open object in an array", z.strictObject({ a: z.array(z.object({ b: z.int() })) })],
    ["with a field of any type", z.strictObject({ a: z.any() })],
    ["with an array of any type", z.strictObject({ a: z.array(z.unknown()) })],
    ["with a tuple", z.strictObject({ a: z.tuple([z.string(), z.int()]) })],
    ["with literals of several types", z.strictObject({ a: z.literal(["x", 1]) })],
    ["with an unsupported format", z.strictObject({ a: z.url() })],
    ["with a lookahead in a pattern", z.strictObject({ a: z.string().regex(/^(?!x)/) })],
    ["with a lookbehind in a pattern", z.strictObject({ a: z.string().regex(/(?<=x)y/) })],
    ["that is an array", z.array(z.string())],
    ["that is a string", z.string()],
    ["that is a union", z.union([z.strictObject({ a: z.int() }), z.strictObject({ b: z.int() })])],
    [
      "with a discriminated union (oneOf)",
      z.strictObject({
        a: z.discriminatedUnion("t", [
          z.strictObject({ t: z.literal("a") }),
          z.strictObject({ t: z.literal("b") }),
        ]),
      }),
    ],
  ])("%s", (_why, schema) => {
    expect(isStrict(schema)).toBe(false);
  });

  test("with a different description where a named part is used", () => {
    const place = z.strictObject({ city: z.string() }).meta({ id: "Place" });
    expect(isStrict(z.strictObject({ to: place, via: place.describe("On the way.") }))).toBe(false);
  });
});

describe("isStrictSchema() for schemas of other libraries", () => {
  test.each<[string, Schema, boolean]>([
    ["valibot, closed", createValibotSchema({ a: v.string(), b: v.picklist(["x", "y"]) }), true],
    ["valibot, nullable", createValibotSchema({ a: v.nullable(v.string()) }), true],
    ["valibot, union", createValibotSchema({ a: v.union([v.string(), v.number()]) }), true],
    ["valibot, optional", createValibotSchema({ a: v.optional(v.string()) }), false],
    ["valibot, default", createValibotSchema({ a: v.optional(v.string(), "x") }), false],
    ["valibot, literal without a type", createValibotSchema({ a: v.literal("x") }), false],
    ["valibot, open", toStandardJsonSchema(v.object({ a: v.string() })), false],
    ["valibot, record", toStandardJsonSchema(v.record(v.string(), v.string())), false],
    ["arktype, closed", type({ "+": "reject", a: "string", b: "string[]", c: "boolean" }), true],
    ["arktype, nullable", type({ "+": "reject", a: "string | null" }), true],
    ["arktype, nested", type({ "+": "reject", a: { "+": "reject", b: "string" } }), true],
    ["arktype, nested and open", type({ "+": "reject", a: { b: "string" } }), false],
    ["arktype, open", type({ a: "string" }), false],
    ["arktype, optional", type({ "+": "reject", "a?": "string" }), false],
    ["arktype, default", type({ "+": "reject", a: "string = 'x'" }), false],
    ["arktype, an enumeration without a type", type({ "+": "reject", a: "'x' | 'y'" }), false],
    ["arktype, record", type("Record<string, string>"), false],
  ])("classifies %s", (_name, schema, strict) => {
    expect(isStrict(schema)).toBe(strict);
  });

  test("classifies the file tools' schemas, and accepts a tool without params", () => {
    const filesystem = new InMemoryFilesystem();
    const tools = [...createVfsReadTools(filesystem), ...createVfsWriteTools(filesystem)];
    const strict = tools.filter(({ paramsSchema }) => isStrictSchema(paramsSchema));
    expect(strict.map(({ name }) => name)).toEqual(["glob", "write", "rm"]);
    const ping = new Tool({
      name: "ping",
      description: "Pings.",
      params: null,
      handler: () => ToolResult.ok(null),
    });
    expect(isStrictSchema(ping.paramsSchema)).toBe(true);
  });
});

describe("isStrictSchema() for a schema from jsonSchema()", () => {
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

  test("accepts a closed schema that requires every field", () => {
    expect(isStrict(jsonSchema(closed))).toBe(true);
  });

  test.each<[string, object]>([
    ["open", { additionalProperties: true }],
    ["missing additionalProperties", { additionalProperties: undefined }],
    ["missing a field in required", { required: ["name"] }],
    ["using an unsupported keyword", { minProperties: 1 }],
  ])("rejects a schema that is %s", (_what, change) => {
    const schema = JSON.parse(JSON.stringify({ ...closed, ...change }));
    expect(isStrict(jsonSchema(schema))).toBe(false);
  });
});

describe("isStrictSchema() for a handwritten schema", () => {
  test.each<[string, unknown]>([
    [
      "a closed nullable object",
      { ...createObjectSchema({ type: "null" }), type: ["object", "null"] },
    ],
    ["a reference", { $ref: "#/$defs/place" }],
    [
      "annotations",
      { type: "string", title: "T", examples: ["x"], deprecated: true, $comment: "" },
    ],
    ["a default for a required field", { type: "string", default: "x" }],
    ["a closed object without properties", { type: "object", additionalProperties: false }],
    ["an undefined keyword, which JSON omits", { type: "string", oneOf: undefined }],
    ["a supported format", { type: "string", format: "ipv6" }],
  ])("accepts %s", (_what, field) => {
    expect(isStrictSchema(createObjectSchema(field))).toBe(true);
  });

  test.each<[string, unknown]>([
    ["an object without additionalProperties", { type: "object", properties: {}, required: [] }],
    ["a nullable open object", { type: ["object", "null"], properties: {} }],
    ["properties without a type", { properties: { a: { type: "string" } } }],
    ["an open object without a type", { anyOf: [{ type: "null" }], required: ["a"] }],
    [
      "a required field without a property",
      { ...createObjectSchema({ type: "null" }), required: ["x"] },
    ],
    [
      "an extra required field",
      { ...createObjectSchema({ type: "null" }), required: ["field", "x"] },
    ],
    [
      "required that is not an array",
      { ...createObjectSchema({ type: "null" }), required: "field" },
    ],
    [
      "properties that are not an object",
      { ...createObjectSchema(0), properties: [], required: [] },
    ],
    ["a boolean as schema", true],
    ["a string as schema", "string"],
    ["null as schema", null],
    ["an array without items", { type: "array" }],
    ["an array of true", { type: "array", items: true }],
    ["an array of several schemas", { type: "array", items: [{ type: "string" }] }],
    ["an empty anyOf", { anyOf: [] }],
    ["an anyOf that is not an array", { anyOf: { type: "string" } }],
    ["an anyOf with an open object", { anyOf: [{ type: "object", properties: {} }] }],
    ["an anyOf with true", { anyOf: [true] }],
    ["an enum alone", { enum: ["a"] }],
    ["an empty schema", {}],
    ["a reference to another document", { $ref: "https://example.com/schema.json" }],
    ["a reference that is not a string", { $ref: 1 }],
    ["a reference with a description", { $ref: "#", description: "again" }],
    ["an $id", { type: "string", $id: "x" }],
    ["an unknown keyword", { type: "string", "x-order": 1 }],
    ...[
      ...["allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"],
      ...["dependencies", "patternProperties", "propertyNames", "unevaluatedProperties"],
      ...["unevaluatedItems", "contains", "minContains", "maxContains", "prefixItems"],
      ...["additionalItems", "uniqueItems", "minProperties", "maxProperties", "$anchor"],
      ...["$dynamicRef", "contentEncoding", "constructor"],
    ].map((keyword): [string, unknown] => [keyword, { type: "string", [keyword]: [] }]),
  ])("rejects %s", (_what, field) => {
    expect(isStrictSchema(createObjectSchema(field))).toBe(false);
  });

  test("accepts $schema", () => {
    const $schema = "https://json-schema.org/draft/2020-12/schema";
    expect(isStrictSchema({ $schema, ...createObjectSchema({ type: "string" }) })).toBe(true);
  });

  test("checks definitions, used or not", () => {
    const open = { type: "object", properties: {} };
    for (const place of ["$defs", "definitions"]) {
      expect(isStrictSchema({ ...createObjectSchema({ $ref: "#" }), [place]: { open } })).toBe(
        false,
      );
      expect(
        isStrictSchema({
          ...createObjectSchema({ $ref: "#" }),
          [place]: { none: createObjectSchema({ $ref: "#" }) },
        }),
      ).toBe(true);
    }
  });

  test("requires an object at the root, not a union", () => {
    expect(
      isStrictSchema({ ...createObjectSchema({ type: "string" }), type: ["object", "null"] }),
    ).toBe(false);
    expect(
      isStrictSchema({
        ...createObjectSchema({ type: "string" }),
        anyOf: [createObjectSchema({ type: "null" })],
      }),
    ).toBe(false);
    expect(
      isStrictSchema({ $ref: "#/$defs/a", $defs: { a: createObjectSchema({ type: "null" }) } }),
    ).toBe(false);
    for (const schema of [null, undefined, true, "object", [], new Map()]) {
      expect(isStrictSchema(schema as never)).toBe(false);
    }
  });
});

describe("isStrictSchema() for an extreme schema", () => {
  test("accepts 100,000 levels of nesting", () => {
    const nest = (innermost: JsonSchema) => {
      let schema = innermost;
      for (let level = 0; level < 100_000; level++) schema = createObjectSchema(schema);
      return schema;
    };
    expect(isStrictSchema(nest({ type: "string" }))).toBe(true);
    expect(isStrictSchema(nest({}))).toBe(false);
  });

  test("accepts a circular object", () => {
    const properties: Record<string, unknown> = {};
    const schema = {
      type: "object",
      properties,
      required: ["again"],
      additionalProperties: false,
    };
    properties["again"] = schema;
    expect(isStrictSchema(schema)).toBe(true);
  });

  test("accepts 130,000 fields", () => {
    const names = Array.from({ length: 130_000 }, (_, index) => `f${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
    const schema = { type: "object", properties, additionalProperties: false };
    expect(isStrictSchema({ ...schema, required: names })).toBe(true);
    expect(isStrictSchema({ ...schema, required: names.slice(1) })).toBe(false);
  });
});
