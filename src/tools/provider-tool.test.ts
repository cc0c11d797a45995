import { describe, expect, test } from "vitest";
import * as z from "zod";
import { ProviderTool, type ProviderToolOptions } from "./provider-tool.ts";
import { Tool } from "./tool.ts";
import { ToolResult } from "./tool-result.ts";

const params = z.object({ code: z.string() });
const result = z.object({ stdout: z.string() });

function options(
  changes: Readonly<Record<string, unknown>> = {},
): ProviderToolOptions<unknown, unknown, object> {
  const whole = {
    name: "python",
    description: "Runs Python.",
    params,
    result,
    provider: "openai",
    kind: "code_interpreter",
    config: { memoryLimit: "4g" },
  };
  return { ...whole, ...changes } as never;
}

describe("a provider tool", () => {
  test("is a tool bound to a provider, with or without hooks", () => {
    const tool = new ProviderTool(options());
    expect(tool).toBeInstanceOf(Tool);
    expect(tool).toMatchObject({
      name: "python",
      provider: "openai",
      kind: "code_interpreter",
      config: { memoryLimit: "4g" },
      handler: null,
      handleProviderOutput: null,
      acceptsOverrides: true,
      parallel: false,
    });
    const handler = () => ToolResult.ok({ stdout: "" });
    const hooked = new ProviderTool(options({ handler, handleProviderOutput: handler }));
    expect([hooked.handler, hooked.handleProviderOutput]).toEqual([handler, handler]);
    const bare = new ProviderTool(options({ handler: undefined, handleProviderOutput: null }));
    expect([bare.handler, bare.handleProviderOutput]).toEqual([null, null]);
  });

  test("may take nothing and give back anything", () => {
    expect(new ProviderTool(options({ params: null, result: null }))).toMatchObject({
      params: null,
      result: null,
    });
  });

  test("keeps a frozen copy of its config", () => {
    const config = { files: ["a"] };
    const tool = new ProviderTool(options({ config }));
    config.files.push("b");
    expect(tool.config).toEqual({ files: ["a"] });
    expect([tool, tool.config].every(Object.isFrozen)).toBe(true);
  });

  test("can be extended, as OpenAICodeInterpreterTool does", () => {
    class InterpreterTool extends ProviderTool {
      readonly languages = ["python"];
    }
    const tool = new InterpreterTool(options());
    expect(tool.languages).toEqual(["python"]);
    expect(() => new InterpreterTool(options({ name: "" }))).toThrow("InterpreterTool.name");
  });
});

test.each([
  [{ name: "Python" }, "ProviderTool.name", 'write it like "python"'],
  [{ provider: "" }, 'ProviderTool "python" provider', "must be 1-64"],
  [{ provider: undefined }, 'ProviderTool "python" provider', "must be 1-64"],
  [{ provider: "OpenAI" }, 'ProviderTool "python" provider', 'write it like "openai"'],
  [{ kind: undefined }, 'ProviderTool "python" kind', "must be 1-64"],
  [{ kind: "a b" }, 'ProviderTool "python" kind', 'write it like "a_b"'],
  [{ config: undefined }, 'ProviderTool "python" config', "{} for the defaults"],
  [{ config: null }, 'ProviderTool "python" config', "{} for the defaults"],
  [{ handler: "run" }, 'ProviderTool "python" handler', "give a function or leave it out"],
  [{ handleProviderOutput: 5 }, 'ProviderTool "python" handleProviderOutput', "give a function"],
  [{ params: undefined }, 'ProviderTool "python" params', "write params: null"],
])("a provider tool is refused with %o", (changes, field, says) => {
  expect(() => new ProviderTool(options(changes))).toThrow(
    expect.objectContaining({
      name: "PromptValidationError",
      field,
      message: expect.stringContaining(says),
    }),
  );
});
