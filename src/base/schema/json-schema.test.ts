import { afterEach, describe, expect, test, vi } from "vitest";
import { jsonSchema, loadJsonSchemaValidator } from "./json-schema.ts";
import { checkSchema, fieldsOf, validate, validateNow } from "./schema.ts";

afterEach(() => vi.restoreAllMocks());

const forecast = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 14 } },
  required: ["city"],
  additionalProperties: false,
};

/** What a model reads about a value that does not match; `null` if it matches. */
const problemOf = (schema: object, value: unknown) => {
  const verdict = validateNow(jsonSchema(schema), value);
  return verdict.ok ? null : verdict.problem;
};

describe("a schema from jsonSchema()", () => {
  test("is a Standard Schema that describes itself as what was given", () => {
    const { version, vendor, jsonSchema: described } = jsonSchema(forecast)["~standard"];
    expect({ version, vendor }).toEqual({ version: 1, vendor: "weakincentives" });
    expect(described.input({ target: "draft-2020-12" })).toEqual(forecast);
    expect(described.output({ target: "draft-2020-12" })).toEqual(forecast);
  });

  test("is accepted wherever a schema is, and its fields are found", () => {
    const described = checkSchema(jsonSchema(forecast), "Tool.params", ["object"]);
    expect(described).toEqual(forecast);
    expect([...fieldsOf(described).keys()]).toEqual(["city", "days"]);
    expect(() => checkSchema(jsonSchema({ type: "string" }), "Tool.params", ["object"])).toThrow(
      "Tool.params must have object at its root",
    );
  });

  test("keeps a frozen copy, so that later changes do not reach it", () => {
    const given = { type: "object", properties: { a: { type: "string" } } };
    const schema = jsonSchema(given);
    given.properties.a.type = "number";
    const described = schema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    expect(described).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect([described, described["properties"]].every(Object.isFrozen)).toBe(true);
    expect(validateNow(schema, { a: "text" }).ok).toBe(true);
  });

  test("returns the very value it was given", async () => {
    const schema = jsonSchema({ type: "object", properties: { page: { default: 1 } } });
    const value = { days: "3" };
    expect(validateNow(schema, value)).toEqual({ ok: true, value: { days: "3" } });
    const verdict = await validate(schema, value);
    expect(verdict.ok && verdict.value).toBe(value);
  });

  test("treats an undefined property as absent", () => {
    expect(problemOf(forecast, { city: "Bern", days: undefined })).toBeNull();
    expect(problemOf(forecast, { city: undefined })).toBe("city: is required");
  });

  test("follows references, also to itself", () => {
    const schema = {
      type: "object",
      properties: {
        "a/b %": { $anchor: "name", type: "string" },
        name: { $ref: "#name" },
        same: { $ref: "#/properties/a~1b%20%25" },
        kids: { type: "array", items: { $ref: "#" } },
        old: { $ref: "#/definitions/n" },
      },
      definitions: { n: { type: "number" } },
    };
    expect(problemOf(schema, { name: "a", kids: [{ kids: [] }], old: 1 })).toBeNull();
    expect(problemOf(schema, { name: 1, same: 2, kids: [{ kids: [{ name: 3 }] }], old: "" })).toBe(
      "name: must be a string, got 1; same: must be a string, got 2; " +
        'kids.0.kids.0.name: must be a string, got 3; old: must be a number, got ""',
    );
  });

  test("ignores ids, annotations and unknown keywords, whatever they hold", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: "not a URI at all ::",
      id: "http://[",
      title: "T",
      "x-ui": { $ref: "http://[", $id: "http://[", id: 5, items: "no" },
      examples: [{ $ref: "nowhere" }],
      default: { properties: 3 },
      const: { $ref: "#/nowhere" },
    };
    expect(problemOf(schema, { $ref: "#/nowhere" })).toBeNull();
  });

  test.each([
    ["email", "ada@example.com", "ada"],
    ["date-time", "2026-02-03T04:05:06Z", "yesterday"],
    ["uuid", "0f0e0d0c-0b0a-4908-8706-050403020100", "0f0e"],
    ["uri", "https://example.com/a", "a b"],
  ])("checks the format %s", (format, right, wrong) => {
    expect(problemOf({ format }, right)).toBeNull();
    expect(problemOf({ format }, wrong)).toBe(
      `must have the format "${format}", got ${JSON.stringify(wrong)}`,
    );
  });

  test.each(["url", "hasOwnProperty", "__proto__", "phone"])(
    "takes the format %s as an annotation",
    (format) => expect(problemOf({ format }, "anything")).toBeNull(),
  );
});

describe("an issue", () => {
  test("has the path of the value, with numbers for list items", async () => {
    const schema = jsonSchema({
      properties: { "a.b": { items: { properties: { "c/d": { type: "string" } } } } },
    });
    const result = await schema["~standard"].validate({ "a.b": [{}, { "c/d": 3 }] });
    const message = "must be a string, got 3";
    expect(result.issues).toEqual([{ path: ["a.b", 1, "c/d"], message }]);
  });

  test.each<[string, object, unknown, string]>([
    ["type", { type: "string" }, 3, "must be a string, got 3"],
    [
      "type with several choices",
      { type: ["integer", "null"] },
      1.5,
      "must be an integer or null, got 1.5",
    ],
    ["const", { const: { a: 1 } }, [1], 'must be {"a":1}, got [1]'],
    ["enum", { enum: ["a", 2, null] }, "b", 'must be "a", 2 or null, got "b"'],
    ["minimum", { minimum: 3 }, 1, "must be at least 3, got 1"],
    ["maximum", { maximum: 3 }, 4, "must be at most 3, got 4"],
    ["exclusiveMinimum", { exclusiveMinimum: 3 }, 3, "must be greater than 3, got 3"],
    ["exclusiveMaximum", { exclusiveMaximum: 3 }, 3, "must be less than 3, got 3"],
    ["multipleOf", { multipleOf: 0.1 }, 0.25, "must be a multiple of 0.1, got 0.25"],
    ["minLength", { minLength: 2 }, "💥", "must have at least 2 characters, has 1"],
    ["maxLength", { maxLength: 1 }, "💥💥", "must have at most 1 character, has 2"],
    ["pattern", { pattern: "^a" }, "b", 'must match the pattern "^a", got "b"'],
    ["minItems", { minItems: 1 }, [], "must have at least 1 item, has 0"],
    ["maxItems", { maxItems: 0 }, [1], "must have at most 0 items, has 1"],
    ["uniqueItems", { uniqueItems: true }, [{ a: 1 }, { a: 1 }], "must not have duplicate items"],
    ["minProperties", { minProperties: 1 }, {}, "must have at least 1 property, has 0"],
    ["maxProperties", { maxProperties: 0 }, { a: 1 }, "must have at most 0 properties, has 1"],
    ["required", { required: ["a", "b"] }, {}, "a: is required; b: is required"],
    [
      "dependentRequired",
      { dependentRequired: { a: ["b"], c: ["d"] } },
      { a: 1 },
      'b: is required when "a" is present',
    ],
    [
      "dependentSchemas",
      { dependentSchemas: { a: { required: ["b"] } } },
      { a: 1 },
      "b: is required",
    ],
    [
      "additionalProperties: false",
      forecast,
      { city: "", x: 1 },
      'x: is not allowed, only "city", "days"',
    ],
    [
      "additionalProperties: false without properties",
      { additionalProperties: false },
      { x: 1 },
      "x: is not allowed",
    ],
    ["a property that is false", { properties: { x: false } }, { x: 1 }, "x: is not allowed"],
    ["items: false", { prefixItems: [true], items: false }, [1, 2], "1: is not allowed"],
    [
      "unevaluatedProperties: false",
      { unevaluatedProperties: false },
      { x: 1 },
      "x: is not allowed",
    ],
    ["not", { not: { type: "string" } }, "a", 'must not match {"type":"string"}, got "a"'],
    [
      "propertyNames",
      { propertyNames: { anyOf: [{ const: "a" }, { pattern: "^x" }] } },
      { b: 1 },
      'b: its name must match the pattern "^x", got "b"',
    ],
    [
      "propertyNames with a choice",
      { propertyNames: { anyOf: [{ const: "a" }, { const: "b" }] } },
      { c: 1 },
      'c: its name must be "a" or "b", got "c"',
    ],
    ["propertyNames: false", { propertyNames: false }, { b: 1 }, "b: its name is not allowed"],
    [
      "patternProperties",
      { patternProperties: { "^x/": { type: "null" } } },
      { "x/": 1 },
      "x/: must be null, got 1",
    ],
    [
      "contains",
      { contains: { type: "null" } },
      [1],
      'must have at least 1 item matching {"type":"null"}',
    ],
    [
      "contains in a list of lists",
      { items: { contains: { type: "null" } } },
      [[null], []],
      '1: must have at least 1 item matching {"type":"null"}',
    ],
    [
      "minContains",
      { contains: { type: "null" }, minContains: 2 },
      [1, null],
      'must have at least 2 items matching {"type":"null"}',
    ],
    [
      "maxContains",
      { contains: { type: "null" }, maxContains: 1 },
      [null, null],
      'must have at most 1 item matching {"type":"null"}',
    ],
    [
      "allOf",
      { allOf: [{ type: "string" }, { minLength: 2 }] },
      "a",
      "must have at least 2 characters, has 1",
    ],
    [
      "then",
      JSON.parse('{ "if": { "type": "string" }, "then": { "minLength": 2 } }'),
      "a",
      "must have at least 2 characters, has 1",
    ],
    ["else", { if: { type: "string" }, else: { minimum: 2 } }, 1, "must be at least 2, got 1"],
  ])("explains a violation of %s", (_what, schema, value, problem) => {
    expect(problemOf(schema, value)).toBe(problem);
  });

  test("shows a long choice and a long value in part", () => {
    const choices = Array.from({ length: 100_000 }, (_, index) => index);
    expect(problemOf({ enum: choices }, "no")).toBe(
      'must be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or one of 99988 others, got "no"',
    );
    expect(problemOf({ type: "null" }, "x".repeat(1000))?.length).toBeLessThan(120);
  });

  test("is one of at most 20, with the number of the others", async () => {
    const schema = jsonSchema({ items: { type: "string" } });
    const { issues = [] } = await schema["~standard"].validate(Array(50).fill(1));
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toEqual({ message: "30 more problems like these" });
  });
});

describe("alternatives", () => {
  const shapes = {
    anyOf: [
      { properties: { kind: { const: "circle" }, r: { type: "number" } }, required: ["kind", "r"] },
      { properties: { kind: { const: "box" }, w: { minimum: 1 } }, required: ["kind"] },
      { type: "null" },
    ],
  };

  test.each<[string, unknown, string]>([
    ["are merged where the type is wrong", 3, "must be an object or null, got 3"],
    [
      "are merged where none is meant",
      { kind: "dot" },
      'kind: must be "circle" or "box", got "dot"',
    ],
    ["are reduced to the one that is meant", { kind: "circle" }, "r: is required"],
    ["are reduced to the one that is meant", { kind: "box", w: 0 }, "w: must be at least 1, got 0"],
  ])("%s: %j", (_what, value, problem) => {
    const typed = { anyOf: shapes.anyOf.map((shape) => ({ type: "object", ...shape })) };
    expect(problemOf(typed, value)).toBe(problem);
    expect(problemOf({ oneOf: typed.anyOf }, value)).toBe(problem);
    expect(problemOf({ items: { $ref: "#/$defs/s" }, $defs: { s: typed } }, [value])).toContain(
      "0",
    );
  });

  test("are listed with a reason each where several may be meant", () => {
    const required = (name: string) => ({ required: [name] });
    expect(problemOf({ anyOf: ["a", "b"].map(required) }, {})).toBe(
      "must match an alternative: (1) a is required, or (2) b is required",
    );
    expect(problemOf({ anyOf: ["a", "b", "c", "d", "e"].map(required) }, {})).toBe(
      "must match an alternative: (1) a is required, or (2) b is required, or (3) c is required, or 2 others",
    );
  });

  test("of which too many match are counted", () => {
    const schema = { oneOf: [{ type: "number" }, { minimum: 3 }, { type: "string" }, false] };
    expect(problemOf(schema, 5)).toBe("must match exactly one of 4 alternatives, matches 2");
  });

  test("within alternatives are merged too", () => {
    const schema = { anyOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { enum: [1, 2] }] };
    expect(problemOf(schema, 3)).toBe("must be a string, null, 1 or 2, got 3");
  });

  test("that are false are not allowed", () => {
    expect(problemOf({ anyOf: [false] }, 1)).toBe("is not allowed");
  });
});

describe("a hostile value", () => {
  const nested = (depth: number) => {
    let value: unknown[] = [];
    for (let level = 0; level < depth; level++) value = [value];
    return value;
  };
  const tree = { type: "array", items: { anyOf: [{ $ref: "#" }, { $ref: "#" }] } };

  test.each<[string, unknown, string]>([
    ["undefined", undefined, "must be JSON: value is undefined"],
    ["a date", { at: new Date(0) }, "must be JSON: value.at is a Date"],
    ["a map", new Map(), "must be JSON: value is a Map"],
    ["a bigint", [1n], "must be JSON: value.0 is 1"],
    ["not a number", { n: Number.NaN }, "must be JSON: value.n is NaN"],
    ["10,000 levels", nested(10_000), "must be JSON: value is nested more than 1000 levels deep"],
    ["a lone surrogate", { "\ud800": 1 }, "has a property name that is not well-formed Unicode"],
  ])("is refused: %s", (_what, value, problem) => {
    expect(problemOf({ additionalProperties: { type: "number" } }, value)).toBe(problem);
  });

  test("that overflows the stack is a problem, not a crash", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 4000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
    );
    const schema = jsonSchema({ $ref: "#/$defs/d0", $defs: { ...chain, d4000: {} } });
    const problem = "is too large or too deeply nested to be validated";
    expect(await validate(schema, 1)).toEqual({ ok: false, problem });
    expect(validateNow(schema, 1)).toEqual({ ok: false, problem });
  });

  test("that is nested in itself through a reference is checked some hundred levels deep", () => {
    expect(problemOf(tree, nested(8))).toBeNull();
    expect(problemOf({ type: "array", items: { $ref: "#" } }, nested(200))).toBeNull();
  });

  test("with a million mistakes gets the first one", () => {
    const value = { list: Array(1_000_000).fill(1) };
    const schema = { properties: { list: { items: { type: "string" } } } };
    expect(problemOf(schema, value)).toBe("list.0: must be a string, got 1");
  });

  test("with more mistakes than the validator can collect gets the first one", () => {
    const anyOf = Array.from({ length: 8 }, (_, index) => ({ required: [`a${index}`] }));
    const value = { list: Array(20_000).fill({}) };
    const schema = { properties: { list: { items: { anyOf } } } };
    expect(problemOf(schema, value)).toBe(
      "list.0: must match an alternative: (1) a0 is required, or (2) a1 is required, " +
        "or (3) a2 is required, or 5 others",
    );
  });

  test("with names from Object.prototype is read by its own properties", () => {
    const names = ["__proto__", "constructor", "toString"];
    const schema = JSON.parse(
      `{ "properties": { "__proto__": { "type": "string" }, "constructor": { "type": "string" } },
         "required": ${JSON.stringify(names)}, "additionalProperties": false }`,
    );
    expect(problemOf(schema, {})).toBe(names.map((name) => `${name}: is required`).join("; "));
    expect(problemOf(schema, JSON.parse('{"__proto__":1,"constructor":2,"toString":3}'))).toBe(
      "__proto__: must be a string, got 1; constructor: must be a string, got 2; " +
        'toString: is not allowed, only "__proto__", "constructor"',
    );
  });
});

describe("the validator", () => {
  const usable = { dereference: expect.any(Function), validate: expect.any(Function) };
  const failing = (message: string) => () => {
    throw new Error(message);
  };

  test("is loaded synchronously on Node", () => {
    expect(loadJsonSchemaValidator()).toMatchObject(usable);
  });

  test.each<[string, unknown]>([
    ["has no node:module", undefined],
    ["cannot require by URL", { createRequire: failing("must be a file URL") }],
    ["does not find the package", { createRequire: () => failing("Cannot find module") }],
  ])("is imported where the runtime %s", async (_why, found) => {
    const loading = loadJsonSchemaValidator(() => found);
    expect(loading).toBeInstanceOf(Promise);
    expect(await loading).toMatchObject(usable);
  });

  test("makes validation asynchronous while it is imported, and not after that", async () => {
    vi.spyOn(process, "getBuiltinModule").mockImplementation(() => undefined);
    const schema = jsonSchema(forecast);
    expect(validateNow(schema, { city: "Bern" })).toMatchObject({
      ok: false,
      problem: expect.stringContaining("asynchronous"),
    });
    expect(await validate(schema, { city: 3 })).toEqual({
      ok: false,
      problem: "city: must be a string, got 3",
    });
    expect(validateNow(schema, { city: "Bern" }).ok).toBe(true);
  });
});
