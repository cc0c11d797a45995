import { describe, expect, expectTypeOf, test } from "vitest";
import { plainSchema } from "./plain-schema.ts";
import { checkSchema, type Infer, validateNow } from "./schema.ts";

const schema = plainSchema({
  path: { type: "string", description: "Where." },
  limit: { type: "integer", description: "How many.", optional: true },
  deep: { type: "boolean", description: "Whether below.", optional: true },
  names: { type: "strings", description: "Which." },
});

test("a plain schema is typed by its fields", () => {
  expectTypeOf<Infer<typeof schema>>().toEqualTypeOf<{
    readonly path: string;
    readonly limit: number | undefined;
    readonly deep: boolean | undefined;
    readonly names: readonly string[];
  }>();
});

test("it describes itself closed, with what is needed and what each field is for", () => {
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

describe("it", () => {
  test("takes what fits", () => {
    const value = { path: "a", names: ["b"], limit: 3, deep: false };
    expect(validateNow(schema, value)).toEqual({ ok: true, value });
    expect(validateNow(schema, { path: "a", names: [] }).ok).toBe(true);
  });

  test.each([
    [null, "must be an object, not null"],
    [[], "must be an object, not []"],
    [{ names: [] }, "path: must be text, not undefined"],
    [{ path: 1, names: [] }, "path: must be text, not 1"],
    [{ path: "a", names: "b" }, 'names: must be a list of texts, not "b"'],
    [{ path: "a", names: [1] }, "names: must be a list of texts, not [1]"],
    [{ path: "a", names: [], limit: 1.5 }, "limit: must be a whole number, not 1.5"],
    [{ path: "a", names: [], deep: "yes" }, 'deep: must be true or false, not "yes"'],
    [{ path: "a", names: [], depth: 1 }, "depth: is no param; there are"],
  ])("refuses %j", (value, problem) => {
    expect(validateNow(schema, value)).toEqual({
      ok: false,
      problem: expect.stringContaining(problem),
    });
  });
});
