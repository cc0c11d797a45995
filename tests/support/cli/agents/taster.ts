/** A prompt with a tool that evaluates another prompt in the same session. */
import { definePrompt, Tool, ToolResult } from "weakincentives";

const taste = definePrompt({ name: "taste", instructions: "Taste." });

const ask = new Tool({
  name: "ask",
  description: "Asks a taster.",
  params: null,
  handler: async (_, { adapter, session }) => {
    const { text } = await adapter.evaluate(taste, { session });
    return ToolResult.ok(text);
  },
});

export default definePrompt({ name: "taster", instructions: "Ask.", tools: [ask] });
