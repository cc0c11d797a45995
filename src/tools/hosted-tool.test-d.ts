import { expectTypeOf, test } from "vitest";
import { type ApplyPatchResult, applyPatchTool } from "./hosted/apply-patch.ts";
import { type CodeInterpreterResult, codeInterpreterTool } from "./hosted/code-interpreter.ts";
import { type FileSearchResult, fileSearchTool } from "./hosted/file-search.ts";
import { type ImageGenerationResult, imageGenerationTool } from "./hosted/image-generation.ts";
import { type McpResult, mcpTool } from "./hosted/mcp.ts";
import { type ShellResult, shellTool } from "./hosted/shell.ts";
import { type WebSearchConfig, type WebSearchResult, webSearchTool } from "./hosted/web-search.ts";
import { HostedTool } from "./hosted-tool.ts";
import { ToolResult } from "./tool-result.ts";

const search = webSearchTool();
const files = fileSearchTool({ vectorStoreIds: ["vs_1"] });
const code = codeInterpreterTool();
const shell = shellTool();
const patch = applyPatchTool();
const image = imageGenerationTool();
const mcp = mcpTool({ serverLabel: "docs", serverUrl: "https://example.com/mcp" });

test("HostedTool takes its output type from the factory's return type", () => {
  expectTypeOf(search).toEqualTypeOf<HostedTool<WebSearchConfig, WebSearchResult>>();
  expectTypeOf(search["~output"]).toEqualTypeOf<WebSearchResult>();
  expectTypeOf(files["~output"]).toEqualTypeOf<FileSearchResult>();
  expectTypeOf(code["~output"]).toEqualTypeOf<CodeInterpreterResult>();
  expectTypeOf(shell["~output"]).toEqualTypeOf<ShellResult>();
  expectTypeOf(patch["~output"]).toEqualTypeOf<ApplyPatchResult>();
  expectTypeOf(image["~output"]).toEqualTypeOf<ImageGenerationResult>();
  expectTypeOf(mcp["~output"]).toEqualTypeOf<McpResult>();
});

test("HostedTool infers its output type from handleProviderOutput", () => {
  const tool = new HostedTool({
    kind: "weather",
    name: "weather",
    description: "Tells the weather.",
    config: { unit: "celsius" },
    handleProviderOutput: (output: { readonly degrees: number }) => ToolResult.ok(output),
  });
  expectTypeOf(tool).toEqualTypeOf<HostedTool<{ unit: string }, { readonly degrees: number }>>();
});

test("every hosted tool is assignable to HostedTool", () => {
  expectTypeOf([search]).toExtend<readonly HostedTool[]>();
  expectTypeOf([files, code, shell, patch, image, mcp]).toExtend<readonly HostedTool[]>();
});

test("HostedTool's properties are read-only", () => {
  // @ts-expect-error Cannot assign to 'config' because it is a read-only property
  search.config = {};
  // @ts-expect-error Cannot assign to 'name' because it is a read-only property
  search.name = "other";
});
