import { describe, expect, test } from "vitest";
import * as z from "zod";
import { PromptValidationError } from "../base/errors.ts";
import { asHostedTool } from "./as-hosted-tool.ts";
import { HostedTool } from "./hosted-tool.ts";
import { NativeTool, type NativeToolOptions } from "./native-tool.ts";
import { Tool } from "./tool.ts";
import { ToolResult } from "./tool-result.ts";

const params = z.object({ code: z.string() });
const result = z.object({ stdout: z.string() });

function createOptions(
  changes: Readonly<Record<string, unknown>> = {},
): NativeToolOptions<unknown, unknown> {
  const whole = { name: "python", description: "Runs Python.", params, result };
  return { ...whole, ...changes } as never;
}

describe("NativeTool", () => {
  test("has no handler, uses its name as its kind, and rejects overrides by default", () => {
    const tool = new NativeTool(createOptions());
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

  test("accepts overrides and another kind if they are set", () => {
    const tool = new NativeTool(
      createOptions({ acceptsOverrides: true, kind: "code_interpreter" }),
    );
    expect(tool).toMatchObject({ acceptsOverrides: true, kind: "code_interpreter" });
  });

  test("stores a frozen copy of its config", () => {
    const config = { container: { files: ["a"] } };
    const tool = new NativeTool(createOptions({ config }));
    config.container.files.push("b");
    expect(tool.config).toEqual({ container: { files: ["a"] } });
    expect([tool, tool.config].every(Object.isFrozen)).toBe(true);
  });

  test("can be subclassed", () => {
    class CountedTool extends NativeTool {
      count = 0;
    }
    const tool = new CountedTool(createOptions());
    tool.count += 1;
    expect([tool.count, tool.kind]).toEqual([1, "python"]);
  });

  test("accepts an explicit handler of null", () => {
    for (const handler of [null, undefined]) {
      expect(new NativeTool(createOptions({ handler })).handler).toBeNull();
    }
  });

  test("accepts a name with upper case and a long description, if its kind is set", () => {
    const description = "Führt Python aus.\n".repeat(200);
    const about = { name: "runPython", kind: "code_interpreter", description };
    const tool = new NativeTool(createOptions(about));
    expect(tool).toMatchObject(about);
    const [hosted] = asHostedTool(tool);
    expect(hosted).toBeInstanceOf(HostedTool);
    expect(hosted).toMatchObject({ ...about, provider: null, handleProviderOutput: null });
  });

  test("asks for a kind if its name cannot be one", () => {
    expect(() => new NativeTool(createOptions({ name: "runPython", kind: undefined }))).toThrow(
      'NativeTool "runPython" kind must be 1-64 of a-z, 0-9, _ and -, got "runPython". Set kind, such as kind: "web_search".',
    );
  });

  test("validates examples against its schemas", () => {
    const example = { description: "Prints", input: { code: "print(1)" }, output: { stdout: "1" } };
    expect(new NativeTool(createOptions({ examples: [example] })).examples).toEqual([example]);
    expect(() => new NativeTool(createOptions({ examples: [{ ...example, input: {} }] }))).toThrow(
      'NativeTool "python" examples[0].input must match the tool\'s schema',
    );
  });
});

describe("NativeTool rejects", () => {
  test("a handler, and suggests ProviderTool", () => {
    const handler = () => ToolResult.ok({ stdout: "" });
    const make = () => new NativeTool(createOptions({ handler }));
    expect(make).toThrow(PromptValidationError);
    expect(make).toThrow(
      "NativeTool.handler must be omitted, got the function handler. Remove it, because " +
        "the provider runs a native tool; use ProviderTool to process its output.",
    );
  });

  test.each([
    ["params", null],
    ["params", undefined],
    ["result", null],
    ["result", undefined],
  ])("%s %s", (part, schema) => {
    expect(() => new NativeTool(createOptions({ [part]: schema }))).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: `NativeTool "python" ${part}`,
        value: schema,
        message: expect.stringContaining("Pass the schemas of the provider's call and output"),
      }),
    );
  });

  test.each([
    [{ name: "Run Python" }, "NativeTool.name"],
    [{ name: "Python" }, 'NativeTool "Python" kind'],
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
  ])("%o", (changes, field) => {
    expect(() => new NativeTool(createOptions(changes))).toThrow(
      expect.objectContaining({ name: "PromptValidationError", field }),
    );
  });
});
