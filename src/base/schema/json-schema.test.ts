import { afterEach, describe, expect, test, vi } from "vitest";
import { jsonSchema, loadJsonSchemaValidator } from "./json-schema.ts";
import { checkSchema, listFields, validate, validateNow } from "./schema.ts";

afterEach(() => vi.restoreAllMocks());

const forecast = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 14 } },
  required: ["city"],
  additionalProperties: false,
};

/** Returns the problem that a model reads, or `null` if the value matches. */
const findProblem = (schema: object, value: unknown) => {
  const verdict = validateNow(jsonSchema(schema), value);
  return verdict.ok ? null : verdict.problem;
};

describe("jsonSchema()", () => {
  test("returns a Standard Schema that describes itself as the given schema", () => {
    const { version, vendor, jsonSchema: described } = jsonSchema(forecast)["~standard"];
    expect({ version, vendor }).toEqual({ version: 1, vendor: "weakincentives" });
    expect(described.input({ target: "draft-2020-12" })).toEqual(forecast);
    expect(described.output({ target: "draft-2020-12" })).toEqual(forecast);
  });

  test("returns a schema that is accepted everywhere and whose fields are found", () => {
    const described = checkSchema(jsonSchema(forecast), "Tool.params", ["object"]);
    expect(described).toEqual(forecast);
    expect([...listFields(described).keys()]).toEqual(["city", "days"]);
    expect(() => checkSchema(jsonSchema({ type: "string" }), "Tool.params", ["object"])).toThrow(
      "Tool.params must have object at its root",
    );
  });

  test("copies the schema, so that later changes do not affect it", () => {
    const given = { type: "object", properties: { a: { type: "string" } } };
    const schema = jsonSchema(given);
    given.properties.a.type = "number";
    const described = schema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    expect(described).toEqual({ type: "object", properties: { a: { type: "string" } } });
    expect([described, described["properties"]].every(Object.isFrozen)).toBe(true);
    expect(validateNow(schema, { a: "text" }).ok).toBe(true);
  });

  test("validates without copying or changing the value", async () => {
    const schema = jsonSchema({ type: "object", properties: { page: { default: 1 } } });
    const value = { days: "3" };
    expect(validateNow(schema, value)).toEqual({ ok: true, value: { days: "3" } });
    const verdict = await validate(schema, value);
    expect(verdict.ok && verdict.value).toBe(value);
  });

  test("treats an undefined property as absent", () => {
    expect(findProblem(forecast, { city: "Bern", days: undefined })).toBeNull();
    expect(findProblem(forecast, { city: undefined })).toBe("city: is required");
  });

  test("follows references, including recursive ones", () => {
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
    expect(findProblem(schema, { name: "a", kids: [{ kids: [] }], old: 1 })).toBeNull();
    expect(
      findProblem(schema, { name: 1, same: 2, kids: [{ kids: [{ name: 3 }] }], old: "" }),
    ).toBe(
      "name: must be a string, got 1; same: must be a string, got 2; " +
        'kids.0.kids.0.name: must be a string, got 3; old: must be a number, got ""',
    );
  });

  test("ignores ids, annotations and unknown keywords with any value", () => {
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
    expect(findProblem(schema, { $ref: "#/nowhere" })).toBeNull();
  });

  test.each([
    ["email", "ada@example.com", "ada"],
    ["date-time", "2026-02-03T04:05:06Z", "yesterday"],
    ["uuid", "0f0e0d0c-0b0a-4908-8706-050403020100", "0f0e"],
    ["uri", "https://example.com/a", "a b"],
  ])("checks the format %s", (format, right, wrong) => {
    expect(findProblem({ format }, right)).toBeNull();
    expect(findProblem({ format }, wrong)).toBe(
      `must have the format "${format}", got ${JSON.stringify(wrong)}`,
    );
  });

  test.each(["url", "hasOwnProperty", "__proto__", "phone"])(
    "treats the format %s as an annotation",
    (format) => expect(findProblem({ format }, "anything")).toBeNull(),
  );
});

describe("jsonSchema() issues", () => {
  test("have the path of the value, with numbers for array items", async () => {
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
      "contains in an array of arrays",
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
  ])("explain a violation of %s", (_what, schema, value, problem) => {
    expect(findProblem(schema, value)).toBe(problem);
  });

  test("truncate long choices and long values", () => {
    const choices = Array.from({ length: 100_000 }, (_, index) => index);
    expect(findProblem({ enum: choices }, "no")).toBe(
      'must be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or one of 99988 others, got "no"',
    );
    expect(findProblem({ type: "null" }, "x".repeat(1000))?.length).toBeLessThan(120);
  });

  test("are limited to 20, with a count of the rest", async () => {
    const schema = jsonSchema({ items: { type: "string" } });
    const { issues = [] } = await schema["~standard"].validate(Array(50).fill(1));
    expect(issues).toHaveLength(21);
    expect(issues.at(-1)).toEqual({ message: "30 more problems like these" });
  });
});

describe("jsonSchema() alternatives", () => {
  const shapes = {
    anyOf: [
      { properties: { kind: { const: "circle" }, r: { type: "number" } }, required: ["kind", "r"] },
      { properties: { kind: { const: "box" }, w: { minimum: 1 } }, required: ["kind"] },
      { type: "null" },
    ],
  };

  test.each<[string, unknown, string]>([
    ["are merged if the type is wrong", 3, "must be an object or null, got 3"],
    [
      "are merged if none is selected",
      { kind: "dot" },
      'kind: must be "circle" or "box", got "dot"',
    ],
    ["are reduced to the selected one", { kind: "circle" }, "r: is required"],
    ["are reduced to the selected one", { kind: "box", w: 0 }, "w: must be at least 1, got 0"],
  ])("%s: %j", (_what, value, problem) => {
    const typed = { anyOf: shapes.anyOf.map((shape) => ({ type: "object", ...shape })) };
    expect(findProblem(typed, value)).toBe(problem);
    expect(findProblem({ oneOf: typed.anyOf }, value)).toBe(problem);
    expect(findProblem({ items: { $ref: "#/$defs/s" }, $defs: { s: typed } }, [value])).toContain(
      "0",
    );
  });

  test("are listed with one reason each if several are possible", () => {
    const requireProperty = (name: string) => ({ required: [name] });
    expect(findProblem({ anyOf: ["a", "b"].map(requireProperty) }, {})).toBe(
      "must match an alternative: (1) a is required, or (2) b is required",
    );
    expect(findProblem({ anyOf: ["a", "b", "c", "d", "e"].map(requireProperty) }, {})).toBe(
      "must match an alternative: (1) a is required, or (2) b is required, or (3) c is required, or 2 others",
    );
  });

  test("are counted if too many match", () => {
    const schema = { oneOf: [{ type: "number" }, { minimum: 3 }, { type: "string" }, false] };
    expect(findProblem(schema, 5)).toBe("must match exactly one of 4 alternatives, matches 2");
  });

  test("are merged inside alternatives too", () => {
    const schema = { anyOf: [{ anyOf: [{ type: "string" }, { type: "null" }] }, { enum: [1, 2] }] };
    expect(findProblem(schema, 3)).toBe("must be a string, null, 1 or 2, got 3");
  });

  test("are not allowed if they are false", () => {
    expect(findProblem({ anyOf: [false] }, 1)).toBe("is not allowed");
  });
});

describe("jsonSchema() with a hostile value", () => {
  const nest = (depth: number) => {
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
    ["10,000 levels", nest(10_000), "must be JSON: value is nested more than 1000 levels deep"],
    ["a lone surrogate", { "\ud800": 1 }, "has a property name that is not well-formed Unicode"],
  ])("rejects it: %s", (_what, value, problem) => {
    expect(findProblem({ additionalProperties: { type: "number" } }, value)).toBe(problem);
  });

  test("reports a stack overflow as a problem", async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 4000 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
    );
    const schema = jsonSchema({ $ref: "#/$defs/d0", $defs: { ...chain, d4000: {} } });
    const problem = "is too large or too deeply nested to be validated";
    expect(await validate(schema, 1)).toEqual({ ok: false, problem });
    expect(validateNow(schema, 1)).toEqual({ ok: false, problem });
  });

  test("validates a recursive schema several hundred levels deep", () => {
    expect(findProblem(tree, nest(8))).toBeNull();
    expect(findProblem({ type: "array", items: { $ref: "#" } }, nest(200))).toBeNull();
  });

  test("reports only the first of a million mistakes", () => {
    const value = { list: Array(1_000_000).fill(1) };
    const schema = { properties: { list: { items: { type: "string" } } } };
    expect(findProblem(schema, value)).toBe("list.0: must be a string, got 1");
  });

  test("reports the first mistake if there are too many to collect", () => {
    const anyOf = Array.from({ length: 8 }, (_, index) => ({ required: [`a${index}`] }));
    const value = { list: Array(20_000).fill({}) };
    const schema = { properties: { list: { items: { anyOf } } } };
    expect(findProblem(schema, value)).toBe(
      "list.0: must match an alternative: (1) a0 is required, or (2) a1 is required, " +
        "or (3) a2 is required, or 5 others",
    );
  });

  test("reads only own properties, even with names from Object.prototype", () => {
    const names = ["__proto__", "constructor", "toString"];
    const schema = JSON.parse(
      `{ "properties": { "__proto__": { "type": "string" }, "constructor": { "type": "string" } },
         "required": ${JSON.stringify(names)}, "additionalProperties": false }`,
    );
    expect(findProblem(schema, {})).toBe(names.map((name) => `${name}: is required`).join("; "));
    expect(findProblem(schema, JSON.parse('{"__proto__":1,"constructor":2,"toString":3}'))).toBe(
      "__proto__: must be a string, got 1; constructor: must be a string, got 2; " +
        'toString: is not allowed, only "__proto__", "constructor"',
    );
  });
});

describe("loadJsonSchemaValidator()", () => {
  const usable = { dereference: expect.any(Function), validate: expect.any(Function) };
  const throwError = (message: string) => () => {
    throw new Error(message);
  };

  test("loads the validator synchronously on Node", () => {
    expect(loadJsonSchemaValidator()).toMatchObject(usable);
  });

  test.each<[string, unknown]>([
    ["has no node:module", undefined],
    ["cannot require by URL", { createRequire: throwError("must be a file URL") }],
    ["does not find the package", { createRequire: () => throwError("Cannot find module") }],
  ])("imports the validator if the runtime %s", async (_why, found) => {
    const loading = loadJsonSchemaValidator(() => found);
    expect(loading).toBeInstanceOf(Promise);
    expect(await loading).toMatchObject(usable);
  });

  test("makes validation asynchronous only until the import has finished", async () => {
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
