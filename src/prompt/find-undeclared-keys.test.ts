import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { JsonSchema } from "../base/schema/schema.ts";
import { findUndeclaredKeys } from "./find-undeclared-keys.ts";
import { createOutputContract } from "./output-contract.ts";

/** Returns the undeclared fields of a value for a schema that is closed at every depth. */
const findExtra = (value: unknown, fields: z.ZodRawShape) =>
  findUndeclaredKeys(value, createOutputContract(z.object(fields), false, "output").jsonSchema);

const owl = z.object({ kind: z.literal("owl"), name: z.string() });
const bat = z.object({ kind: z.literal("bat"), age: z.number() });

describe("findUndeclaredKeys() finds an undeclared field", () => {
  test.each([
    ["at the root", {}, { a: 1, b: 2 }, ["a", "b"]],
    ["in an object", { a: z.object({}) }, { a: { b: 1 } }, ["a.b"]],
    ["in an array", { a: z.array(owl) }, { a: [{ name: "Ada" }, { age: 1 }] }, ["a.1.age"]],
    [
      "in a tuple",
      { a: z.tuple([owl, bat]) },
      { a: [{ age: 1 }, { name: "" }] },
      ["a.0.age", "a.1.name"],
    ],
    [
      "in the rest of a tuple",
      { a: z.tuple([owl], bat) },
      { a: [{}, {}, { name: "" }] },
      ["a.2.name"],
    ],
    [
      "in the values of a record",
      { a: z.record(z.string(), owl) },
      { a: { x: { age: 1 } } },
      ["a.x.age"],
    ],
    ["in a nullable object", { a: owl.nullable() }, { a: { kind: "owl", age: 1 } }, ["a.age"]],
    ["in an optional object", { a: owl.optional() }, { a: { age: 1 } }, ["a.age"]],
    [
      "in an alternative",
      { a: z.discriminatedUnion("kind", [owl, bat]) },
      { a: { kind: "owl", name: "Ada", more: 1 } },
      ["a.more"],
    ],
    [
      "in an object that could also be an array",
      { a: z.union([z.array(owl), bat]) },
      { a: { b: 1 } },
      ["a.b"],
    ],
    [
      "in an array that could also be an object",
      { a: z.union([bat, z.array(owl)]) },
      { a: [{ b: 1 }] },
      ["a.0.b"],
    ],
  ])("%s", (_, fields, value, found) => {
    expect(findExtra(value, fields)).toEqual(found);
  });

  test("in a recursive schema", () => {
    const tree: z.ZodType = z.object({ kids: z.array(z.lazy(() => tree)) });
    const value = { tree: { kids: [{ kids: [{ kids: [], leaf: true }] }] } };
    expect(findExtra(value, { tree })).toEqual(["tree.kids.0.kids.0.leaf"]);
    const { jsonSchema } = createOutputContract(tree, false, "output");
    expect(findUndeclaredKeys(value.tree, jsonSchema)).toEqual(["kids.0.kids.0.leaf"]);
  });
});

test("findUndeclaredKeys() follows every kind of local reference", () => {
  const leaf = { type: "object", additionalProperties: false };
  const schema: JsonSchema = {
    type: "object",
    properties: {
      byAnchor: { $ref: "#leaf" },
      escaped: { $ref: "#/$defs/a~1b%25" },
      inList: { $ref: "#/$defs/either/anyOf/0" },
    },
    $defs: { "a/b%": leaf, named: { ...leaf, $anchor: "leaf" }, either: { anyOf: [leaf] } },
  };
  const value = { byAnchor: { x: 1 }, escaped: { y: 1 }, inList: { z: 1 } };
  expect(findUndeclaredKeys(value, schema)).toEqual(["byAnchor.x", "escaped.y", "inList.z"]);
});

describe("findUndeclaredKeys() finds nothing", () => {
  test.each([
    ["in a matching value", { a: owl }, { a: { kind: "owl", name: "Ada" } }],
    ["in null where it is allowed", { a: owl.nullable() }, { a: null }],
    ["in any matching alternative", { a: z.union([owl, bat]) }, { a: { kind: "bat", age: 1 } }],
    ["in an open object", { a: z.looseObject({}) }, { a: { b: { c: 1 } } }],
    ["in a value of any type", { a: z.unknown() }, { a: { b: [{ c: 1 }] } }],
    [
      "in a value of another type, which the schema itself rejects",
      { a: owl },
      { a: [1, { b: 2 }] },
    ],
    ["in a string", { a: owl }, { a: "owl" }],
  ])("%s", (_, fields, value) => {
    expect(findExtra(value, fields)).toEqual([]);
  });

  test.each(["#/$defs/gone/away", "#gone", "#/toString"])(
    "behind a dangling reference: %s",
    ($ref) => {
      const schema: JsonSchema = { type: "object", properties: { a: { $ref } } };
      expect(findUndeclaredKeys({ a: { b: 1 } }, schema)).toEqual([]);
    },
  );

  test("for a field that a pattern allows", () => {
    const patternProperties = { "^b": {} };
    const schema: JsonSchema = { type: "object", patternProperties, additionalProperties: false };
    expect(findUndeclaredKeys({ b: 1 }, schema)).toEqual([]);
  });

  test("for a schema with several types", () => {
    const schema: JsonSchema = { type: ["object", "null"], additionalProperties: false };
    expect(findUndeclaredKeys({ a: 1 }, schema)).toEqual(["a"]);
    expect(findUndeclaredKeys([{ a: 1 }], schema)).toEqual([]);
  });
});

test("findUndeclaredKeys() checks 30 levels of nested alternatives without exponential cost", () => {
  const either = z.lazy(() => z.union(["add", "sub", "mul", "div", "pow"].map(operation)));
  const operation = (op: string): z.ZodType =>
    z.object({ op: z.literal(op), left: either.nullable(), right: either.nullable() });
  let value: object = { op: "pow", left: null, right: null, extra: true };
  for (let depth = 0; depth < 30; depth++) value = { op: "add", left: value, right: null };
  const path = `root.${"left.".repeat(30)}extra`;
  expect(findExtra({ root: value }, { root: either })).toEqual([path]);
});
