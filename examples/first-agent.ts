import { definePrompt } from "weakincentives";
import { scriptedClient } from "weakincentives/testing";

const baker = definePrompt({ name: "baker", instructions: "Plan tonight's baking. Be brief." });

// A scripted model. Replace it with a provider's adapter; the rest stays the same.
const model = scriptedClient({ text: "Bake 12 loaves of rye bread." });
const { text } = await model.evaluate(baker, { input: "3 of 15 loaves of rye bread are left." });
console.log(text);
// prints: Bake 12 loaves of rye bread.
