import { describe, expect, test } from "vitest";
import { isToolResult, renderValue, ToolResult, textForModel } from "./tool-result.ts";

describe("a result", () => {
  test("that went well has a value, and OK for a message unless another is given", () => {
    expect(ToolResult.ok([1])).toEqual({ success: true, message: "OK", value: [1] });
    expect(ToolResult.ok(null, "Nothing found.")).toEqual({
      success: true,
      message: "Nothing found.",
      value: null,
    });
  });

  test("that failed has a message, and a value if there is one to look at", () => {
    expect(ToolResult.error("No such table.")).toEqual({
      success: false,
      message: "No such table.",
      value: null,
    });
    expect(ToolResult.error("No such table.", { tables: 2 }).value).toEqual({ tables: 2 });
  });

  test("is told apart from what else a handler may give back", () => {
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

describe("a value for the model", () => {
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
    ["null is empty", null, ""],
    ["undefined is empty", undefined, ""],
    ["a string is itself", "a\nb", "a\nb"],
    ["an empty string is empty", "", ""],
    ["a number is JSON", 1.5, "1.5"],
    ["false is JSON", false, "false"],
    ["a bigint is its digits", 10n, '"10"'],
    ["a symbol is its text", Symbol("s"), "Symbol(s)"],
    ["an object is JSON", { a: [1, null], b: undefined }, '{"a":[1,null]}'],
    ["a list is JSON", [1, { a: 2 }], '[1,{"a":2}]'],
    ["an empty list is JSON", [], "[]"],
    ["a date is JSON", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a bigint within is text", { n: 10n }, '{"n":"10"}'],
    ["a map is an object", new Map([["a", new Set([1])]]), '{"a":[1]}'],
    ["bytes are UTF-8", new TextEncoder().encode("Größe"), "Größe"],
    ["broken bytes are mended", new Uint8Array([0x61, 0xff]), "a\ufffd"],
    ["what renders itself does", new Row("1"), "row 1"],
    ["a plain object may render itself", { render: () => "me" }, "me"],
    ["what it renders becomes text", { render: () => 5 }, "5"],
    ["renderables stand one below the other", [new Row("1"), new Row("2")], "row 1\n\nrow 2"],
    ["others stand among them", [new Row("1"), { a: 1 }, "x"], 'row 1\n\n{"a":1}\n\nx'],
    [
      "a render that wants arguments is another thing",
      { render: (x: number) => x, a: 1 },
      '{"a":1}',
    ],
    ["a render that is no function is a field", { render: "x" }, '{"render":"x"}'],
    ["an object in a cycle says so", cycle, "(a value that contains itself)"],
    ["a list in a cycle says so", [cycle], "(a value that contains itself)"],
    ["an instance in a cycle is its text", new Node(), "[object Object]"],
  ])("%s", (_rule, value, text) => {
    expect(renderValue(value)).toBe(text);
  });

  test("is what the tool's render makes of it, before all else", () => {
    expect(renderValue(new Row("1"), (row: Row) => `<${row.text}>`)).toBe("<1>");
    expect(renderValue(5, (n: number) => n as never)).toBe("5");
    expect(renderValue(null, () => "unused")).toBe("");
    expect(renderValue([1], null)).toBe("[1]");
  });

  test("is JSON with a note where a render fails", () => {
    const fail = () => {
      throw new Error("boom");
    };
    expect(renderValue({ a: 1 }, fail)).toBe('{"a":1}\n(its render failed: boom)');
    expect(renderValue({ a: 1, render: fail })).toBe('{"a":1}\n(its render failed: boom)');
    expect(renderValue([{ render: fail }, new Row("2")])).toBe(
      "{}\n(its render failed: boom)\n\nrow 2",
    );
  });

  test("is JSON with a note where a render gives what cannot be text", () => {
    const text = renderValue({ a: 1, render: () => Object.create(null) });
    expect(text).toMatch(/^{"a":1}\n\(its render failed: .+\)$/);
  });
});

describe("what the model reads", () => {
  test("is the message, then the value", () => {
    expect(textForModel(ToolResult.ok(1, "Found."), "1")).toBe("Found.\n\n1");
  });

  test("leaves out whichever is empty", () => {
    expect(textForModel(ToolResult.ok(null, "Done."), "")).toBe("Done.");
    expect(textForModel(ToolResult.ok(1, ""), "1")).toBe("1");
    expect(textForModel(ToolResult.ok(null, ""), "")).toBe("");
  });

  test("leaves out a value that is not for the context", () => {
    const result = { ...ToolResult.ok([1], "Kept."), excludeValueFromContext: true };
    expect(textForModel(result, "[1]")).toBe("Kept.");
    expect(textForModel({ ...result, excludeValueFromContext: false }, "[1]")).toBe("Kept.\n\n[1]");
  });
});
