import { describe, expect, expectTypeOf, test } from "vitest";
import { plainSchema } from "./plain-schema.ts";
import { checkSchema, type Infer, validateNow } from "./schema.ts";

const schema = plainSchema({
  path: { type: "string", description: "Where." },
  limit: { type: "integer", description: "How many.", optional: true },
  deep: { type: "boolean", description: "Whether below.", optional: true },
  names: { type: "strings", description: "Which." },
});

test("plainSchema() infers the type from the fields", () => {
  expectTypeOf<Infer<typeof schema>>().toEqualTypeOf<{
    readonly path: string;
    readonly limit: number | undefined;
    readonly deep: boolean | undefined;
    readonly names: readonly string[];
  }>();
});

test("plainSchema() describes a closed object with required fields and descriptions", () => {
  expect(checkSchema(schema, "params", ["object"])).toEqual({
    type: "object",
    properties: {
      path: { type: "string", description: "Where." },
      limit: { type: "integer", description: "How many." },
      deep: { type: "boolean", description: "Whether below." },
      names: { type: "array", items: { type: "string" }, description: "Which." },
    },
    required: ["path", "names"],
    additionalProperties: false,
  });
});

describe("plainSchema() validation", () => {
  test("accepts matching values", () => {
    const value = { path: "a", names: ["b"], limit: 3, deep: false };
    expect(validateNow(schema, value)).toEqual({ ok: true, value });
    expect(validateNow(schema, { path: "a", names: [] }).ok).toBe(true);
  });

  test.each([
    [null, "must be an object, got null"],
    [[], "must be an object, got []"],
    [{ names: [] }, "path: must be a string, got undefined"],
    [{ path: 1, names: [] }, "path: must be a string, got 1"],
    [{ path: "a", names: "b" }, 'names: must be an array of strings, got "b"'],
    [{ path: "a", names: [1] }, "names: must be an array of strings, got [1]"],
    [{ path: "a", names: [], limit: 1.5 }, "limit: must be an integer, got 1.5"],
    [{ path: "a", names: [], deep: "yes" }, 'deep: must be true or false, got "yes"'],
    [{ path: "a", names: [], depth: 1 }, "depth: is not a parameter. Use one of"],
  ])("rejects %j", (value, problem) => {
    expect(validateNow(schema, value)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem),
    });
  });
});
