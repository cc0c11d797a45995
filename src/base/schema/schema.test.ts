import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { checkSchema, listFields, type Schema, validate, validateNow } from "./schema.ts";

const fitting: readonly (readonly [string, Schema<{ city: string; days: number }>])[] = [
  ["Zod 4", z.object({ city: z.string(), days: z.number() })],
  ["ArkType, whose schemas are functions", type({ city: "string", days: "number" })],
  [
    "Valibot through toStandardJsonSchema",
    toStandardJsonSchema(v.object({ city: v.string(), days: v.number() })),
  ],
];

describe.each(fitting)("a schema from %s", (_vendor, schema) => {
  test("is accepted and described", () => {
    expect(checkSchema(schema, "Tool.params", ["object"])).toEqual({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" } },
      required: ["city", "days"],
    });
  });

  test("validates values", async () => {
    const value = { city: "Bern", days: 3 };
    expect(await validate(schema, value)).toEqual({ ok: true, value });
    expect(validateNow(schema, value)).toEqual({ ok: true, value });
  });

  test("reports the problem and its path", async () => {
    const wrong = { city: "Bern", days: "three" };
    const verdict = { ok: false, problem: expect.stringMatching(/^days: ./) };
    expect(await validate(schema, wrong)).toEqual(verdict);
    expect(validateNow(schema, wrong)).toEqual(verdict);
  });
});

describe("checkSchema() returns a description that", () => {
  test("is frozen recursively and does not name its dialect", () => {
    const described = checkSchema(z.object({ a: z.array(z.string()) }), "Tool.params", ["object"]);
    expect(described).not.toHaveProperty("$schema");
    const { properties } = described;
    expect([described, properties, listFields(described).get("a")].every(Object.isFrozen)).toBe(
      true,
    );
  });

  test("is a copy", () => {
    const properties = { a: { type: "string" } };
    const schema = createSchema({ describe: () => ({ type: "object", properties }) });
    expect(checkSchema(schema, "Tool.params", ["object"])).toEqual({ type: "object", properties });
    expect([properties, properties.a].some(Object.isFrozen)).toBe(false);
  });

  test("describes the input, not the output", () => {
    const schema = z.object({ n: z.string().transform(Number) });
    expect(checkSchema(schema, "Tool.params", ["object"])).toMatchObject({
      properties: { n: { type: "string" } },
    });
  });

  test("may have any root type if any is allowed", () => {
    expect(checkSchema(z.string(), "Tool.result", ["any"])).toEqual({ type: "string" });
    expect(checkSchema(z.array(z.string()), "output", ["object", "array"])).toMatchObject({
      type: "array",
    });
    const union = z.union([z.string(), z.object({})]);
    expect(checkSchema(union, "Tool.result", ["any"])).not.toHaveProperty("type");
  });
});

describe("checkSchema()", () => {
  const expectRejection = (schema: unknown, rule: string, remedy: string) => {
    expect(() => checkSchema(schema as never, "Tool.params", ["object"])).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "Tool.params",
        message: expect.stringMatching(new RegExp(`^Tool.params ${rule}, got .*\\. ${remedy}`)),
      }),
    );
  };

  test.each([
    ["undefined", undefined],
    ["null", null],
    ["a JSON Schema", { type: "object" }],
    ["a function", () => {}],
    ["a string", "string"],
    ["an empty Standard Schema", { "~standard": { vendor: "zod" } }],
    ["a null Standard Schema", { "~standard": null }],
  ])("rejects a value that is not a schema and names supported libraries: %s", (_what, schema) => {
    expectRejection(schema, "must be a Standard Schema", "Use Zod 4, ArkType, Valibot through");
  });

  test("suggests toStandardJsonSchema() for a plain Valibot schema", () => {
    const schema = v.object({ a: v.string() });
    expectRejection(
      schema,
      "must describe itself as JSON Schema",
      "Wrap it in toStandardJsonSchema\\(\\)",
    );
  });

  test("suggests an update for an old Zod schema", () => {
    const schema = { "~standard": { vendor: "zod", version: 1, validate: () => ({ value: 1 }) } };
    expectRejection(schema, "must describe itself as JSON Schema", "Update zod to 4.2 or later");
  });

  test("names supported libraries for any other schema without JSON Schema", () => {
    const schema = { "~standard": { vendor: "mine", version: 1, validate: () => ({ value: 1 }) } };
    expectRejection(
      schema,
      "must describe itself as JSON Schema",
      "Use Zod 4, ArkType or jsonSchema",
    );
  });

  test.each([
    ["a date", z.object({ at: z.date() })],
    ["a bigint", z.object({ n: z.bigint() })],
    ["a map", z.object({ m: z.map(z.string(), z.string()) })],
  ])(
    "retains the library's reason if JSON Schema cannot describe the schema: %s",
    (_what, schema) => {
      expectRejection(
        schema,
        "must describe itself as JSON Schema",
        "Keep to what JSON can say: no dates",
      );
      expect(() => checkSchema(schema, "Tool.params", ["object"])).toThrow(
        expect.objectContaining({ cause: expect.any(Error) }),
      );
    },
  );

  test("rejects a schema that describes itself as undefined", () => {
    const schema = createSchema({ describe: () => undefined });
    expectRejection(schema, "must describe itself as JSON Schema", "Keep to what JSON can say");
  });

  test.each([
    ["a string", z.string()],
    ["an array", z.array(z.object({}))],
    ["a union of objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ["anything", z.unknown()],
  ])("rejects a schema with a different root type and suggests a wrapper: %s", (_what, schema) => {
    expectRejection(
      schema,
      "must have object at its root",
      "Wrap it, for example in z.object\\({ value: … }\\)",
    );
  });

  test("names all allowed root types", () => {
    expect(() => checkSchema(z.string(), "output", ["object", "array"])).toThrow(
      'output must have object or array at its root, got {"type":"string"}. Wrap it',
    );
  });
});

describe("validate() and validateNow()", () => {
  test("return the schema's output value", async () => {
    const schema = z.object({ n: z.string().transform(Number), page: z.number().default(1) });
    expect(await validate(schema, { n: "5" })).toEqual({ ok: true, value: { n: 5, page: 1 } });
  });

  test("join all problems with their paths", async () => {
    const schema = z.object({ a: z.array(z.object({ b: z.string() })), c: z.number() });
    const verdict = await validate(schema, { a: [{ b: 1 }], c: "x" });
    expect(verdict).toEqual({ ok: false, problem: expect.stringMatching(/^a\.0\.b: .+; c: .+$/) });
  });

  test("report a problem of the whole value without a path", async () => {
    const verdict = await validate(z.object({}), "text");
    expect(verdict).toEqual({
      ok: false,
      problem: expect.stringMatching(/^[^:]*: expected object/),
    });
    const bare = createSchema({ validate: () => ({ issues: [{ message: "It is wrong." }] }) });
    expect(validateNow(bare, 1)).toEqual({ ok: false, problem: "It is wrong." });
  });

  test("format path steps that are objects, numbers or symbols", () => {
    const path = [{ key: "a" }, 0, Symbol("s")];
    const schema = createSchema({ validate: () => ({ issues: [{ message: "no", path }] }) });
    expect(validateNow(schema, 1)).toEqual({ ok: false, problem: "a.0.Symbol(s): no" });
  });

  test("wait for an asynchronous schema in validate()", async () => {
    const schema = z.string().refine(async (text) => text === "yes", { message: "say yes" });
    expect(await validate(schema, "yes")).toEqual({ ok: true, value: "yes" });
    expect(await validate(schema, "no")).toEqual({ ok: false, problem: "say yes" });
  });

  test("reject an asynchronous schema in validateNow()", () => {
    const late = createSchema({ validate: () => Promise.reject(new Error("late")) });
    const problem = "the schema is asynchronous, but a synchronous one is required here";
    expect(validateNow(late, "a")).toEqual({ ok: false, problem });
    expect(
      validateNow(
        z.string().refine(async () => true),
        "a",
      ),
    ).toEqual({ ok: false, problem });
  });

  test("return a problem if the schema throws or rejects", async () => {
    const fail = () => {
      throw new Error("boom");
    };
    const schemas = [
      z.string().transform(fail),
      toStandardJsonSchema(v.pipe(v.string(), v.check(fail))),
      createSchema({ validate: () => Promise.reject(new Error("boom")) }),
      createSchema({ validate: fail }),
    ];
    for (const schema of schemas) {
      expect(await validate(schema, "a")).toEqual({ ok: false, problem: "boom" });
      expect(validateNow(schema, "a").ok).toBe(false);
    }
    expect(validateNow(createSchema({ validate: fail }), "a")).toEqual({
      ok: false,
      problem: "boom",
    });
  });
});

describe("listFields()", () => {
  test("returns the properties by name", () => {
    const described = checkSchema(z.object({ a: z.string(), b: z.number() }), "p", ["object"]);
    expect([...listFields(described)]).toEqual([
      ["a", { type: "string" }],
      ["b", { type: "number" }],
    ]);
  });

  test("returns an empty map for a schema without properties", () => {
    expect(listFields({ type: "string" }).size).toBe(0);
    expect(listFields({ properties: [] }).size).toBe(0);
  });

  test("returns an empty schema for a property that accepts anything", () => {
    expect(listFields({ properties: { a: true } }).get("a")).toEqual({});
  });
});

function createSchema(parts: {
  readonly validate?: (value: unknown) => unknown;
  readonly describe?: () => unknown;
}): Schema {
  const describe = parts.describe ?? (() => ({}));
  const standard = {
    version: 1,
    vendor: "mine",
    validate: parts.validate ?? ((value: unknown) => ({ value })),
    jsonSchema: { input: describe, output: describe },
  };
  return { "~standard": standard as never };
}
