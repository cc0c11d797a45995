import fc from "fast-check";
import { expect, test } from "vitest";
import { readJsonPointer, subschemasOf, toJsonPointer } from "./subschemas-of.ts";

test("subschemas are found in every keyword that holds schemas, outer ones first", () => {
  const schema = {
    properties: { "a/b": { items: true }, type: {} },
    anyOf: [false, { not: {} }],
    default: { items: {} },
    enum: [{ items: {} }],
  };
  expect([...subschemasOf(schema)].map(({ pointer }) => pointer)).toEqual([
    "#",
    "#/properties/a~1b",
    "#/properties/type",
    "#/anyOf/0",
    "#/anyOf/1",
    "#/properties/a~1b/items",
    "#/anyOf/1/not",
  ]);
});

test("the steps of a pointer are unescaped and decoded", () => {
  expect(readJsonPointer("#")).toEqual([]);
  expect(readJsonPointer("#/a~1b/~01/%25/")).toEqual(["a/b", "~1", "%", ""]);
});

test.each(["", "a", "/a", "#a", "#/%", "http://example.com#/a"])("%j is no pointer", (text) => {
  expect(readJsonPointer(text)).toBeNull();
});

test("a pointer reads back as the steps it was made of", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (steps) => {
      const encoded = toJsonPointer(steps).replaceAll("%", "%25");
      expect(readJsonPointer(encoded)).toEqual(steps);
    }),
  );
});
