/** Builds a prompt from sections with params, a child, a condition and a user message, and prints it. */
import { MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const allergens = new MarkdownSection({
  key: "allergens",
  title: "Allergens",
  template: "Rye, wheat and spelt contain gluten. The nut bread contains hazelnuts.",
});
const rules = new MarkdownSection({
  key: "rules",
  title: "Rules",
  template: `
    You take orders for $shop.
    Never promise more than $limit loaves.
  `,
  params: z.object({ shop: z.string(), limit: z.number() }),
  defaultParams: { limit: 20 },
  children: [allergens],
});
const holidays = new MarkdownSection({
  key: "holidays",
  title: "Holidays",
  template: "The shop is closed on $holiday.",
  params: z.object({ holiday: z.string().nullable() }),
  enabled: ({ holiday }) => holiday !== null,
});
const order = new MarkdownSection({
  key: "order",
  title: "Order",
  role: "user", // text that others wrote belongs in a user message
  template: "$order",
  params: z.object({ order: z.string() }),
});

const template = new PromptTemplate({
  ns: "bakery",
  key: "orders",
  sections: [rules, holidays, order],
});
const prompt = new Prompt(template).bind({
  shop: "Anna's Bakery",
  holiday: null,
  order: "Two loaves without nuts, please.",
});
for (const { role, text } of prompt.render().messages) {
  console.log(`[${role}]\n${text.replaceAll("\n\n", "\n")}`);
}
// With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
if (process.argv.includes("--live")) {
  console.log((await new OpenAIAdapter({ model: "gpt-5.2" }).evaluate(prompt)).text);
}
// prints: [system]
// prints: ## 1. Rules (rules)
// prints: You take orders for Anna's Bakery.
// prints: Never promise more than 20 loaves.
// prints: ### 1.1. Allergens (rules.allergens)
// prints: Rye, wheat and spelt contain gluten. The nut bread contains hazelnuts.
// prints: [user]
// prints: ## 3. Order (order)
// prints: Two loaves without nuts, please.
