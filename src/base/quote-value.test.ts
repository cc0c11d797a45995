import { describe, expect, test } from "vitest";
import { quoteNames, quoteValue } from "./quote-value.ts";

class Point {
  x = 1;
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const loop: unknown[] = [];
loop.push(loop);

function add() {}

describe("quoteValue()", () => {
  test.each([
    ["a string, quoted", "a\nb", '"a\\nb"'],
    ["a number", 1.5, "1.5"],
    ["a bigint", 5n, "5"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["null", null, "null"],
    ["undefined", undefined, "undefined"],
    ["plain data, as JSON", { a: [1, null] }, '{"a":[1,null]}'],
    ["an object without a prototype, as data", Object.create(null), "{}"],
    ["a function, by its name", add, "the function add"],
    ["an anonymous function", () => {}, "a function"],
    ["an instance, by its class", new Point(), "a Point"],
    ["a date", new Date(0), "a Date"],
    ["an instance of an anonymous class", new (class {})(), "an instance of an anonymous class"],
    [
      "an object without a constructor",
      Object.create(Object.create(null)),
      "an instance of an anonymous class",
    ],
    ["an object in a cycle", cycle, "an object"],
    ["an array in a cycle", loop, "an array"],
    ["an object with a bigint", { n: 1n }, "an object"],
    ["an object that JSON omits", { toJSON: () => undefined }, "an object"],
  ])("formats %s", (_what, value, text) => {
    expect(quoteValue(value)).toBe(text);
  });

  test("returns at most 80 characters", () => {
    const long = "x".repeat(200);
    const texts = [long, [long], Symbol(long), 10n ** 200n, { [long]() {} }[long]].map(quoteValue);
    for (const text of texts) {
      expect(text).toHaveLength(80);
      expect(text).toMatch(/…$/);
    }
    expect(quoteValue("x".repeat(78))).toHaveLength(80);
    expect(quoteValue("x".repeat(78))).toMatch(/"$/);
  });

  test("returns one line", () => {
    const name = "a\r\nb\u2028c";
    expect(quoteValue({ [name]() {} }[name])).toBe("the function a b c");
    expect(quoteValue("a\u2029b")).toBe('"a b"');
  });

  test("handles values that throw when they are inspected", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const hostile = Object.create({
      get constructor() {
        throw new Error("no");
      },
    });
    for (const value of [proxy, hostile])
      expect(quoteValue(value)).toBe("a value that cannot be displayed");
  });

  test("handles any depth of nesting", () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level++) deep = { deep };
    expect(quoteValue(deep)).toBe("an object");
  });
});

describe("quoteNames()", () => {
  test("quotes and joins the names", () => {
    expect(quoteNames(["a", 'b"'])).toBe('"a", "b\\""');
    expect(quoteNames(new Set<string>())).toBe("");
  });

  test("truncates the list and counts the rest", () => {
    expect(quoteNames(["a", "b", "c"], 2)).toBe('"a", "b" and 1 more');
    expect(quoteNames(["a", "b"], 2)).toBe('"a", "b"');
    expect(quoteNames(Array.from({ length: 13 }, () => "x"))).toMatch(/"x" and 1 more$/);
  });
});
