import type { ToolContext } from "./tool-context.ts";
import type { ToolResult } from "./tool-result.ts";

// Taken from a method, because methods are bivariant: any Tool<P, R> is then a Tool.

/** Does a tool's work, with validated params. */
export type ToolHandler<Params, Result> = {
  run(params: Params, context: ToolContext): ToolResult<Result> | Promise<ToolResult<Result>>;
}["run"];
