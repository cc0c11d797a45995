/** A loop with its own adapter. */
import { definePrompt } from "weakincentives";
import { AgentLoop } from "weakincentives/fleet";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

export default new AgentLoop({
  name: "summarize",
  request: z.object({ text: z.string(), words: z.int().default(10) }),
  prepare: ({ text, words }) => {
    if (text === "") throw new TypeError("The text is empty");
    const instructions = `Summarize the text in ${words} words.`;
    return { prompt: definePrompt({ name: "summarize", instructions }), input: text };
  },
  adapter: {
    name: "openai",
    // Tests run it with several providers.
    evaluate: (prompt, options) => new OpenAIAdapter({ model: "any" }).evaluate(prompt, options),
  },
  finalize: (summary, { response }) => ({ summary, turns: response.usage.totalTokens > 0 }),
});
