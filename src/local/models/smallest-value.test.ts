import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { smallestValue } from "./smallest-value.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function object(properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)) {
  return { type: "object", properties, required, additionalProperties: false };
}

describe("the smallest value", () => {
  test.each<[string, unknown, unknown]>([
    ["anything", {}, null],
    ["true", true, null],
    ["no schema", undefined, null],
    ["a const", { const: [1] }, [1]],
    ["an enum", { type: "string", enum: ["blue", "red"] }, "red"],
    ["an empty object", object({ a: { type: "string" } }, []), {}],
    ["what is required", object({ a: { type: "string" }, b: {} }, ["a"]), { a: "" }],
    ["a required field nobody describes", { required: ["a"] }, { a: null }],
    [
      "one that others describe",
      { required: ["a"], additionalProperties: { type: "number" } },
      { a: 0 },
    ],
    [
      "a field called __proto__",
      object(JSON.parse('{"__proto__":{"type":"null"}}')),
      JSON.parse('{"__proto__":null}'),
    ],
    ["an odd required", { type: "object", required: [1] }, {}],
    ["an empty list", { type: "array", items: { type: "string" } }, []],
    ["a list of so many", { type: "array", items: { type: "integer" }, minItems: 2 }, [0, 0]],
    [
      "a list that starts so",
      { prefixItems: [{ const: 1 }, { const: 2 }], minItems: 3, items: { const: 3 } },
      [1, 2, 3],
    ],
    ["a list of anything", { minItems: 1 }, [null]],
    ["a boolean", { type: "boolean" }, false],
    ["null", { type: "null" }, null],
    ["one of several types", { type: ["null", "string"] }, ""],
    ["a text so long", { type: "string", minLength: 3 }, "aaa"],
    ["a text by its length alone", { minLength: 1 }, "a"],
    ["a date", { type: "string", format: "date" }, "1970-01-01"],
    ["a format nobody knows", { type: "string", format: "mood" }, ""],
    ["a pattern", { type: "string", pattern: "^[0-9]{3}$" }, "000"],
    ["a pattern of signs", { type: "string", pattern: "^a@a" }, "a@a.a"],
    ["a pattern that nothing tried fits", { type: "string", pattern: "^quokka$" }, ""],
    ["a pattern that is none", { type: "string", pattern: "(" }, ""],
    ["a whole number", { type: "integer", minimum: 3 }, 3],
    ["a number above", { type: "integer", exclusiveMinimum: 3 }, 4],
    [
      "a number above, as draft 4 says it",
      { type: "integer", minimum: 3, exclusiveMinimum: true },
      4,
    ],
    ["a number below", { type: "integer", exclusiveMaximum: -3 }, -4],
    ["a number at most", { maximum: -3 }, -3],
    [
      "both bounds",
      { type: "number", minimum: 1, exclusiveMinimum: 0, maximum: 2, exclusiveMaximum: 3 },
      1,
    ],
    ["a multiple", { type: "integer", minimum: 4, multipleOf: 5 }, 5],
    [
      "a number between",
      { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 1 + 2 ** -22 },
      1 + 2 ** -23,
    ],
    [
      "all of them",
      {
        allOf: [
          object({ a: { type: "null" } }),
          { required: ["b"] },
          { allOf: [{ properties: { b: { const: 2 } } }] },
        ],
        additionalProperties: true,
      },
      { a: null, b: 2 },
    ],
    ["the tighter bound", { type: "integer", minimum: 5, allOf: [{ minimum: 2 }, true] }, 5],
    ["the shortest branch", { anyOf: [object({ a: { type: "string" } }), { type: "array" }] }, []],
    ["one branch", { oneOf: [false, { type: "string" }] }, ""],
    [
      "a branch and what is beside it",
      { ...object({ a: { const: 1 } }), anyOf: [{ required: ["a"] }] },
      { a: 1 },
    ],
    ["a reference", { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { const: 4 } } }, 4],
    ["a reference with an odd sign", { $ref: "#/$defs/100%", $defs: { "100%": { const: 4 } } }, 4],
    ["a reference into a list", { $ref: "#/anyOf/0", anyOf: [{ const: 4 }] }, 4],
  ])("that is %s", (_, schema, value) => {
    expect(smallestValue(schema)).toEqual(value);
  });

  test("ends where a schema refers to itself", () => {
    const node = object({
      value: { type: "integer" },
      next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
    });
    const list = { $ref: "#/$defs/node", $defs: { node } };
    expect(smallestValue(list)).toEqual({ value: 0, next: null });
    const tree = object({ children: { type: "array", items: { $ref: "#" } } });
    expect(smallestValue(tree)).toEqual({ children: [] });
    const described = object({
      next: { description: "More.", anyOf: [{ $ref: "#", minProperties: 0 }, { type: "null" }] },
    });
    expect(smallestValue(described)).toEqual({ next: null });
  });

  test.each<[string, unknown]>([
    ["nothing fits", false],
    ["a required field is within itself for ever", object({ self: { $ref: "#" } })],
    ["all references are a circle", { allOf: [{ $ref: "#" }] }],
    ["it refers to nothing", { $ref: "#/$defs/none" }],
    ["it refers elsewhere", { $ref: "https://example.com/schema.json" }],
    ["its enum is empty", { enum: [] }],
    ["its type is unknown", { type: "colour" }],
    ["its bounds are crossed", { type: "integer", minimum: 2, maximum: 1 }],
    ["its lengths are crossed", { type: "string", minLength: 2, maxLength: 1 }],
    ["its list is too long to make", { type: "array", minItems: 1_000_000 }],
    ["its text is too long to make", { type: "string", minLength: 1_000_000 }],
    ["an item can not be", { type: "array", minItems: 1, items: false }],
  ])("is none where %s", (_, schema) => {
    expect(smallestValue(schema)).toBeUndefined();
  });

  test("is given up on where a schema is made to take for ever, or has no floor", () => {
    const wide = { type: "array", minItems: 900, items: { $ref: "#/$defs/b" } };
    const b = { type: "array", minItems: 900, items: { type: "array", minItems: 900, items: {} } };
    expect(smallestValue({ ...wide, $defs: { b } })).toBeUndefined();
    let deep: object = { type: "null" };
    for (let depth = 0; depth < 5_000; depth++) deep = object({ a: deep });
    expect(smallestValue(deep)).toBeUndefined();
    const started = performance.now();
    smallestValue({ type: "string", pattern: "^(a+)+b$", minLength: 9_000 });
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        { type: "string", minLength: 2, maxLength: 4 },
        { type: "integer", minimum: -7, maximum: -2 },
        { type: "number", exclusiveMinimum: 0, maximum: 0.5 },
        { type: ["boolean", "null"] },
        { enum: ["a", 1, null] },
      ),
      fc.record({ type: fc.constant("array"), items: tie("schema"), minItems: fc.nat(3) }),
      fc
        .dictionary(fc.string({ maxLength: 4 }), tie("schema"), { maxKeys: 3 })
        .map((fields) => object(fields)),
      fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    ),
  }));

  test("fits whatever schema it was made for", () => {
    fc.assert(
      fc.property(schema, (one) => {
        expect(ajv.validate(one, smallestValue(one))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
