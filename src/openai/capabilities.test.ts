import { describe, expect, test } from "vitest";
import { PromptValidationError } from "../base/errors.ts";
import { capabilities, checkedTable } from "./capabilities.ts";

const kinds = [
  ...["web_search", "file_search", "code_interpreter", "shell", "apply_patch"],
  ...["image_generation", "mcp"],
];

const lackedBy = (model: string, table = capabilities()) =>
  kinds.filter((kind) => table.lacks(model, kind) !== null);

describe("the default table", () => {
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
  ])("knows what %s lacks", (model, lacked) => {
    expect(lackedBy(model)).toEqual(lacked);
  });

  test.each(["my-deployment", "ft:gpt-4o:acme", "GPT-5", "o4", "", "constructor", "__proto__"])(
    "lets a model that it does not know run anything: %j",
    (model) => {
      expect(lackedBy(model)).toEqual([]);
    },
  );

  test("does not judge kinds that it does not know", () => {
    expect(capabilities().lacks("gpt-4.1-nano", "my_search")).toBeNull();
    expect(capabilities().lacks("gpt-4o", "toString")).toBeNull();
  });
});

describe("what it says of a lack", () => {
  test("names the model, how it is listed, what it can run and what to do", () => {
    expect(capabilities().lacks("gpt-4.1-nano-2025-04-14", "web_search")).toBe(
      'the model "gpt-4.1-nano-2025-04-14" (listed as "gpt-4.1-nano") can run "file_search", ' +
        '"code_interpreter", "image_generation", "mcp", and not "web_search": use another model, ' +
        "or list all that it can run in the nativeTools option",
    );
  });

  test("says that a model can run nothing", () => {
    const said = capabilities({ tiny: [] }).lacks("tiny-1", "mcp");
    expect(said).toContain('(listed as "tiny") can run no hosted tools, and not "mcp"');
  });
});

describe("a caller's row", () => {
  test("stands in for the default one of its prefix", () => {
    const table = capabilities({ "gpt-4.1": ["shell"] });
    expect(table.lacks("gpt-4.1-mini", "shell")).toBeNull();
    expect(table.lacks("gpt-4.1-mini", "web_search")).not.toBeNull();
    expect(lackedBy("gpt-4.1-nano", table)).toContain("shell");
    expect(lackedBy("gpt-4o", table)).toEqual(["shell", "apply_patch"]);
  });

  test("counts where its prefix is the longest that fits", () => {
    const table = capabilities({ "gpt-5-nano": ["mcp"], gpt: [] });
    expect(table.lacks("gpt-5-nano-1", "web_search")).not.toBeNull();
    expect(table.lacks("gpt-5-mini", "web_search")).toBeNull();
    expect(table.lacks("gpt-3.5", "web_search")).not.toBeNull();
  });

  test("judges every kind, also those of the caller's own codecs", () => {
    const table = capabilities({ "gpt-5": ["my_search"] });
    expect(table.lacks("gpt-5", "my_search")).toBeNull();
    expect(table.lacks("gpt-5", "other_search")).toContain('can run "my_search"');
  });

  test("may be any iterable, read once", () => {
    function* listed() {
      yield "shell";
    }
    const given = { a: new Set(["mcp"]), b: listed(), c: new Map([["x", 1]]).keys() };
    const table = capabilities(given);
    for (const model of ["a", "b", "c"]) {
      expect([table.lacks(model, "web_search"), table.lacks(model, "web_search")]).not.toContain(
        null,
      );
    }
    expect(table.lacks("b", "shell")).toBeNull();
    expect(table.lacks("c", "x")).toBeNull();
  });

  test("is copied", () => {
    const list = ["mcp"];
    const table = capabilities({ a: list });
    list.push("shell");
    expect(table.lacks("a", "shell")).not.toBeNull();
  });
});

describe("a table", () => {
  test("is copied to a frozen one, which may be read again and again", () => {
    const table = checkedTable({ a: new Set(["mcp"]), ["__proto__"]: ["shell"] }, "nativeTools");
    expect(Object.entries(table)).toEqual([
      ["a", ["mcp"]],
      ["__proto__", ["shell"]],
    ]);
    expect([table, ...Object.values(table)].every(Object.isFrozen)).toBe(true);
  });

  test.each([
    [null, "nativeTools", 'must be a plain object, got null. Write { "gpt-5": ["web_search"] }'],
    [new Map([["gpt-5", ["mcp"]]]), "nativeTools", "must be a plain object, got a Map"],
    [["gpt-5"], "nativeTools", "must be a plain object"],
    [{ "": ["mcp"] }, "nativeTools key", 'how a model\'s name starts, got "". Write one like'],
    [{ " ": ["mcp"] }, "nativeTools key", "how a model's name starts"],
    [{ "gpt-5": "mcp" }, 'nativeTools["gpt-5"]', 'list of kinds, got "mcp". Write ["mcp"]'],
    [{ "gpt-5": null }, 'nativeTools["gpt-5"]', "must be a list of kinds, got null. Write"],
    [{ "gpt-5": true }, 'nativeTools["gpt-5"]', "must be a list of kinds"],
    [{ "gpt-5": undefined }, 'nativeTools["gpt-5"]', "must be a list of kinds"],
    [{ "gpt-5": { mcp: true } }, 'nativeTools["gpt-5"]', "must be a list of kinds"],
    [{ "gpt-5": ["mcp", "Web Search"] }, 'nativeTools["gpt-5"][1]', 'write it like "web_search"'],
    [{ "gpt-5": [1] }, 'nativeTools["gpt-5"][0]', "must be 1-64 of a-z"],
  ])("is refused as %o", (given, field, says) => {
    const refusal = expect.objectContaining({
      name: "PromptValidationError",
      field,
      message: expect.stringContaining(says),
    });
    expect(() => checkedTable(given as never, "nativeTools")).toThrow(refusal);
  });

  test("is refused under the name that the adapter's option has, unless told otherwise", () => {
    expect(() => capabilities({ a: "mcp" })).toThrow(PromptValidationError);
    expect(() => capabilities({ a: "mcp" })).toThrow('OpenAIAdapter.nativeTools["a"] must be');
    expect(() => capabilities({ a: "mcp" }, "here")).toThrow('here["a"] must be');
  });
});
