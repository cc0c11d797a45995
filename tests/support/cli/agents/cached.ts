/** A loop whose adapter answers from memory: without a model, a turn or an event. */
import { definePrompt } from "weakincentives";
import { AgentLoop } from "weakincentives/fleet";
import * as z from "zod";

export default new AgentLoop<object, string>({
  name: "cached",
  request: z.object({}),
  prepare: () => definePrompt({ name: "cached", instructions: "Answer." }),
  adapter: { name: "cache", evaluate: async () => ({ output: "Cached.\n" }) as never },
});
