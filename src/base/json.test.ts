import { describe, expect, test } from "vitest";
import {
  findJsonProblem,
  isTooDeep,
  parseJson,
  readNumber,
  readRecord,
  readRecords,
  readStrings,
  stableStringify,
} from "./json.ts";

describe("parseJson()", () => {
  test("returns the parsed value", () => {
    expect(parseJson('{"a":[1,null]}')).toEqual({ ok: true, value: { a: [1, null] } });
    expect(parseJson("null")).toEqual({ ok: true, value: null });
  });

  test.each(["", "{", "{'a':1}", "undefined", "{}x", undefined as never])(
    "returns the problem of %j without throwing",
    (text) => {
      expect(parseJson(text)).toEqual({ ok: false, problem: expect.stringContaining("JSON") });
    },
  );

  test("parses a field named __proto__ as ordinary data", () => {
    const parsed = parseJson('{"__proto__":{"admin":true}}');
    expect(parsed.ok && Object.getPrototypeOf(parsed.value)).toBe(Object.prototype);
  });
});

describe("stableStringify()", () => {
  test("sorts keys at any depth", () => {
    expect(stableStringify({ b: 1, a: { d: 1, c: [{ f: 1, e: 1 }] } })).toBe(
      '{"a":{"c":[{"e":1,"f":1}],"d":1},"b":1}',
    );
  });

  test("preserves the order of arrays", () => {
    expect(stableStringify([3, 1, 2])).toBe("[3,1,2]");
  });

  test("does not change the key order of its argument", () => {
    const value = { b: 1, a: 1 };
    stableStringify(value);
    expect(Object.keys(value)).toEqual(["b", "a"]);
  });

  test("writes other values as JSON.stringify does", () => {
    expect([null, "a", 1, true].map(stableStringify)).toEqual(["null", '"a"', "1", "true"]);
    expect(stableStringify({ at: new Date(0), none: undefined })).toBe(
      '{"at":"1970-01-01T00:00:00.000Z"}',
    );
  });

  test("writes a field named __proto__ as ordinary data", () => {
    expect(stableStringify(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe(
      '{"__proto__":{"a":1},"b":1}',
    );
  });
});

describe("findJsonProblem()", () => {
  const cycle: { a?: unknown } = {};
  cycle.a = { b: cycle };
  const sparse = [1];
  sparse[2] = 3;

  test.each([
    ["not a number", { a: [1, Number.NaN] }, "value.a.1 is NaN"],
    ["infinite", Number.NEGATIVE_INFINITY, "value is -Infinity"],
    ["undefined", undefined, "value is undefined"],
    ["undefined in an array", [1, undefined], "value.1 is undefined"],
    ["missing from an array", sparse, "value.1 is undefined"],
    ["a bigint", { n: 1n }, "value.n is 1"],
    ["a function", { f() {} }, "value.f is the function f"],
    ["a symbol", [Symbol("s")], "value.0 is Symbol(s)"],
    ["a date", { at: new Date(0) }, "value.at is a Date"],
    ["a map", new Map(), "value is a Map"],
    ["in a cycle", cycle, "value.a.b contains itself"],
  ])("reports a value that is %s, with its path", (_what, value, problem) => {
    expect(findJsonProblem(value)).toBe(problem);
  });

  test("returns null for JSON data", () => {
    const shared = [1];
    expect(findJsonProblem({ a: shared, b: shared, c: [null, "x", true, { d: 0.5 }] })).toBeNull();
    expect(findJsonProblem(Object.create(null))).toBeNull();
  });

  test("accepts undefined fields, which JSON omits", () => {
    expect(findJsonProblem({ a: undefined })).toBeNull();
  });

  test("accepts 1000 levels of nesting and rejects more", () => {
    expect(findJsonProblem(nestValue(1000))).toBeNull();
    expect(findJsonProblem(nestValue(1001))).toBe("value is nested more than 1000 levels deep");
    expect(findJsonProblem(nestValue(100_000))).toBe("value is nested more than 1000 levels deep");
  });
});

function nestValue(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

test("isTooDeep() accepts 1000 levels of arrays or objects and rejects more", () => {
  const wrapValue = (levels: number, wrap: (inner: unknown) => unknown) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level++) value = wrap(value);
    return value;
  };
  for (const wrap of [
    (inner: unknown) => [inner],
    (inner: unknown) => ({ inner, by: "the way" }),
  ]) {
    expect(isTooDeep(wrapValue(1000, wrap))).toBe(false);
    expect(isTooDeep(wrapValue(1001, wrap))).toBe(true);
    expect(isTooDeep(wrapValue(100_000, wrap))).toBe(true);
  }
  expect([null, "text", 7, undefined].some(isTooDeep)).toBe(false);
});

test("field readers return a value of the expected type, or an empty value", () => {
  const record = { number: 1, endless: Number.POSITIVE_INFINITY, list: ["a", 1, { b: 2 }], of: {} };
  expect([readNumber(record, "number"), readNumber(record, "endless")]).toEqual([1, null]);
  expect([readRecord(record, "of"), readRecord(record, "list")]).toEqual([{}, {}]);
  expect([readStrings(record, "list"), readStrings(record, "of")]).toEqual([["a"], []]);
  expect([readRecords(record, "list"), readRecords(record, "of")]).toEqual([[{ b: 2 }], []]);
});
