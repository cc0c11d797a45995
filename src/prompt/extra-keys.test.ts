import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { JsonSchema } from "../base/schema/schema.ts";
import { extraKeys } from "./extra-keys.ts";
import { outputContract } from "./structured-output.ts";

/** What is left over of a value for a schema that is closed throughout. */
const extra = (value: unknown, fields: z.ZodRawShape) =>
  extraKeys(value, outputContract(z.object(fields), false, "output").jsonSchema);

const owl = z.object({ kind: z.literal("owl"), name: z.string() });
const bat = z.object({ kind: z.literal("bat"), age: z.number() });

describe("fields a schema does not name are found", () => {
  test.each([
    ["at the root", {}, { a: 1, b: 2 }, ["a", "b"]],
    ["in an object", { a: z.object({}) }, { a: { b: 1 } }, ["a.b"]],
    ["in a list", { a: z.array(owl) }, { a: [{ name: "Ada" }, { age: 1 }] }, ["a.1.age"]],
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
      "in what a record holds",
      { a: z.record(z.string(), owl) },
      { a: { x: { age: 1 } } },
      ["a.x.age"],
    ],
    ["in what may be null", { a: owl.nullable() }, { a: { kind: "owl", age: 1 } }, ["a.age"]],
    ["in what may be left out", { a: owl.optional() }, { a: { age: 1 } }, ["a.age"]],
    [
      "in one of several",
      { a: z.discriminatedUnion("kind", [owl, bat]) },
      { a: { kind: "owl", name: "Ada", more: 1 } },
      ["a.more"],
    ],
    [
      "in an object, if it may be a list",
      { a: z.union([z.array(owl), bat]) },
      { a: { b: 1 } },
      ["a.b"],
    ],
    [
      "in a list, if it may be an object",
      { a: z.union([bat, z.array(owl)]) },
      { a: [{ b: 1 }] },
      ["a.0.b"],
    ],
  ])("%s", (_, fields, value, found) => {
    expect(extra(value, fields)).toEqual(found);
  });

  test("in what refers to itself", () => {
    const tree: z.ZodType = z.object({ kids: z.array(z.lazy(() => tree)) });
    const value = { tree: { kids: [{ kids: [{ kids: [], leaf: true }] }] } };
    expect(extra(value, { tree })).toEqual(["tree.kids.0.kids.0.leaf"]);
    const { jsonSchema } = outputContract(tree, false, "output");
    expect(extraKeys(value.tree, jsonSchema)).toEqual(["kids.0.kids.0.leaf"]);
  });
});

test("fields behind any local reference are found", () => {
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
  expect(extraKeys(value, schema)).toEqual(["byAnchor.x", "escaped.y", "inList.z"]);
});

describe("nothing is found", () => {
  test.each([
    ["in what fits", { a: owl }, { a: { kind: "owl", name: "Ada" } }],
    ["in null where that may be", { a: owl.nullable() }, { a: null }],
    ["in any of several", { a: z.union([owl, bat]) }, { a: { kind: "bat", age: 1 } }],
    ["in what is open", { a: z.looseObject({}) }, { a: { b: { c: 1 } } }],
    ["in what may be anything", { a: z.unknown() }, { a: { b: [{ c: 1 }] } }],
    [
      "in what is of another kind, which is for the schema to say",
      { a: owl },
      { a: [1, { b: 2 }] },
    ],
    ["in text", { a: owl }, { a: "owl" }],
  ])("%s", (_, fields, value) => {
    expect(extra(value, fields)).toEqual([]);
  });

  test.each(["#/$defs/gone/away", "#gone", "#/toString"])(
    "behind a reference that leads nowhere: %s",
    ($ref) => {
      const schema: JsonSchema = { type: "object", properties: { a: { $ref } } };
      expect(extraKeys({ a: { b: 1 } }, schema)).toEqual([]);
    },
  );

  test("where a pattern may name it", () => {
    const patternProperties = { "^b": {} };
    const schema: JsonSchema = { type: "object", patternProperties, additionalProperties: false };
    expect(extraKeys({ b: 1 }, schema)).toEqual([]);
  });

  test("where a schema lists its types", () => {
    const schema: JsonSchema = { type: ["object", "null"], additionalProperties: false };
    expect(extraKeys({ a: 1 }, schema)).toEqual(["a"]);
    expect(extraKeys([{ a: 1 }], schema)).toEqual([]);
  });
});

test("alternatives within alternatives cost no more than what they hold", () => {
  const either = z.lazy(() => z.union(["add", "sub", "mul", "div", "pow"].map(operation)));
  const operation = (op: string): z.ZodType =>
    z.object({ op: z.literal(op), left: either.nullable(), right: either.nullable() });
  let value: object = { op: "pow", left: null, right: null, extra: true };
  for (let depth = 0; depth < 30; depth++) value = { op: "add", left: value, right: null };
  const path = `root.${"left.".repeat(30)}extra`;
  expect(extra({ root: value }, { root: either })).toEqual([path]);
});
