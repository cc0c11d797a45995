import { describe, expect, test } from "vitest";
import { isToolResult, renderValue, ToolResult, toModelText } from "./tool-result.ts";

describe("ToolResult", () => {
  test('ok() has a value, and "OK" as its default message', () => {
    expect(ToolResult.ok([1])).toEqual({ success: true, message: "OK", value: [1] });
    expect(ToolResult.ok(null, "Nothing found.")).toEqual({
      success: true,
      message: "Nothing found.",
      value: null,
    });
  });

  test("error() has a message and an optional value", () => {
    expect(ToolResult.error("No such table.")).toEqual({
      success: false,
      message: "No such table.",
      value: null,
    });
    expect(ToolResult.error("No such table.", { tables: 2 }).value).toEqual({ tables: 2 });
  });

  test("is recognized by isToolResult() among other return values", () => {
    const results = [
      ToolResult.ok(1),
      ToolResult.error("no"),
      { success: true, message: "", value: null },
    ];
    expect(results.every(isToolResult)).toBe(true);
    const others = [
      undefined,
      null,
      "OK",
      1,
      {},
      [],
      { success: "yes", message: "", value: 1 },
      { success: true, value: 1 },
      { success: true, message: 5, value: 1 },
      { success: true, message: "no value" },
    ];
    expect(others.some(isToolResult)).toBe(false);
  });
});

describe("renderValue()", () => {
  class Row {
    readonly text: string;

    constructor(text: string) {
      this.text = text;
    }

    render(): string {
      return `row ${this.text}`;
    }
  }
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  class Node {
    readonly self = this;
  }

  test.each([
    ['returns "" for null', null, ""],
    ['returns "" for undefined', undefined, ""],
    ["returns a string unchanged", "a\nb", "a\nb"],
    ['returns "" for an empty string', "", ""],
    ["serializes a number", 1.5, "1.5"],
    ["serializes false", false, "false"],
    ["returns the digits of a bigint", 10n, '"10"'],
    ["returns the text of a symbol", Symbol("s"), "Symbol(s)"],
    ["serializes an object", { a: [1, null], b: undefined }, '{"a":[1,null]}'],
    ["serializes an array", [1, { a: 2 }], '[1,{"a":2}]'],
    ["serializes an empty array", [], "[]"],
    ["serializes a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["serializes a nested bigint as a string", { n: 10n }, '{"n":"10"}'],
    ["serializes a map as an object", new Map([["a", new Set([1])]]), '{"a":[1]}'],
    ["decodes bytes as UTF-8", new TextEncoder().encode("Größe"), "Größe"],
    ["replaces invalid bytes", new Uint8Array([0x61, 0xff]), "a\ufffd"],
    ["calls a value's own render()", new Row("1"), "row 1"],
    ["calls render() of a plain object", { render: () => "me" }, "me"],
    ["converts the result of render() to a string", { render: () => 5 }, "5"],
    ["joins renderable values with blank lines", [new Row("1"), new Row("2")], "row 1\n\nrow 2"],
    [
      "serializes other values among renderable ones",
      [new Row("1"), { a: 1 }, "x"],
      'row 1\n\n{"a":1}\n\nx',
    ],
    ["ignores a render() that takes arguments", { render: (x: number) => x, a: 1 }, '{"a":1}'],
    ["ignores a render property that is not a function", { render: "x" }, '{"render":"x"}'],
    ["reports a circular object", cycle, "(a circular value)"],
    ["reports a circular array", [cycle], "(a circular value)"],
    ["returns the text of a circular instance", new Node(), "[object Object]"],
  ])("%s", (_rule, value, text) => {
    expect(renderValue(value)).toBe(text);
  });

  test("prefers the tool's render", () => {
    expect(renderValue(new Row("1"), (row: Row) => `<${row.text}>`)).toBe("<1>");
    expect(renderValue(5, (n: number) => n as never)).toBe("5");
    expect(renderValue(null, () => "unused")).toBe("");
    expect(renderValue([1], null)).toBe("[1]");
  });

  test("falls back to JSON with a note if render throws", () => {
    const throwError = () => {
      throw new Error("boom");
    };
    expect(renderValue({ a: 1 }, throwError)).toBe('{"a":1}\n(render failed: boom)');
    expect(renderValue({ a: 1, render: throwError })).toBe('{"a":1}\n(render failed: boom)');
    expect(renderValue([{ render: throwError }, new Row("2")])).toBe(
      "{}\n(render failed: boom)\n\nrow 2",
    );
  });

  test("falls back to JSON with a note if render returns a value without text", () => {
    const text = renderValue({ a: 1, render: () => Object.create(null) });
    expect(text).toMatch(/^{"a":1}\n\(render failed: .+\)$/);
  });
});

describe("toModelText()", () => {
  test("joins the message and the value", () => {
    expect(toModelText(ToolResult.ok(1, "Found."), "1")).toBe("Found.\n\n1");
  });

  test("omits empty parts", () => {
    expect(toModelText(ToolResult.ok(null, "Done."), "")).toBe("Done.");
    expect(toModelText(ToolResult.ok(1, ""), "1")).toBe("1");
    expect(toModelText(ToolResult.ok(null, ""), "")).toBe("");
  });

  test("omits a value that is excluded from the context", () => {
    const result = { ...ToolResult.ok([1], "Kept."), excludeValueFromContext: true };
    expect(toModelText(result, "[1]")).toBe("Kept.");
    expect(toModelText({ ...result, excludeValueFromContext: false }, "[1]")).toBe("Kept.\n\n[1]");
  });
});
