import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonSchema } from "./json-schema.ts";
import { type Schema, validateNow } from "./schema.ts";

// Not __proto__, which Ajv ignores in `properties`.
const name = fc.constantFrom("a", "b", "c", "constructor", "x y", "s/t", "p%q");
const text = fc.constantFrom("", "a", "ab", "abc", "é", "💥");

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(null, true, false, 0.5, 1.5),
    fc.integer({ min: -3, max: 6 }),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(name, tie("value"), { maxKeys: 4 }),
  ),
}));

const count = fc.integer({ min: 0, max: 3 });
const type = fc.constantFrom("string", "number", "integer", "boolean", "null", "object", "array");
const some = <T>(keywords: { [Key in keyof T]: fc.Arbitrary<T[Key]> }) =>
  fc.record(keywords, { requiredKeys: [] });

const { schema } = fc.letrec((tie) => {
  const inner = tie("schema");
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(name, inner, { maxKeys: 3 });
  return {
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.boolean(),
      fc.record({ type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1 })) }),
      fc.record({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      fc.record({ const: value }),
      fc.record({ $ref: fc.constantFrom("#", "#/$defs/other", "#other") }),
      some({
        minimum: count,
        exclusiveMaximum: count,
        multipleOf: fc.constantFrom(1, 2, 0.5),
        minLength: count,
        maxLength: count,
        pattern: fc.constantFrom("^a", "b$", "^.$"),
      }),
      some({
        type: fc.constant("object"),
        properties: byName,
        patternProperties: fc.dictionary(fc.constantFrom("^a", "[bc/]"), inner),
        additionalProperties: inner,
        propertyNames: inner,
        required: fc.uniqueArray(name, { maxLength: 2 }),
        dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 })),
        dependentSchemas: byName,
        minProperties: count,
        maxProperties: count,
      }),
      some({
        type: fc.constant("array"),
        prefixItems: list,
        items: inner,
        minItems: count,
        maxItems: count,
        uniqueItems: fc.boolean(),
      }),
      // Without `contains`, for which Ajv reuses its result for the previous item, and without
      // `not: true`, which Ajv compiles to code that throws.
      some({ allOf: list, anyOf: list, oneOf: list, not: fc.record({ type }) }),
      some(Object.fromEntries(["if", "then", "else"].map((keyword) => [keyword, inner]))),
    ),
  };
});

/** A root schema and values of plain objects only, as `JSON.parse` returns them. */
const cases = fc
  .record({ schema, other: schema, values: fc.array(value, { minLength: 4, maxLength: 4 }) })
  .map((drawn) => JSON.parse(JSON.stringify(drawn)))
  .map(({ schema, other, values }) => ({
    root: {
      properties: { a: schema },
      items: schema,
      $defs: { other: { allOf: [other] }, named: { $anchor: "other", allOf: [other] } },
    },
    values: [...values.map((a: unknown) => ({ a })), values],
  }));

test("jsonSchema() and Ajv agree on which values match", () => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false, ownProperties: true });
  fc.assert(
    fc.property(cases, ({ root, values }) => {
      const ours = schemaWithoutLoops(root);
      if (!ours) return;
      const isValid = ajv.compile(root);
      for (const value of values) {
        expect(validateNow(ours, value).ok, JSON.stringify(value)).toBe(isValid(value));
      }
    }),
    { numRuns: 150 },
  );
});

test("jsonSchema() reports issues with a message and a path that leads into the value", () => {
  fc.assert(
    fc.property(cases, ({ root, values }) => {
      const ours = schemaWithoutLoops(root);
      for (const value of values) {
        const result = ours?.["~standard"].validate(value);
        if (!result || result instanceof Promise) continue;
        for (const { message, path = [] } of result.issues ?? []) {
          expect(message).toMatch(/^(its name )?(must|is) |more problems/);
          const holder = path
            .slice(0, -1)
            .reduce<unknown>((at, step) => Object(at)[String(step)], value);
          if (path.length > 0) expect(holder).toBeInstanceOf(Object);
        }
      }
    }),
    { numRuns: 100 },
  );
});

/** Returns `undefined` if the schema is rejected because it applies itself to the same value. */
function schemaWithoutLoops(root: object): Schema | undefined {
  try {
    return jsonSchema(root);
  } catch (error) {
    expect(error).toMatchObject({ message: expect.stringContaining("must not apply itself") });
    return undefined;
  }
}
