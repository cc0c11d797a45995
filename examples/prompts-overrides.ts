/** Replaces the text of a section without a code change, and skips the override once the code changes. */
import { LocalOverridesStore, MarkdownSection, Prompt, PromptTemplate } from "weakincentives";
import { InMemoryFilesystem } from "weakincentives/files";
import { OpenAIAdapter } from "weakincentives/openai";

const createTemplate = (text: string) =>
  new PromptTemplate({
    ns: "bakery",
    key: "greeting",
    sections: [new MarkdownSection({ key: "tone", title: "Tone", template: text })],
  });

// With `new HostFilesystem("overrides")`, the file is overrides/bakery/greeting/friendly.json.
const store = new LocalOverridesStore(new InMemoryFilesystem());
const original = createTemplate("Be brief.");
const [tone] = original.descriptor.sections;
await store.save(original.descriptor, "friendly", {
  sections: { tone: { expectedHash: tone?.contentHash ?? "", body: "Be brief and warm." } },
});

for (const template of [original, createTemplate("Be brief. Use one emoji.")]) {
  const prompt = new Prompt(template, { overrides: store, overridesTag: "friendly" });
  await prompt.loadOverrides(); // evaluate() does this itself
  console.log(prompt.render().text.replaceAll("\n\n", "\n"));
  for (const { of, reason } of prompt.skippedOverrides) console.log(`Skipped ${of}: ${reason}.`);
  // With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
  if (!process.argv.includes("--live")) continue;
  const adapter = new OpenAIAdapter({ model: "gpt-5.2" });
  console.log((await adapter.evaluate(prompt, { input: "Greet a customer." })).text);
}
// prints: ## 1. Tone (tone)
// prints: Be brief and warm.
// prints: ## 1. Tone (tone)
// prints: Be brief. Use one emoji.
// prints: Skipped section tone: it was written for a different text; rewrite it for the current one.
