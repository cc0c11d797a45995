import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { checkSchema, fieldsOf, type Schema, validate, validateNow } from "./schema.ts";

const fitting: readonly (readonly [string, Schema<{ city: string; days: number }>])[] = [
  ["Zod 4", z.object({ city: z.string(), days: z.number() })],
  ["ArkType, whose schemas are functions", type({ city: "string", days: "number" })],
  [
    "Valibot through toStandardJsonSchema",
    toStandardJsonSchema(v.object({ city: v.string(), days: v.number() })),
  ],
];

describe.each(fitting)("%s", (_vendor, schema) => {
  test("is accepted and described", () => {
    expect(checkSchema(schema, "Tool.params", ["object"])).toEqual({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" } },
      required: ["city", "days"],
    });
  });

  test("validates", async () => {
    const value = { city: "Bern", days: 3 };
    expect(await validate(schema, value)).toEqual({ ok: true, value });
    expect(validateNow(schema, value)).toEqual({ ok: true, value });
  });

  test("says what is wrong, and where", async () => {
    const wrong = { city: "Bern", days: "three" };
    const verdict = { ok: false, problem: expect.stringMatching(/^days: ./) };
    expect(await validate(schema, wrong)).toEqual(verdict);
    expect(validateNow(schema, wrong)).toEqual(verdict);
  });
});

describe("a description", () => {
  test("is frozen all the way down and does not name its dialect", () => {
    const described = checkSchema(z.object({ a: z.array(z.string()) }), "Tool.params", ["object"]);
    expect(described).not.toHaveProperty("$schema");
    const { properties } = described;
    expect([described, properties, fieldsOf(described).get("a")].every(Object.isFrozen)).toBe(true);
  });

  test("is a copy: what the schema hands out stays its own", () => {
    const properties = { a: { type: "string" } };
    const schema = handmade({ describe: () => ({ type: "object", properties }) });
    expect(checkSchema(schema, "Tool.params", ["object"])).toEqual({ type: "object", properties });
    expect([properties, properties.a].some(Object.isFrozen)).toBe(false);
  });

  test("is of what goes in, where that differs from what comes out", () => {
    const schema = z.object({ n: z.string().transform(Number) });
    expect(checkSchema(schema, "Tool.params", ["object"])).toMatchObject({
      properties: { n: { type: "string" } },
    });
  });

  test("may be of any type where any may be at the root", () => {
    expect(checkSchema(z.string(), "Tool.result", ["any"])).toEqual({ type: "string" });
    expect(checkSchema(z.array(z.string()), "output", ["object", "array"])).toMatchObject({
      type: "array",
    });
    const union = z.union([z.string(), z.object({})]);
    expect(checkSchema(union, "Tool.result", ["any"])).not.toHaveProperty("type");
  });
});

describe("a refusal", () => {
  const refused = (schema: unknown, rule: string, remedy: string) => {
    expect(() => checkSchema(schema as never, "Tool.params", ["object"])).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: "Tool.params",
        message: expect.stringMatching(new RegExp(`^Tool.params ${rule}, got .*: ${remedy}`)),
      }),
    );
  };

  test.each([
    ["undefined", undefined],
    ["null", null],
    ["a JSON Schema", { type: "object" }],
    ["a function", () => {}],
    ["text", "string"],
    ["a hollow one", { "~standard": { vendor: "zod" } }],
    ["a null one", { "~standard": null }],
  ])("of what is no schema says which libraries' are: %s", (_what, schema) => {
    refused(schema, "must be a Standard Schema", "use Zod 4, ArkType, Valibot through");
  });

  test("of a plain Valibot schema says what to wrap it in", () => {
    const schema = v.object({ a: v.string() });
    refused(schema, "must describe itself as JSON Schema", "wrap it in toStandardJsonSchema\\(\\)");
  });

  test("of an old Zod schema says to update", () => {
    const schema = { "~standard": { vendor: "zod", version: 1, validate: () => ({ value: 1 }) } };
    refused(schema, "must describe itself as JSON Schema", "update zod to 4.2 or later");
  });

  test("of any other schema that cannot describe itself names those that can", () => {
    const schema = { "~standard": { vendor: "mine", version: 1, validate: () => ({ value: 1 }) } };
    refused(schema, "must describe itself as JSON Schema", "use Zod 4, ArkType or jsonSchema");
  });

  test.each([
    ["a date", z.object({ at: z.date() })],
    ["a bigint", z.object({ n: z.bigint() })],
    ["a map", z.object({ m: z.map(z.string(), z.string()) })],
  ])("of what JSON Schema cannot say keeps the library's reason: %s", (_what, schema) => {
    refused(schema, "must describe itself as JSON Schema", "keep to what JSON can say: no dates");
    expect(() => checkSchema(schema, "Tool.params", ["object"])).toThrow(
      expect.objectContaining({ cause: expect.any(Error) }),
    );
  });

  test("of a schema that describes itself as nothing is one too", () => {
    const schema = handmade({ describe: () => undefined });
    refused(schema, "must describe itself as JSON Schema", "keep to what JSON can say");
  });

  test.each([
    ["text", z.string()],
    ["a list", z.array(z.object({}))],
    ["a union of objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ["anything", z.unknown()],
  ])("of another root shows it and says to wrap it: %s", (_what, schema) => {
    refused(schema, "must have object at its root", "wrap it: z.object\\({ value: … }\\)");
  });

  test("names all the roots there may be", () => {
    expect(() => checkSchema(z.string(), "output", ["object", "array"])).toThrow(
      'output must have object or array at its root, got {"type":"string"}: ',
    );
  });
});

describe("validation", () => {
  test("gives what the schema makes of the value", async () => {
    const schema = z.object({ n: z.string().transform(Number), page: z.number().default(1) });
    expect(await validate(schema, { n: "5" })).toEqual({ ok: true, value: { n: 5, page: 1 } });
  });

  test("joins every problem, with its path", async () => {
    const schema = z.object({ a: z.array(z.object({ b: z.string() })), c: z.number() });
    const verdict = await validate(schema, { a: [{ b: 1 }], c: "x" });
    expect(verdict).toEqual({ ok: false, problem: expect.stringMatching(/^a\.0\.b: .+; c: .+$/) });
  });

  test("says a problem of the whole value without a place", async () => {
    const verdict = await validate(z.object({}), "text");
    expect(verdict).toEqual({
      ok: false,
      problem: expect.stringMatching(/^[^:]*: expected object/),
    });
    const bare = handmade({ validate: () => ({ issues: [{ message: "It is wrong." }] }) });
    expect(validateNow(bare, 1)).toEqual({ ok: false, problem: "It is wrong." });
  });

  test("reads a path of steps that are objects, numbers or symbols", () => {
    const path = [{ key: "a" }, 0, Symbol("s")];
    const schema = handmade({ validate: () => ({ issues: [{ message: "no", path }] }) });
    expect(validateNow(schema, 1)).toEqual({ ok: false, problem: "a.0.Symbol(s): no" });
  });

  test("waits for an asynchronous schema", async () => {
    const schema = z.string().refine(async (text) => text === "yes", { message: "say yes" });
    expect(await validate(schema, "yes")).toEqual({ ok: true, value: "yes" });
    expect(await validate(schema, "no")).toEqual({ ok: false, problem: "say yes" });
  });

  test("that must answer at once refuses an asynchronous schema, whatever it will say", () => {
    const late = handmade({ validate: () => Promise.reject(new Error("late")) });
    const problem = "its schema is asynchronous, and this one must answer at once";
    expect(validateNow(late, "a")).toEqual({ ok: false, problem });
    expect(
      validateNow(
        z.string().refine(async () => true),
        "a",
      ),
    ).toEqual({ ok: false, problem });
  });

  test("by a schema that throws or rejects is a problem, not a throw", async () => {
    const fail = () => {
      throw new Error("boom");
    };
    const schemas = [
      z.string().transform(fail),
      toStandardJsonSchema(v.pipe(v.string(), v.check(fail))),
      handmade({ validate: () => Promise.reject(new Error("boom")) }),
      handmade({ validate: fail }),
    ];
    for (const schema of schemas) {
      expect(await validate(schema, "a")).toEqual({ ok: false, problem: "boom" });
      expect(validateNow(schema, "a").ok).toBe(false);
    }
    expect(validateNow(handmade({ validate: fail }), "a")).toEqual({ ok: false, problem: "boom" });
  });
});

describe("the fields of an object schema", () => {
  test("are found by name", () => {
    const described = checkSchema(z.object({ a: z.string(), b: z.number() }), "p", ["object"]);
    expect([...fieldsOf(described)]).toEqual([
      ["a", { type: "string" }],
      ["b", { type: "number" }],
    ]);
  });

  test("are none where the schema has no properties", () => {
    expect(fieldsOf({ type: "string" }).size).toBe(0);
    expect(fieldsOf({ properties: [] }).size).toBe(0);
  });

  test("that may be anything have an empty schema", () => {
    expect(fieldsOf({ properties: { a: true } }).get("a")).toEqual({});
  });
});

function handmade(parts: {
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
