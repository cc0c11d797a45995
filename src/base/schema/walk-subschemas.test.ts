import fc from "fast-check";
import { expect, test } from "vitest";
import { formatJsonPointer, parseJsonPointer, walkSubschemas } from "./walk-subschemas.ts";

test("walkSubschemas() finds schemas in every applicator keyword, outer schemas first", () => {
  const schema = {
    properties: { "a/b": { items: true }, type: {} },
    anyOf: [false, { not: {} }],
    default: { items: {} },
    enum: [{ items: {} }],
  };
  expect([...walkSubschemas(schema)].map(({ pointer }) => pointer)).toEqual([
    "#",
    "#/properties/a~1b",
    "#/properties/type",
    "#/anyOf/0",
    "#/anyOf/1",
    "#/properties/a~1b/items",
    "#/anyOf/1/not",
  ]);
});

test("parseJsonPointer() unescapes and decodes the steps", () => {
  expect(parseJsonPointer("#")).toEqual([]);
  expect(parseJsonPointer("#/a~1b/~01/%25/")).toEqual(["a/b", "~1", "%", ""]);
});

test.each(["", "a", "/a", "#a", "#/%", "http://example.com#/a"])(
  "parseJsonPointer() returns null for %j",
  (text) => {
    expect(parseJsonPointer(text)).toBeNull();
  },
);

test("parseJsonPointer() reverses formatJsonPointer()", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (steps) => {
      const encoded = formatJsonPointer(steps).replaceAll("%", "%25");
      expect(parseJsonPointer(encoded)).toEqual(steps);
    }),
  );
});
