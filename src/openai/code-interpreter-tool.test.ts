import { describe, expect, test } from "vitest";
import { asHostedTool, runsAtProvider } from "../tools/as-hosted-tool.ts";
import type { CodeInterpreterResult } from "../tools/hosted/code-interpreter.ts";
import { ProviderTool } from "../tools/provider-tool.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { OpenAICodeInterpreterTool } from "./code-interpreter-tool.ts";

describe("OpenAICodeInterpreterTool", () => {
  test("is a provider tool without params", () => {
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

  test("accepts a custom name, description and hooks", () => {
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

  test("accepts a timeout, and rejects an invalid one", () => {
    const { config } = new OpenAICodeInterpreterTool({ timeoutSeconds: 5 });
    expect(config).toEqual({ timeoutSeconds: 5 });
    expect(() => new OpenAICodeInterpreterTool({ timeoutSeconds: 0 })).toThrow(
      'OpenAICodeInterpreterTool "code_interpreter" timeoutSeconds must be an integer of at least 1, got 0',
    );
  });

  test("converts to a hosted tool with the same name and hook", () => {
    const handleProviderOutput = (result: CodeInterpreterResult) => ToolResult.ok(result);
    const container = { type: "auto", memoryLimit: "4g" } as const;
    const tool = new OpenAICodeInterpreterTool({
      name: "py",
      container,
      handleProviderOutput,
    });
    expect(asHostedTool(tool)).toMatchObject([
      {
        kind: "code_interpreter",
        name: "py",
        provider: "openai",
        config: { container },
        handleProviderOutput,
      },
    ]);
  });

  test("is frozen unless subclassed, and keeps its class in described()", () => {
    class Mine extends OpenAICodeInterpreterTool {
      readonly more = 1;
    }
    expect(Object.isFrozen(new OpenAICodeInterpreterTool())).toBe(true);
    expect(new Mine().more).toBe(1);
    const described = new OpenAICodeInterpreterTool().withDescription("Runs code.");
    expect(described).toBeInstanceOf(OpenAICodeInterpreterTool);
    expect(described).toMatchObject({
      description: "Runs code.",
      container: { memoryLimit: "1g" },
    });
  });
});

describe("OpenAICodeInterpreterTool.container", () => {
  test("defaults to a new container with 1g of memory", () => {
    const container = { type: "auto", memoryLimit: "1g" };
    expect(new OpenAICodeInterpreterTool().container).toEqual(container);
    const tool = new OpenAICodeInterpreterTool({ container: { type: "auto" } });
    expect(tool.container).toEqual(container);
    expect(tool.config).toEqual({ container: { type: "auto" } });
    const unset = new OpenAICodeInterpreterTool({
      container: { type: "auto", memoryLimit: undefined },
    });
    expect(unset.container).toEqual(container);
  });

  test.each(["1g", "4g", "16g", "64g"] as const)("accepts the memory limit %s", (memoryLimit) => {
    const container = { type: "auto", memoryLimit, fileIds: ["file_1"] } as const;
    const tool = new OpenAICodeInterpreterTool({ container });
    expect([tool.container, tool.config.container]).toEqual([container, container]);
  });

  test("accepts host mounts", () => {
    const container = { type: "auto", hostMounts: [{ hostPath: "sunfish" }] } as const;
    const tool = new OpenAICodeInterpreterTool({ container });
    expect(tool.container).toEqual({ ...container, memoryLimit: "1g" });
  });

  test("keeps an existing container as given, without defaults", () => {
    const container = { id: "cntr_1" };
    expect(new OpenAICodeInterpreterTool({ container }).container).toEqual(container);
    const sized = { id: "cntr_1", memoryLimit: "4g" } as const;
    expect(new OpenAICodeInterpreterTool({ container: sized }).container).toEqual(sized);
  });

  test("is a frozen copy of the option", () => {
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
  [{ name: "Run Py" }, "OpenAICodeInterpreterTool.name", 'rite it like "Run_Py"'],
  [{ description: "" }, `${named} description`, "must be text of 1-4,096 characters"],
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
])("new OpenAICodeInterpreterTool() rejects %o", (options, field, says) => {
  const refusal = expect.objectContaining({
    name: "PromptValidationError",
    field,
    message: expect.stringContaining(says),
  });
  expect(() => new OpenAICodeInterpreterTool(options as never)).toThrow(refusal);
});
