/** The file `agent.mts` of a new project: the prompt, which is its default export. */
export const agentTemplate = `/** The agent: its instructions, its tool, and the form of its answer. */
import { definePrompt, Tool, ToolResult } from "weakincentives";
import * as z from "zod";

// Replace this with your own data: a file, a database, an API.
const stock = new Map([
  ["rye", 3],
  ["wheat", 9],
]);

const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of one kind that are left.",
  params: z.object({ kind: z.string() }),
  effects: "none", // It only reads, so it may run again after a crash.
  handler: ({ kind }) => {
    const left = stock.get(kind);
    return left === undefined
      ? ToolResult.error(\`There is no \${kind} bread. Kinds: \${[...stock.keys()].join(", ")}.\`)
      : ToolResult.ok({ left });
  },
});

export default definePrompt({
  name: "bakery:baker",
  instructions: "Decide how many loaves of $kind bread to bake tonight. The shop opens with 15.",
  params: z.object({ kind: z.string() }),
  tools: [countLoaves],
  output: z.object({ loaves: z.number(), reason: z.string() }),
});
`;
