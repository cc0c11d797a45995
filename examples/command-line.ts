/** Exports an agent with params, for `wink run`. */
// run: wink run
import { definePrompt } from "weakincentives";
import * as z from "zod";

export default definePrompt({
  name: "baker",
  instructions: "You plan the baking of a small shop. Be brief.",
  userTemplate: "Plan $loaves loaves of $kind bread.",
  params: z.object({ kind: z.string().default("rye"), loaves: z.int().default(15) }),
});
// prints: You said: ## 2. Task (task)
// prints:
// prints: Plan 15 loaves of rye bread.
