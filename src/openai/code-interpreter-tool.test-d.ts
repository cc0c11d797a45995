import { expectTypeOf, test } from "vitest";
import type {
  AutoContainerConfig,
  CodeInterpreterConfig,
  CodeInterpreterResult,
  ExistingContainerRef,
} from "../tools/hosted/code-interpreter.ts";
import type { ProviderTool } from "../tools/provider-tool.ts";
import type { Tool } from "../tools/tool.ts";
import type { ToolContext } from "../tools/tool-context.ts";
import { ToolResult } from "../tools/tool-result.ts";
import { OpenAICodeInterpreterTool } from "./code-interpreter-tool.ts";

test("the hooks of OpenAICodeInterpreterTool receive typed results", () => {
  new OpenAICodeInterpreterTool({
    handleProviderOutput(result, context) {
      expectTypeOf(result).toEqualTypeOf<CodeInterpreterResult>();
      expectTypeOf(context).toEqualTypeOf<ToolContext>();
      return ToolResult.ok({ ...result, text: result.stdout });
    },
    handler(params) {
      expectTypeOf(params).toEqualTypeOf<null>();
      return ToolResult.error("no");
    },
  });
  new OpenAICodeInterpreterTool({
    // @ts-expect-error a string is not a CodeInterpreterResult
    handleProviderOutput: () => ToolResult.ok("done"),
  });
});

test("OpenAICodeInterpreterTool is a Tool with a typed container", () => {
  const tool = new OpenAICodeInterpreterTool();
  expectTypeOf(tool).toExtend<ProviderTool<null, CodeInterpreterResult, CodeInterpreterConfig>>();
  expectTypeOf(tool).toExtend<Tool>();
  expectTypeOf(tool.container).toEqualTypeOf<AutoContainerConfig | ExistingContainerRef>();
});

test("OpenAICodeInterpreterTool accepts only existing memory tiers", () => {
  new OpenAICodeInterpreterTool({ container: { type: "auto", memoryLimit: "64g" } });
  // @ts-expect-error Type '"8g"' is not assignable
  new OpenAICodeInterpreterTool({ container: { type: "auto", memoryLimit: "8g" } });
  // @ts-expect-error neither auto nor an id
  new OpenAICodeInterpreterTool({ container: {} });
});
