import { describe, expect, test } from "vitest";
import { attributesShape, filterShape, matchesFilter } from "./attribute-filter.ts";

const file = { kind: "owl", age: 3, wild: true, found: "2024-05-01" };
const createComparison = (type: string, key: string, value: unknown) => ({ type, key, value });

describe("matchesFilter() with a comparison", () => {
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
    const filter = createComparison(type, key, value);
    expect(filterShape(filter, "filters")).toBe(null);
    expect(matchesFilter(file, filter)).toBe(expected);
  });

  test("matches every file without a filter", () => {
    expect(matchesFilter(file, null)).toBe(true);
  });
});

describe("matchesFilter() with compound filters", () => {
  const yes = createComparison("eq", "kind", "owl");
  const no = createComparison("eq", "kind", "hen");

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
  ])("evaluates %j to %s", (filter, expected) => {
    expect(filterShape(filter, "filters")).toBe(null);
    expect(matchesFilter(file, filter)).toBe(expected);
  });
});

describe("filterShape", () => {
  test.each([
    ["owl", "Invalid type for 'filters': expected an object, but got a string instead."],
    [{ key: "a", value: 1 }, "Missing required parameter: 'filters.type'."],
    [createComparison("like", "a", 1), "Invalid value: 'like'."],
    [{ type: "eq", key: "a" }, "Missing required parameter: 'filters.value'."],
    [{ ...createComparison("eq", "a", 1), not: 1 }, "Unknown parameter: 'filters.not'."],
    [createComparison("eq", "a", ["x"]), "Invalid type for 'filters.value'"],
    [createComparison("eq", "a", null), "Invalid type for 'filters.value'"],
    [createComparison("in", "a", "x"), "Invalid type for 'filters.value': expected an array"],
    [createComparison("in", "a", [true]), "Invalid type for 'filters.value[0]'"],
    [
      { type: "and", filters: [{ type: "or", filters: [createComparison("gt", "a", {})] }] },
      "'filters.filters[0].filters[0].value'",
    ],
    [{ type: "and", filters: {} }, "Invalid type for 'filters.filters': expected an array"],
  ])("rejects %j", (filter, message) => {
    expect(filterShape(filter, "filters")?.message).toContain(message);
  });
});

describe("attributesShape", () => {
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`a${index}`, 1]));
  test.each([
    ["17 attributes", many, "too many properties"],
    ["a string of 513 characters", { a: "x".repeat(513) }, "maximum length 512"],
    ["a key of 65 characters", { ["x".repeat(65)]: 1 }, "maximum length 64"],
    ["an array", { a: ["x"] }, "Invalid type for 'attributes.a'"],
    ["null", { a: null }, "Invalid type for 'attributes.a'"],
  ])("rejects %s", (_, attributes, message) => {
    expect(attributesShape(attributes, "attributes")?.message).toContain(message);
  });

  test("accepts strings of 512 characters, numbers and booleans", () => {
    expect(attributesShape({ a: "x".repeat(512), b: 1.5, c: false }, "attributes")).toBe(null);
  });
});
