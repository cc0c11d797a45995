import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { checkNativeToolsTable, createCapabilities } from "./capabilities.ts";

const kinds = [
  ...["web_search", "file_search", "code_interpreter", "shell", "apply_patch"],
  ...["image_generation", "mcp"],
];

const listUnsupported = (model: string, table = createCapabilities()) =>
  kinds.filter((kind) => table.explainUnsupported(model, kind) !== null);

describe("the default capabilities table", () => {
  test.each([
    ["gpt-5", []],
    ["gpt-5.2-codex", []],
    ["gpt-5-mini-2025-08-07", []],
    ["gpt-4o", ["shell", "apply_patch"]],
    ["gpt-4o-mini-2024-07-18", ["shell", "apply_patch"]],
    ["gpt-4.1", ["shell", "apply_patch"]],
    ["gpt-4.1-mini", ["shell", "apply_patch"]],
    ["gpt-4.1-nano", ["web_search", "shell", "apply_patch"]],
    ["gpt-4.1-nano-2025-04-14", ["web_search", "shell", "apply_patch"]],
    ["o3", ["shell", "apply_patch"]],
    ["o3-pro", ["shell", "apply_patch"]],
    ["o4-mini", ["shell", "apply_patch", "image_generation"]],
  ])("lists the kinds that %s does not support", (model, lacked) => {
    expect(listUnsupported(model)).toEqual(lacked);
  });

  test.each(["my-deployment", "ft:gpt-4o:acme", "GPT-5", "o4", "", "constructor", "__proto__"])(
    "allows every kind for the unknown model %j",
    (model) => {
      expect(listUnsupported(model)).toEqual([]);
    },
  );

  test("allows unknown kinds for every model", () => {
    expect(createCapabilities().explainUnsupported("gpt-4.1-nano", "my_search")).toBeNull();
    expect(createCapabilities().explainUnsupported("gpt-4o", "toString")).toBeNull();
  });
});

describe("explainUnsupported()", () => {
  test("names the model, its prefix, the supported kinds and the remedy", () => {
    expect(createCapabilities().explainUnsupported("gpt-4.1-nano-2025-04-14", "web_search")).toBe(
      'the model "gpt-4.1-nano-2025-04-14" (listed as "gpt-4.1-nano") supports "file_search", ' +
        '"code_interpreter", "image_generation", "mcp", not "web_search": use another model, ' +
        "or list every kind it supports in the nativeTools option",
    );
  });

  test("reports a model without hosted tools", () => {
    const problem = createCapabilities({ tiny: [] }).explainUnsupported("tiny-1", "mcp");
    expect(problem).toContain('(listed as "tiny") supports no hosted tools, not "mcp"');
  });
});

describe("a custom row of the capabilities table", () => {
  test("replaces the default row with the same prefix", () => {
    const table = createCapabilities({ "gpt-4.1": ["shell"] });
    expect(table.explainUnsupported("gpt-4.1-mini", "shell")).toBeNull();
    expect(table.explainUnsupported("gpt-4.1-mini", "web_search")).not.toBeNull();
    expect(listUnsupported("gpt-4.1-nano", table)).toContain("shell");
    expect(listUnsupported("gpt-4o", table)).toEqual(["shell", "apply_patch"]);
  });

  test("applies when its prefix is the longest match", () => {
    const table = createCapabilities({ "gpt-5-nano": ["mcp"], gpt: [] });
    expect(table.explainUnsupported("gpt-5-nano-1", "web_search")).not.toBeNull();
    expect(table.explainUnsupported("gpt-5-mini", "web_search")).toBeNull();
    expect(table.explainUnsupported("gpt-3.5", "web_search")).not.toBeNull();
  });

  test("applies to every kind, including custom kinds", () => {
    const table = createCapabilities({ "gpt-5": ["my_search"] });
    expect(table.explainUnsupported("gpt-5", "my_search")).toBeNull();
    expect(table.explainUnsupported("gpt-5", "other_search")).toContain('supports "my_search"');
  });

  test("accepts any iterable and reads it once", () => {
    function* listKinds() {
      yield "shell";
    }
    const given = { a: new Set(["mcp"]), b: listKinds(), c: new Map([["x", 1]]).keys() };
    const table = createCapabilities(given);
    for (const model of ["a", "b", "c"]) {
      expect([
        table.explainUnsupported(model, "web_search"),
        table.explainUnsupported(model, "web_search"),
      ]).not.toContain(null);
    }
    expect(table.explainUnsupported("b", "shell")).toBeNull();
    expect(table.explainUnsupported("c", "x")).toBeNull();
  });

  test("is copied, so later changes have no effect", () => {
    const list = ["mcp"];
    const table = createCapabilities({ a: list });
    list.push("shell");
    expect(table.explainUnsupported("a", "shell")).not.toBeNull();
  });
});

describe("checkNativeToolsTable()", () => {
  test("returns a frozen copy with arrays", () => {
    const table = checkNativeToolsTable(
      { a: new Set(["mcp"]), ["__proto__"]: ["shell"] },
      "nativeTools",
    );
    expect(Object.entries(table)).toEqual([
      ["a", ["mcp"]],
      ["__proto__", ["shell"]],
    ]);
    expect([table, ...Object.values(table)].every(Object.isFrozen)).toBe(true);
  });

  test.each([
    [
      null,
      "nativeTools",
      'must be a plain object, got null. Use an object like { "gpt-5": ["web_search"] }',
    ],
    [new Map([["gpt-5", ["mcp"]]]), "nativeTools", "must be a plain object, got a Map"],
    [["gpt-5"], "nativeTools", "must be a plain object"],
    [{ "": ["mcp"] }, "nativeTools key", 'a prefix of a model\'s name, got "". Use a prefix like'],
    [{ " ": ["mcp"] }, "nativeTools key", "a prefix of a model's name"],
    [{ "gpt-5": "mcp" }, 'nativeTools["gpt-5"]', 'array of tool kinds, got "mcp". Use ["mcp"]'],
    [
      { "gpt-5": null },
      'nativeTools["gpt-5"]',
      "must be an array of tool kinds, got null. Pass an array.",
    ],
    [{ "gpt-5": true }, 'nativeTools["gpt-5"]', "must be an array of tool kinds"],
    [{ "gpt-5": undefined }, 'nativeTools["gpt-5"]', "must be an array of tool kinds"],
    [{ "gpt-5": { mcp: true } }, 'nativeTools["gpt-5"]', "must be an array of tool kinds"],
    [{ "gpt-5": ["mcp", "Web Search"] }, 'nativeTools["gpt-5"][1]', 'rite it like "web_search"'],
    [{ "gpt-5": [1] }, 'nativeTools["gpt-5"][0]', "must be 1-64 of a-z"],
  ])("rejects %o", (given, field, says) => {
    const refusal = expect.objectContaining({
      name: "PromptValidationError",
      field,
      message: expect.stringContaining(says),
    });
    expect(() => checkNativeToolsTable(given as never, "nativeTools")).toThrow(refusal);
  });

  test("names the adapter's option in errors, or the field it was passed", () => {
    expect(() => createCapabilities({ a: "mcp" })).toThrow(PromptValidationError);
    expect(() => createCapabilities({ a: "mcp" })).toThrow(
      'OpenAIAdapter.nativeTools["a"] must be',
    );
    expect(() => createCapabilities({ a: "mcp" }, "here")).toThrow('here["a"] must be');
  });
});
