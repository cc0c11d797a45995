/** Runs a first agent: one prompt, one model, one answer. */
// run: wink run
import { definePrompt } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";

const baker = definePrompt({ name: "baker", instructions: "Plan tonight's baking. Be brief." });
const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
const { text } = await adapter.evaluate(baker, { input: "3 of 15 loaves of rye bread are left." });
console.log(text);
// prints: You said: 3 of 15 loaves of rye bread are left.
