import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../errors.ts";
import { jsonSchema } from "./json-schema.ts";
import { validateNow } from "./schema.ts";

const refusal = (schema: unknown): PromptValidationError => {
  try {
    jsonSchema(schema as object);
  } catch (error) {
    if (error instanceof PromptValidationError) return error;
    throw error;
  }
  throw new Error("jsonSchema() accepted it");
};

describe("jsonSchema() refuses what is not JSON", () => {
  test.each([
    ["undefined", undefined],
    ["null", null],
    ["true", true],
    ["text", "{}"],
    ["a list", []],
    ["an instance", new Map()],
    ["a function", () => ({})],
  ])("instead of a plain object: %s", (_what, schema) => {
    expect(refusal(schema).message).toMatch(
      /^jsonSchema\(\) at # must be a plain object, got .+. Write a JSON Schema/,
    );
  });

  test.each([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a date", new Date(0)],
    ["a regular expression", /a/],
    ["a bigint", 1n],
    ["a symbol", Symbol("s")],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
  ])("anywhere in it: %s", (_what, value) => {
    const error = refusal({ properties: { "a/b": { default: [1, value] } } });
    expect(error.field).toBe("jsonSchema() at #/properties/a~1b/default/1");
    expect(error.message).toContain("must be JSON, but is");
    expect(error.message).toContain("write plain JSON: no undefined, functions, dates");
  });

  test("because it contains itself", () => {
    const cycle: Record<string, unknown> = { type: "object" };
    cycle["properties"] = { again: cycle };
    expect(refusal(cycle)).toMatchObject({
      field: "jsonSchema() at #/properties/again",
      message: expect.stringContaining("must not contain itself"),
    });
  });

  test("because it is nested 10,000 levels deep", () => {
    let schema: object = {};
    for (let level = 0; level < 10_000; level++) schema = { items: schema };
    expect(refusal(schema).message).toContain("must not be nested more than 1000 levels deep");
  });

  test("because parts that are shared come to too many subschemas", () => {
    let schema: object = {};
    for (let level = 0; level < 40; level++) schema = { anyOf: [schema, schema] };
    expect(refusal(schema).message).toContain("must have at most 10000 subschemas, got 10001");
  });

  test("because a name is not well-formed Unicode", () => {
    const error = refusal({ properties: { "\ud800": {} } });
    expect(error.message).toContain("must only have names of well-formed Unicode");
  });
});

describe("jsonSchema() refuses a keyword that has the wrong value", () => {
  test.each<[string, object, string, string]>([
    [
      "unknown type",
      { type: "int" },
      "#/type",
      'must be a JSON type or an array of them, got "int". Use "string", "number"',
    ],
    ["empty types", { type: [] }, "#/type", "must be a JSON type"],
    ["types", { type: ["string", "date"] }, "#/type", "must be a JSON type"],
    [
      "required",
      { required: "a" },
      "#/required",
      'must be an array of property names, got "a". Write ["name"]',
    ],
    [
      "required by flag",
      { properties: { a: { required: true } } },
      "#/properties/a/required",
      "must be an array of property names",
    ],
    ["properties", { properties: ["a"] }, "#/properties", "must be an object with schemas by name"],
    [
      "a property",
      { properties: { a: "string" } },
      "#/properties/a",
      'must be a schema, got "string". Write an object, true or false',
    ],
    [
      "enum",
      { items: { enum: "a" } },
      "#/items/enum",
      "must be a non-empty array of the allowed values",
    ],
    [
      "list of items",
      { items: [{}] },
      "#/items",
      "must be a schema, got [{}]. Write an object, true or false; for a list of schemas use prefixItems",
    ],
    ["anyOf", { anyOf: [] }, "#/anyOf", "must be a non-empty array of schemas"],
    ["prefixItems", { prefixItems: [1] }, "#/prefixItems/0", "must be a schema"],
    ["minimum", { minimum: "3" }, "#/minimum", "must be a number, but is"],
    [
      "draft 4 bounds",
      { exclusiveMinimum: true },
      "#/exclusiveMinimum",
      "must be a number, but is",
    ],
    ["minLength", { minLength: -1 }, "#/minLength", "must be a whole number of 0 or more"],
    ["maxItems", { maxItems: 1.5 }, "#/maxItems", "must be a whole number of 0 or more"],
    ["multipleOf", { multipleOf: 0 }, "#/multipleOf", "must be a number above 0"],
    ["uniqueItems", { uniqueItems: 1 }, "#/uniqueItems", "must be true or false, got 1"],
    [
      "dependentRequired",
      { dependentRequired: { a: "b" } },
      "#/dependentRequired",
      "must be an object with arrays of property names",
    ],
    ["format", { format: 1 }, "#/format", "must be a string, got 1"],
    ["$id", { $id: 1 }, "#/$id", "must be a string, got 1"],
    ["inner $id", { $defs: { a: { $id: "a" } } }, "#/$defs/a/$id", "must be used only at the root"],
    ["$anchor", { $anchor: "#a" }, "#/$anchor", "must be a plain name"],
    [
      "draft 7",
      { $schema: "http://json-schema.org/draft-07/schema#" },
      "#/$schema",
      "must name draft 2020-12",
    ],
    [
      "pattern",
      { pattern: "(" },
      "#/pattern",
      "must be a regular expression (Invalid regular expression",
    ],
    ["pattern without u", { pattern: "\\-" }, "#/pattern", "must be a regular expression"],
    [
      "pattern that is none",
      { pattern: /a/.source.length },
      "#/pattern",
      "must be a string, got 1",
    ],
    [
      "patternProperties",
      { patternProperties: { "[": {} } },
      "#/patternProperties",
      "must be a regular expression",
    ],
    [
      "dependencies",
      { dependencies: {} },
      "#/dependencies",
      "must not be used, got {}. Use dependentRequired or dependentSchemas",
    ],
    ["$dynamicRef", { $dynamicRef: "#a" }, "#/$dynamicRef", 'must not be used, got "#a". Use $ref'],
  ])("%s", (_what, schema, pointer, message) => {
    const error = refusal(schema);
    expect(error.field).toBe(`jsonSchema() at ${pointer}`);
    expect(error.message).toContain(message);
  });

  test("keeps the reason that the runtime gives for a pattern", () => {
    expect(refusal({ pattern: "(" }).cause).toBeInstanceOf(SyntaxError);
  });

  test("but not one that names a property", () => {
    const properties = { type: {}, required: {}, items: {}, $ref: {}, pattern: {}, enum: {} };
    expect(() => jsonSchema({ properties })).not.toThrow();
  });

  test("nor one that holds a schema as data", () => {
    const data = { type: "int", required: true };
    expect(() =>
      jsonSchema({ default: data, const: data, enum: [data], "x-a": data }),
    ).not.toThrow();
  });
});

describe("jsonSchema() refuses a reference", () => {
  test.each([
    ["#/$defs/gone"],
    ["#gone"],
    ["https://example.com/schema"],
    ["other.json#/a"],
    ["/properties/a"],
    [""],
    ["#/%"],
    ["#/properties"],
    ["#/properties/a/default"],
    ["#/properties/toString"],
  ])("that does not point to a schema within it: %s", ($ref) => {
    const error = refusal({ properties: { a: { default: {} }, b: { $ref } } });
    expect(error.field).toBe("jsonSchema() at #/properties/b/$ref");
    expect(error.message).toContain("must point to a schema within this schema");
    expect(error.message).toContain('copy it into $defs and write "#/$defs/name"');
  });

  test.each<[string, object]>([
    ["to itself", { $ref: "#" }],
    ["through allOf", { allOf: [{ $ref: "#" }] }],
    ["through not", { properties: { a: { not: { $ref: "#/properties/a" } } } }],
    [
      "over several steps",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [true, { $ref: "#/$defs/a" }] } } },
    ],
  ])("that applies a schema to the same value again and again: %s", (_what, schema) => {
    expect(refusal(schema).message).toContain("must not apply itself to the same value again");
  });

  test("with a name that two schemas have", () => {
    const error = refusal({ $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } });
    expect(error.field).toBe("jsonSchema() at #/$defs/b/$anchor");
    expect(error.message).toContain("must be used only once");
  });

  test("but not one that is used twice, or that leads to a part of the value", () => {
    const twice = { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: {} } };
    expect(() => jsonSchema(twice)).not.toThrow();
    const tree = { items: { anyOf: [{ $ref: "#" }, { type: "null" }] } };
    expect(() => jsonSchema(tree)).not.toThrow();
  });
});

test("a chain of 9,000 references is followed without overflowing the stack", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 9000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
  );
  expect(() => jsonSchema({ $defs: { ...$defs, d9000: {} } })).not.toThrow();
});

test("a getter of the schema is read once", () => {
  let reads = 0;
  const schema = {
    get type() {
      reads++;
      return reads === 1 ? "string" : "no type at all";
    },
  };
  expect(validateNow(jsonSchema(schema), "a").ok).toBe(true);
  expect(reads).toBe(1);
});

test("the caller's schema is neither frozen nor changed", () => {
  const schema = { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } };
  const before = structuredClone(schema);
  validateNow(jsonSchema(schema), { a: 1 });
  expect(schema).toEqual(before);
  expect(Object.getOwnPropertyNames(schema.$defs.a)).toEqual(["type"]);
  expect([schema, schema.$defs.a].some(Object.isFrozen)).toBe(false);
});
