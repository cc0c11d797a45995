import { describe, expect, test } from "vitest";
import * as z from "zod";
import { asHostedTool } from "./as-hosted-tool.ts";
import { ProviderTool, type ProviderToolOptions } from "./provider-tool.ts";
import { Tool } from "./tool.ts";
import { ToolResult } from "./tool-result.ts";

const params = z.object({ code: z.string() });
const result = z.object({ stdout: z.string() });

function createOptions(
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

describe("ProviderTool", () => {
  test("belongs to a provider, with or without hooks", () => {
    const tool = new ProviderTool(createOptions());
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
    const hooked = new ProviderTool(createOptions({ handler, handleProviderOutput: handler }));
    expect([hooked.handler, hooked.handleProviderOutput]).toEqual([handler, handler]);
    const bare = new ProviderTool(
      createOptions({ handler: undefined, handleProviderOutput: null }),
    );
    expect([bare.handler, bare.handleProviderOutput]).toEqual([null, null]);
  });

  test("accepts no params and any result", () => {
    expect(new ProviderTool(createOptions({ params: null, result: null }))).toMatchObject({
      params: null,
      result: null,
    });
  });

  test("stores a frozen copy of its config", () => {
    const config = { files: ["a"] };
    const tool = new ProviderTool(createOptions({ config }));
    config.files.push("b");
    expect(tool.config).toEqual({ files: ["a"] });
    expect([tool, tool.config].every(Object.isFrozen)).toBe(true);
  });

  test("accepts a name with upper case and a long description", () => {
    const about = { name: "runPython", description: "Führt Python aus.\n".repeat(200) };
    const tool = new ProviderTool(createOptions(about));
    expect(tool).toMatchObject(about);
    expect(asHostedTool(tool)[0]).toMatchObject({ ...about, provider: "openai" });
  });

  test("can be subclassed, like OpenAICodeInterpreterTool", () => {
    class InterpreterTool extends ProviderTool {
      readonly languages = ["python"];
    }
    const tool = new InterpreterTool(createOptions());
    expect(tool.languages).toEqual(["python"]);
    expect(() => new InterpreterTool(createOptions({ name: "" }))).toThrow("InterpreterTool.name");
  });
});

test.each([
  [{ name: "Run Python" }, "ProviderTool.name", 'Write it like "Run_Python"'],
  [{ provider: "" }, 'ProviderTool "python" provider', "must be 1-64"],
  [{ provider: undefined }, 'ProviderTool "python" provider', "must be 1-64"],
  [{ provider: "OpenAI" }, 'ProviderTool "python" provider', 'Write it like "openai"'],
  [{ kind: undefined }, 'ProviderTool "python" kind', "must be 1-64"],
  [{ kind: "a b" }, 'ProviderTool "python" kind', 'Write it like "a_b"'],
  [{ config: undefined }, 'ProviderTool "python" config', "{} for the defaults"],
  [{ config: null }, 'ProviderTool "python" config', "{} for the defaults"],
  [{ handler: "run" }, 'ProviderTool "python" handler', "Pass a function or omit it"],
  [
    { handleProviderOutput: 5 },
    'ProviderTool "python" handleProviderOutput',
    "Pass a function or omit it",
  ],
  [{ params: undefined }, 'ProviderTool "python" params', "Use params: null"],
])("ProviderTool rejects %o", (changes, field, says) => {
  expect(() => new ProviderTool(createOptions(changes))).toThrow(
    expect.objectContaining({
      name: "PromptValidationError",
      field,
      message: expect.stringContaining(says),
    }),
  );
});
