import { describe, expect, test } from "vitest";
import { attributesShape, filterShape, isLetThrough } from "./attribute-filter.ts";

const file = { kind: "owl", age: 3, wild: true, found: "2024-05-01" };
const compare = (type: string, key: string, value: unknown) => ({ type, key, value });

describe("a comparison lets a file through", () => {
  test.each([
    ["eq", "kind", "owl", true],
    ["eq", "kind", "Owl", false],
    ["eq", "age", 3, true],
    ["eq", "age", "3", false],
    ["eq", "wild", true, true],
    ["eq", "wild", false, false],
    ["eq", "missing", "owl", false],
    ["ne", "kind", "owl", false],
    ["ne", "kind", "hen", true],
    ["ne", "age", "3", true],
    ["ne", "missing", "owl", true],
    ["gt", "age", 2, true],
    ["gt", "age", 3, false],
    ["gte", "age", 3, true],
    ["gte", "age", 4, false],
    ["lt", "age", 4, true],
    ["lt", "age", 3, false],
    ["lte", "age", 3, true],
    ["lte", "age", 2, false],
    ["gt", "found", "2024-01-01", true],
    ["lt", "found", "2024-01-01", false],
    ["gte", "found", "2024-05-01", true],
    ["gt", "age", "2", false],
    ["lte", "kind", 9, false],
    ["gte", "wild", true, false],
    ["gt", "missing", 0, false],
    ["lte", "missing", 0, false],
    ["in", "kind", ["hen", "owl"], true],
    ["in", "kind", [], false],
    ["in", "age", ["3"], false],
    ["in", "missing", ["owl"], false],
    ["nin", "kind", ["hen", "owl"], false],
    ["nin", "kind", ["hen"], true],
    ["nin", "missing", ["owl"], true],
    ["eq", "toString", "x", false],
    ["ne", "__proto__", "x", true],
  ])("%s %s %j: %s", (type, key, value, expected) => {
    const filter = compare(type, key, value);
    expect(filterShape(filter, "filters")).toBe(null);
    expect(isLetThrough(file, filter)).toBe(expected);
  });

  test("if there is none", () => {
    expect(isLetThrough(file, null)).toBe(true);
  });
});

describe("filters are put together", () => {
  const yes = compare("eq", "kind", "owl");
  const no = compare("eq", "kind", "hen");

  test.each([
    [{ type: "and", filters: [yes, yes] }, true],
    [{ type: "and", filters: [yes, no] }, false],
    [{ type: "and", filters: [] }, true],
    [{ type: "or", filters: [no, yes] }, true],
    [{ type: "or", filters: [no, no] }, false],
    [{ type: "or", filters: [] }, false],
    [
      {
        type: "or",
        filters: [no, { type: "and", filters: [yes, { type: "or", filters: [no, yes] }] }],
      },
      true,
    ],
    [
      {
        type: "and",
        filters: [yes, { type: "or", filters: [no, { type: "and", filters: [yes, no] }] }],
      },
      false,
    ],
  ])("as in %j: %s", (filter, expected) => {
    expect(filterShape(filter, "filters")).toBe(null);
    expect(isLetThrough(file, filter)).toBe(expected);
  });
});

describe("a filter is refused", () => {
  test.each([
    ["owl", "Invalid type for 'filters': expected an object, but got a string instead."],
    [{ key: "a", value: 1 }, "Missing required parameter: 'filters.type'."],
    [compare("like", "a", 1), "Invalid value: 'like'."],
    [{ type: "eq", key: "a" }, "Missing required parameter: 'filters.value'."],
    [{ ...compare("eq", "a", 1), not: 1 }, "Unknown parameter: 'filters.not'."],
    [compare("eq", "a", ["x"]), "Invalid type for 'filters.value'"],
    [compare("eq", "a", null), "Invalid type for 'filters.value'"],
    [compare("in", "a", "x"), "Invalid type for 'filters.value': expected an array"],
    [compare("in", "a", [true]), "Invalid type for 'filters.value[0]'"],
    [
      { type: "and", filters: [{ type: "or", filters: [compare("gt", "a", {})] }] },
      "'filters.filters[0].filters[0].value'",
    ],
    [{ type: "and", filters: {} }, "Invalid type for 'filters.filters': expected an array"],
  ])("if it is %j", (filter, message) => {
    expect(filterShape(filter, "filters")?.message).toContain(message);
  });
});

describe("attributes are refused", () => {
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`a${index}`, 1]));
  test.each([
    ["of which there are 17", many, "too many properties"],
    ["with a text of 513 characters", { a: "x".repeat(513) }, "maximum length 512"],
    ["with a key of 65 characters", { ["x".repeat(65)]: 1 }, "maximum length 64"],
    ["with a list", { a: ["x"] }, "Invalid type for 'attributes.a'"],
    ["with null", { a: null }, "Invalid type for 'attributes.a'"],
  ])("%s", (_, attributes, message) => {
    expect(attributesShape(attributes, "attributes")?.message).toContain(message);
  });

  test("only then", () => {
    expect(attributesShape({ a: "x".repeat(512), b: 1.5, c: false }, "attributes")).toBe(null);
  });
});
