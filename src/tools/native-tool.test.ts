import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { NativeTool, type NativeToolOptions } from "./native-tool.ts";
import { Tool } from "./tool.ts";
import { ToolResult } from "./tool-result.ts";

const params = z.object({ code: z.string() });
const result = z.object({ stdout: z.string() });

function options(
  changes: Readonly<Record<string, unknown>> = {},
): NativeToolOptions<unknown, unknown> {
  const whole = { name: "python", description: "Runs Python.", params, result };
  return { ...whole, ...changes } as never;
}

describe("a native tool", () => {
  test("is a tool without a handler, called like its capability, that takes no overrides", () => {
    const tool = new NativeTool(options());
    expect(tool).toBeInstanceOf(Tool);
    expect(tool).toMatchObject({
      name: "python",
      kind: "python",
      config: {},
      handler: null,
      acceptsOverrides: false,
      parallel: false,
      params,
      result,
    });
    expect(tool.paramsSchema).toMatchObject({ properties: { code: { type: "string" } } });
  });

  test("takes overrides if asked to, and may have another kind", () => {
    const tool = new NativeTool(options({ acceptsOverrides: true, kind: "code_interpreter" }));
    expect(tool).toMatchObject({ acceptsOverrides: true, kind: "code_interpreter" });
  });

  test("keeps a frozen copy of its config", () => {
    const config = { container: { files: ["a"] } };
    const tool = new NativeTool(options({ config }));
    config.container.files.push("b");
    expect(tool.config).toEqual({ container: { files: ["a"] } });
    expect([tool, tool.config].every(Object.isFrozen)).toBe(true);
  });

  test("can be extended", () => {
    class CountedTool extends NativeTool {
      count = 0;
    }
    const tool = new CountedTool(options());
    tool.count += 1;
    expect([tool.count, tool.kind]).toEqual([1, "python"]);
  });

  test("may say that it has no handler", () => {
    for (const handler of [null, undefined]) {
      expect(new NativeTool(options({ handler })).handler).toBeNull();
    }
  });

  test("holds its examples to its schemas", () => {
    const example = { description: "Prints", input: { code: "print(1)" }, output: { stdout: "1" } };
    expect(new NativeTool(options({ examples: [example] })).examples).toEqual([example]);
    expect(() => new NativeTool(options({ examples: [{ ...example, input: {} }] }))).toThrow(
      'NativeTool "python" examples[0].input must fit the tool\'s own schema',
    );
  });
});

describe("a native tool is refused", () => {
  test("with a handler, saying what to use instead", () => {
    const handler = () => ToolResult.ok({ stdout: "" });
    const make = () => new NativeTool(options({ handler }));
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(
      "NativeTool.handler must be left out, got the function handler. The provider runs a " +
        "native tool; use ProviderTool to look at what it did",
    );
  });

  test.each([
    ["params", null],
    ["params", undefined],
    ["result", null],
    ["result", undefined],
  ])("with %s %s", (part, schema) => {
    expect(() => new NativeTool(options({ [part]: schema }))).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: `NativeTool "python" ${part}`,
        value: schema,
        message: expect.stringContaining("describe what the provider's call holds and gives back"),
      }),
    );
  });

  test.each([
    [{ name: "Python" }, "NativeTool.name"],
    [{ description: "" }, 'NativeTool "python" description'],
    [{ params: {} }, 'NativeTool "python" params'],
    [{ params: z.string() }, 'NativeTool "python" params'],
    [{ result: {} }, 'NativeTool "python" result'],
    [{ result: z.string() }, 'NativeTool "python" result'],
    [{ result: z.array(z.object({})) }, 'NativeTool "python" result'],
    [{ kind: "Code Interpreter" }, 'NativeTool "python" kind'],
    [{ kind: "" }, 'NativeTool "python" kind'],
    [{ config: [] }, 'NativeTool "python" config'],
    [{ config: new Date(0) }, 'NativeTool "python" config'],
  ])("with %o", (changes, field) => {
    expect(() => new NativeTool(options(changes))).toThrow(
      expect.objectContaining({ name: "PromptValidationError", field }),
    );
  });
});
