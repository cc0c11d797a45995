import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSmallestValue } from "./smallest-value.ts";

const ajv = new Ajv2020({ strict: false, validateFormats: false });

function object(properties: Readonly<Record<string, unknown>>, required = Object.keys(properties)) {
  return { type: "object", properties, required, additionalProperties: false };
}

describe("createSmallestValue()", () => {
  test.each<[string, unknown, unknown]>([
    ["an empty schema", {}, null],
    ["true", true, null],
    ["no schema", undefined, null],
    ["a const", { const: [1] }, [1]],
    ["an enum", { type: "string", enum: ["blue", "red"] }, "red"],
    ["an empty object", object({ a: { type: "string" } }, []), {}],
    ["required properties", object({ a: { type: "string" }, b: {} }, ["a"]), { a: "" }],
    ["a required property without a schema", { required: ["a"] }, { a: null }],
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
    ["an invalid required array", { type: "object", required: [1] }, {}],
    ["an empty array", { type: "array", items: { type: "string" } }, []],
    ["an array with minItems", { type: "array", items: { type: "integer" }, minItems: 2 }, [0, 0]],
    [
      "a list that starts so",
      { prefixItems: [{ const: 1 }, { const: 2 }], minItems: 3, items: { const: 3 } },
      [1, 2, 3],
    ],
    ["an array of any items", { minItems: 1 }, [null]],
    ["a boolean", { type: "boolean" }, false],
    ["null", { type: "null" }, null],
    ["one of several types", { type: ["null", "string"] }, ""],
    ["a string with minLength", { type: "string", minLength: 3 }, "aaa"],
    ["a string without a type", { minLength: 1 }, "a"],
    ["a date", { type: "string", format: "date" }, "1970-01-01"],
    ["an unknown format", { type: "string", format: "mood" }, ""],
    ["a pattern", { type: "string", pattern: "^[0-9]{3}$" }, "000"],
    ["a pattern with punctuation", { type: "string", pattern: "^a@a" }, "a@a.a"],
    ["a pattern that no candidate matches", { type: "string", pattern: "^quokka$" }, ""],
    ["an invalid pattern", { type: "string", pattern: "(" }, ""],
    ["an integer", { type: "integer", minimum: 3 }, 3],
    ["an exclusive minimum", { type: "integer", exclusiveMinimum: 3 }, 4],
    ["an exclusive minimum of draft 4", { type: "integer", minimum: 3, exclusiveMinimum: true }, 4],
    ["an exclusive maximum", { type: "integer", exclusiveMaximum: -3 }, -4],
    ["a maximum", { maximum: -3 }, -3],
    [
      "both bounds",
      { type: "number", minimum: 1, exclusiveMinimum: 0, maximum: 2, exclusiveMaximum: 3 },
      1,
    ],
    ["a multiple", { type: "integer", minimum: 4, multipleOf: 5 }, 5],
    [
      "a number between bounds",
      { type: "number", exclusiveMinimum: 1, exclusiveMaximum: 1 + 2 ** -22 },
      1 + 2 ** -23,
    ],
    [
      "allOf",
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
    ["oneOf", { oneOf: [false, { type: "string" }] }, ""],
    [
      "a branch with sibling keywords",
      { ...object({ a: { const: 1 } }), anyOf: [{ required: ["a"] }] },
      { a: 1 },
    ],
    ["a reference", { $ref: "#/$defs/a~1b%20c", $defs: { "a/b c": { const: 4 } } }, 4],
    [
      "a reference with a percent sign",
      { $ref: "#/$defs/100%", $defs: { "100%": { const: 4 } } },
      4,
    ],
    ["a reference into an array", { $ref: "#/anyOf/0", anyOf: [{ const: 4 }] }, 4],
  ])("handles %s", (_, schema, value) => {
    expect(createSmallestValue(schema)).toEqual(value);
  });

  test("terminates for a recursive schema", () => {
    const node = object({
      value: { type: "integer" },
      next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] },
    });
    const list = { $ref: "#/$defs/node", $defs: { node } };
    expect(createSmallestValue(list)).toEqual({ value: 0, next: null });
    const tree = object({ children: { type: "array", items: { $ref: "#" } } });
    expect(createSmallestValue(tree)).toEqual({ children: [] });
    const described = object({
      next: { description: "More.", anyOf: [{ $ref: "#", minProperties: 0 }, { type: "null" }] },
    });
    expect(createSmallestValue(described)).toEqual({ next: null });
  });

  test.each<[string, unknown]>([
    ["the schema is false", false],
    ["a required property is recursive", object({ self: { $ref: "#" } })],
    ["all references are circular", { allOf: [{ $ref: "#" }] }],
    ["a reference points to nothing", { $ref: "#/$defs/none" }],
    ["a reference is external", { $ref: "https://example.com/schema.json" }],
    ["its enum is empty", { enum: [] }],
    ["its type is unknown", { type: "colour" }],
    ["its bounds are crossed", { type: "integer", minimum: 2, maximum: 1 }],
    ["its lengths are crossed", { type: "string", minLength: 2, maxLength: 1 }],
    ["its array is too long", { type: "array", minItems: 1_000_000 }],
    ["its string is too long", { type: "string", minLength: 1_000_000 }],
    ["an item cannot exist", { type: "array", minItems: 1, items: false }],
  ])("returns undefined if %s", (_, schema) => {
    expect(createSmallestValue(schema)).toBeUndefined();
  });

  test("returns undefined for a schema that is too large or too deep", () => {
    const wide = { type: "array", minItems: 900, items: { $ref: "#/$defs/b" } };
    const b = { type: "array", minItems: 900, items: { type: "array", minItems: 900, items: {} } };
    expect(createSmallestValue({ ...wide, $defs: { b } })).toBeUndefined();
    let deep: object = { type: "null" };
    for (let depth = 0; depth < 5_000; depth++) deep = object({ a: deep });
    expect(createSmallestValue(deep)).toBeUndefined();
    const started = performance.now();
    createSmallestValue({ type: "string", pattern: "^(a+)+b$", minLength: 9_000 });
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

  test("returns a value that matches the schema", () => {
    fc.assert(
      fc.property(schema, (one) => {
        expect(ajv.validate(one, createSmallestValue(one))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
