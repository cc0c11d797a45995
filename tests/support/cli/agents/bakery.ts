/** A loop with a scripted model, whose answers have costs and citations. The request names the script. */
import { type Citation, definePrompt, Tool, ToolResult } from "weakincentives";
import { AgentLoop } from "weakincentives/fleet";
import { scriptedClient } from "weakincentives/testing";
import * as z from "zod";

const weigh = new Tool({
  name: "weigh",
  description: "Weighs.",
  params: null,
  handler: () => ToolResult.ok("1 kg"),
});

const bake = new Tool({
  name: "bake",
  description: "Bakes.",
  params: null,
  needsApproval: true,
  handler: () => ToolResult.ok("bread"),
});

const usage = { inputTokens: 1_000, outputTokens: 200 };
const page: Citation = { type: "url", span: [0, 4], url: "https://a.example", title: "A" };
const weighing = { toolCalls: [{ name: "weigh" }], usage, costUsd: 1 };

const scripts = {
  answer: [{ text: "Baked.", usage, costUsd: 0.0125 }],
  cite: [
    { ...weighing, text: "Rye.", citations: [page] },
    { text: "Good.", usage, citations: [page] },
  ],
  fail: [weighing, new Error("The oven is cold")],
  // The ids of calls come from a provider.
  park: [{ toolCalls: [{ name: "bake", callId: "it's 1" }] }],
} as const;

export default new AgentLoop({
  name: "bakery",
  request: z.object({ script: z.enum(["answer", "cite", "fail", "park"]) }),
  prepare: ({ script }) => ({
    prompt: definePrompt({ name: "baker", instructions: "Bake.", tools: [weigh, bake] }),
    input: script,
  }),
  adapter: {
    name: "scripted",
    evaluate: async (prompt, options) => {
      const script = scripts[options?.input as keyof typeof scripts];
      return await scriptedClient(...script).evaluate(prompt, options);
    },
  },
});
