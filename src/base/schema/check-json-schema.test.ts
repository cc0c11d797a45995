import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../errors.ts";
import { jsonSchema } from "./json-schema.ts";
import { validateNow } from "./schema.ts";

const catchRejection = (schema: unknown): PromptValidationError => {
  try {
    jsonSchema(schema as object);
  } catch (error) {
    if (error instanceof PromptValidationError) return error;
    throw error;
  }
  throw new Error("jsonSchema() accepted it");
};

describe("jsonSchema() rejects a schema that is not JSON", () => {
  test.each([
    ["undefined", undefined],
    ["null", null],
    ["true", true],
    ["a string", "{}"],
    ["an array", []],
    ["an instance", new Map()],
    ["a function", () => ({})],
  ])("if it is not a plain object but %s", (_what, schema) => {
    expect(catchRejection(schema).message).toMatch(
      /^jsonSchema\(\) at # must be a plain object, got .+\. Pass a JSON Schema such as \{/,
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
  ])("if it contains %s", (_what, value) => {
    const error = catchRejection({ properties: { "a/b": { default: [1, value] } } });
    expect(error.field).toBe("jsonSchema() at #/properties/a~1b/default/1");
    expect(error.message).toContain("must be JSON, got");
    expect(error.message).toContain("Use plain JSON without undefined, functions, dates");
  });

  test("if it contains itself", () => {
    const cycle: Record<string, unknown> = { type: "object" };
    cycle["properties"] = { again: cycle };
    expect(catchRejection(cycle)).toMatchObject({
      field: "jsonSchema() at #/properties/again",
      message: expect.stringContaining("must not contain itself"),
    });
  });

  test("if it is nested 10,000 levels deep", () => {
    let schema: object = {};
    for (let level = 0; level < 10_000; level++) schema = { items: schema };
    expect(catchRejection(schema).message).toContain(
      "must not be nested more than 1000 levels deep",
    );
  });

  test("if its shared parts amount to too many subschemas", () => {
    let schema: object = {};
    for (let level = 0; level < 40; level++) schema = { anyOf: [schema, schema] };
    expect(catchRejection(schema).message).toContain(
      "must have at most 10000 subschemas, got 10001",
    );
  });

  test("if a name is not well-formed Unicode", () => {
    const error = catchRejection({ properties: { "\ud800": {} } });
    expect(error.message).toContain("must have property names in well-formed Unicode");
  });
});

describe("jsonSchema() checks the value of each keyword and", () => {
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
      'must be an array of property names, got "a". Use ["name"].',
    ],
    [
      "required as a boolean",
      { properties: { a: { required: true } } },
      "#/properties/a/required",
      "must be an array of property names",
    ],
    ["properties", { properties: ["a"] }, "#/properties", "must be an object of schemas by name"],
    [
      "a property",
      { properties: { a: "string" } },
      "#/properties/a",
      'must be a schema, got "string". Use an object, true or false',
    ],
    [
      "enum",
      { items: { enum: "a" } },
      "#/items/enum",
      "must be a non-empty array of the allowed values",
    ],
    [
      "an array of items",
      { items: [{}] },
      "#/items",
      "must be a schema, got [{}]. Use an object, true or false; for an array of schemas use prefixItems",
    ],
    ["anyOf", { anyOf: [] }, "#/anyOf", "must be a non-empty array of schemas"],
    ["prefixItems", { prefixItems: [1] }, "#/prefixItems/0", "must be a schema"],
    ["minimum", { minimum: "3" }, "#/minimum", 'must be a number, got "3"'],
    [
      "draft 4 bounds",
      { exclusiveMinimum: true },
      "#/exclusiveMinimum",
      "must be a number, got true",
    ],
    ["minLength", { minLength: -1 }, "#/minLength", "must be a non-negative integer"],
    ["maxItems", { maxItems: 1.5 }, "#/maxItems", "must be a non-negative integer"],
    ["multipleOf", { multipleOf: 0 }, "#/multipleOf", "must be a positive number"],
    ["uniqueItems", { uniqueItems: 1 }, "#/uniqueItems", "must be true or false, got 1"],
    [
      "dependentRequired",
      { dependentRequired: { a: "b" } },
      "#/dependentRequired",
      "must be an object of arrays of property names",
    ],
    ["format", { format: 1 }, "#/format", "must be a string, got 1"],
    ["$id", { $id: 1 }, "#/$id", "must be a string, got 1"],
    ["inner $id", { $defs: { a: { $id: "a" } } }, "#/$defs/a/$id", "must be used only at the root"],
    ["$anchor", { $anchor: "#a" }, "#/$anchor", "must be a plain name"],
    [
      "draft 7",
      { $schema: "http://json-schema.org/draft-07/schema#" },
      "#/$schema",
      "must be the URL of draft 2020-12",
    ],
    [
      "pattern",
      { pattern: "(" },
      "#/pattern",
      "must be a regular expression (Invalid regular expression",
    ],
    ["pattern without u", { pattern: "\\-" }, "#/pattern", "must be a regular expression"],
    [
      "pattern that is a number",
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
  ])("rejects an invalid value: %s", (_what, schema, pointer, message) => {
    const error = catchRejection(schema);
    expect(error.field).toBe(`jsonSchema() at ${pointer}`);
    expect(error.message).toContain(message);
  });

  test("retains the runtime's reason for rejecting a pattern", () => {
    expect(catchRejection({ pattern: "(" }).cause).toBeInstanceOf(SyntaxError);
  });

  test("accepts a property named like a keyword", () => {
    const properties = { type: {}, required: {}, items: {}, $ref: {}, pattern: {}, enum: {} };
    expect(() => jsonSchema({ properties })).not.toThrow();
  });

  test("accepts a schema used as data", () => {
    const data = { type: "int", required: true };
    expect(() =>
      jsonSchema({ default: data, const: data, enum: [data], "x-a": data }),
    ).not.toThrow();
  });
});

describe("jsonSchema() with references", () => {
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
  ])("rejects a target outside the schema: %s", ($ref) => {
    const error = catchRejection({ properties: { a: { default: {} }, b: { $ref } } });
    expect(error.field).toBe("jsonSchema() at #/properties/b/$ref");
    expect(error.message).toContain("must point to a schema within this schema");
    expect(error.message).toContain('Copy the schema into $defs and use "#/$defs/name"');
  });

  test.each<[string, object]>([
    ["to itself", { $ref: "#" }],
    ["through allOf", { allOf: [{ $ref: "#" }] }],
    ["through not", { properties: { a: { not: { $ref: "#/properties/a" } } } }],
    [
      "over several steps",
      { $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [true, { $ref: "#/$defs/a" }] } } },
    ],
  ])("rejects an endless loop on the same value: %s", (_what, schema) => {
    expect(catchRejection(schema).message).toContain(
      "must not apply itself to the same value again",
    );
  });

  test("rejects a name that two schemas have", () => {
    const error = catchRejection({ $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } });
    expect(error.field).toBe("jsonSchema() at #/$defs/b/$anchor");
    expect(error.message).toContain("must be used only once");
  });

  test("accepts repeated and recursive references", () => {
    const twice = { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }], $defs: { a: {} } };
    expect(() => jsonSchema(twice)).not.toThrow();
    const tree = { items: { anyOf: [{ $ref: "#" }, { type: "null" }] } };
    expect(() => jsonSchema(tree)).not.toThrow();
  });
});

test("jsonSchema() follows a chain of 9,000 references without overflowing the stack", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 9000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
  );
  expect(() => jsonSchema({ $defs: { ...$defs, d9000: {} } })).not.toThrow();
});

test("jsonSchema() reads a getter of the schema once", () => {
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

test("jsonSchema() neither freezes nor changes the caller's schema", () => {
  const schema = { properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "string" } } };
  const before = structuredClone(schema);
  validateNow(jsonSchema(schema), { a: 1 });
  expect(schema).toEqual(before);
  expect(Object.getOwnPropertyNames(schema.$defs.a)).toEqual(["type"]);
  expect([schema, schema.$defs.a].some(Object.isFrozen)).toBe(false);
});
