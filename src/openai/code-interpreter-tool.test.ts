import { describe, expect, test } from "vitest";
import type { CodeInterpreterResult } from "../tools/hosted/code-interpreter.ts";
import { projectedTool, runsAtProvider } from "../tools/projected-tool.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { OpenAICodeInterpreterTool } from "./code-interpreter-tool.ts";

describe("OpenAI's code interpreter as a tool", () => {
  test("is a provider tool that takes nothing", () => {
    const tool = new OpenAICodeInterpreterTool();
    expect(tool).toBeInstanceOf(ProviderTool);
    expect(runsAtProvider(tool)).toBe(true);
    expect(tool).toMatchObject({
      name: "code_interpreter",
      provider: "openai",
      kind: "code_interpreter",
      params: null,
      result: null,
      handler: null,
      handleProviderOutput: null,
      config: {},
    });
    expect(tool.paramsSchema).toMatchObject({ properties: {}, additionalProperties: false });
    expect(tool.description).toContain("Python code that the model writes");
  });

  test("may have another name, description and hooks", () => {
    const hook = (result: CodeInterpreterResult) => ToolResult.ok(result);
    const handler = () => ToolResult.error("no");
    const tool = new OpenAICodeInterpreterTool({
      name: "openai_python",
      description: "Executes model-authored Python in a sandboxed container.",
      handleProviderOutput: hook,
      handler,
    });
    expect(tool).toMatchObject({
      name: "openai_python",
      description: "Executes model-authored Python in a sandboxed container.",
      handleProviderOutput: hook,
      handler,
    });
  });

  test("becomes a hosted tool of the same name, with its hook", () => {
    const handleProviderOutput = (result: CodeInterpreterResult) => ToolResult.ok(result);
    const container = { type: "auto", memoryLimit: "4g" } as const;
    const tool = new OpenAICodeInterpreterTool({
      name: "py",
      container,
      handleProviderOutput,
    });
    expect(projectedTool(tool)).toMatchObject([
      {
        kind: "code_interpreter",
        name: "py",
        provider: "openai",
        config: { container },
        handleProviderOutput,
      },
    ]);
  });

  test("is frozen, unless it is extended, and can be described in other words", () => {
    class Mine extends OpenAICodeInterpreterTool {
      readonly more = 1;
    }
    expect(Object.isFrozen(new OpenAICodeInterpreterTool())).toBe(true);
    expect(new Mine().more).toBe(1);
    const told = new OpenAICodeInterpreterTool().described("Runs code.");
    expect(told).toBeInstanceOf(OpenAICodeInterpreterTool);
    expect(told).toMatchObject({ description: "Runs code.", container: { memoryLimit: "1g" } });
  });
});

describe("its container", () => {
  test("is a new one of 1g, unless told otherwise", () => {
    const container = { type: "auto", memoryLimit: "1g" };
    expect(new OpenAICodeInterpreterTool().container).toEqual(container);
    const tool = new OpenAICodeInterpreterTool({ container: { type: "auto" } });
    expect(tool.container).toEqual(container);
    expect(tool.config).toEqual({ container: { type: "auto" } });
    const unsaid = new OpenAICodeInterpreterTool({
      container: { type: "auto", memoryLimit: undefined },
    });
    expect(unsaid.container).toEqual(container);
  });

  test.each(["1g", "4g", "16g", "64g"] as const)("may have %s", (memoryLimit) => {
    const container = { type: "auto", memoryLimit, fileIds: ["file_1"] } as const;
    const tool = new OpenAICodeInterpreterTool({ container });
    expect([tool.container, tool.config.container]).toEqual([container, container]);
  });

  test("may have files of the host", () => {
    const container = { type: "auto", hostMounts: [{ hostPath: "sunfish" }] } as const;
    const tool = new OpenAICodeInterpreterTool({ container });
    expect(tool.container).toEqual({ ...container, memoryLimit: "1g" });
  });

  test("may be one that exists, of which nothing is made up", () => {
    const container = { id: "cntr_1" };
    expect(new OpenAICodeInterpreterTool({ container }).container).toEqual(container);
    const sized = { id: "cntr_1", memoryLimit: "4g" } as const;
    expect(new OpenAICodeInterpreterTool({ container: sized }).container).toEqual(sized);
  });

  test("is a frozen copy", () => {
    const fileIds = ["file_1"];
    const tool = new OpenAICodeInterpreterTool({ container: { type: "auto", fileIds } });
    fileIds.push("file_2");
    expect(tool.container).toMatchObject({ fileIds: ["file_1"] });
    expect([tool.container, tool.config, tool.config.container].every(Object.isFrozen)).toBe(true);
  });
});

const named = 'OpenAICodeInterpreterTool "code_interpreter"';

test.each([
  [null, "OpenAICodeInterpreterTool(options)", "must be an object, got null"],
  [{ name: "Py" }, "OpenAICodeInterpreterTool.name", 'write it like "py"'],
  [{ description: "" }, `${named} description`, "must be 1-200"],
  [{ handler: 1 }, `${named} handler`, "must be a function"],
  [{ handleProviderOutput: 1 }, 'ProviderTool "code_interpreter" handleProviderOutput', "function"],
  [{ container: null }, `${named} container`, 'must have a "type" or an "id", got null'],
  [{ container: "cntr_1" }, `${named} container`, 'or { id: "…" } for an existing one'],
  [{ container: {} }, `${named} container`, 'must have a "type" or an "id"'],
  [
    { container: { type: "auto", memoryLimit: "8g" } },
    `${named} container.memoryLimit`,
    'must be one of "1g", "4g", "16g", "64g", got "8g"',
  ],
  [
    { container: { id: "cntr_1", memoryLimit: "8g" } },
    `${named} container.memoryLimit`,
    'got "8g"',
  ],
  [{ container: { id: "" } }, `${named} container.id`, "must be a non-blank single-line string"],
  [{ container: { type: "new" } }, `${named} container.type`, 'must be "auto", got "new"'],
  [{ container: { type: "auto", memory_limit: "4g" } }, `${named} container key`, "memoryLimit"],
])("a code interpreter is refused as %o", (options, field, says) => {
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field,
    message: expect.stringContaining(says),
  });
  expect(() => new OpenAICodeInterpreterTool(options as never)).toThrow(refusal);
});
