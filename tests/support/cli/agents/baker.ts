/** A prompt with a param, and a tool that needs approval for large orders. */
import { definePrompt, Tool, ToolResult } from "weakincentives";
import * as z from "zod";

const bake = new Tool({
  name: "bake",
  description: "Bakes loaves.",
  params: z.strictObject({ count: z.int() }),
  needsApproval: ({ count }) => count > 10,
  handler: ({ count }) => ToolResult.ok(count, `baked ${count}`),
});

export default definePrompt({
  name: "shop:baker",
  instructions: "Bake $kind bread.",
  params: z.object({ kind: z.string(), oven: z.int().default(200) }),
  tools: [bake],
});
