import { expect, test } from "vitest";
import * as z from "zod";
import { asHostedTool, runsAtProvider } from "./as-hosted-tool.ts";
import { HostedTool } from "./hosted-tool.ts";
import { NativeTool } from "./native-tool.ts";
import { ProviderTool } from "./provider-tool.ts";
import { Tool } from "./tool.ts";
import { ToolResult } from "./tool-result.ts";

const about = {
  name: "python",
  description: "Runs Python.",
  params: z.object({ code: z.string() }),
};
const result = z.object({ logs: z.string() });

test("asHostedTool() returns nothing for a tool with a local handler", () => {
  const tool = new Tool({ ...about, handler: () => ToolResult.ok(1) });
  expect(asHostedTool(tool)).toEqual([]);
  expect(runsAtProvider(tool)).toBe(false);
});

test("asHostedTool() converts a native tool, for any provider", () => {
  const tool = new NativeTool({ ...about, result, kind: "code_interpreter", config: { a: 1 } });
  const [hosted] = asHostedTool(tool);
  expect(hosted).toBeInstanceOf(HostedTool);
  expect(hosted).toMatchObject({
    name: "python",
    kind: "code_interpreter",
    config: { a: 1 },
    provider: null,
    handleProviderOutput: null,
  });
  expect(runsAtProvider(tool)).toBe(true);
});

test("asHostedTool() converts a provider tool, with its provider and hook", () => {
  const handleProviderOutput = (output: z.output<typeof result>) => ToolResult.ok(output);
  const tool = new ProviderTool({
    ...about,
    result,
    provider: "openai",
    kind: "code_interpreter",
    config: {},
    handleProviderOutput,
  });
  const [hosted] = asHostedTool(tool);
  expect(hosted).toMatchObject({ provider: "openai", handleProviderOutput });
  expect(runsAtProvider(tool)).toBe(true);
});

test.each([
  ["Tool", (options: never) => new Tool(options)],
  ["NativeTool", (options: never) => new NativeTool(options)],
  ["ProviderTool", (options: never) => new ProviderTool(options)],
  ["HostedTool", (options: never) => new HostedTool(options)],
])("%s without options throws an error with an example", (name, make) => {
  for (const nothing of [undefined, null, "text"]) {
    expect(() => make(nothing as never)).toThrow(
      expect.objectContaining({
        name: "PromptValidationError",
        field: `${name}(options)`,
        message: expect.stringContaining(`Use new ${name}({ … })`),
      }),
    );
  }
});
