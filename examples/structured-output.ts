/** The answer is a typed, validated object. If it is invalid, the model reads the reason and answers again. */
import { definePrompt, OutputParseError, PromptEvaluationError, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

const Invoice = z
  .strictObject({
    number: z.string().describe("As printed, with all letters and zeros"),
    lines: z.array(z.strictObject({ item: z.string(), cents: z.int() })),
    totalCents: z.int(),
    dueOn: z.string().nullable().describe("ISO 8601, or null if the invoice names no date"),
  })
  .refine(({ lines, totalCents }) => sum(lines) === totalCents, "totalCents is not the sum");
const reader = definePrompt({
  name: "books:invoice",
  instructions: "Read the invoice. Amounts are in cents.",
  output: Invoice,
});

// A scripted model answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const lines = [
  { item: "flour", cents: 31000 },
  { item: "yeast", cents: 450 },
];
const invoice = { number: "R-0042", lines, dueOn: null };
const provider = new LocalProvider({
  model: scriptedModel([
    [{ say: { ...invoice, totalCents: 31000 } }],
    [{ say: { ...invoice, totalCents: 31450 } }],
  ]),
});
const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
try {
  const { number, totalCents, dueOn } = await readInvoice("R-0042. Flour 310.00, yeast 4.50.");
  console.log(`${number}: ${totalCents / 100}, due ${dueOn ?? "on receipt"}`);
} finally {
  await provider.close();
}

/** Evaluates the prompt, and continues the conversation up to twice if the output is invalid. */
async function readInvoice(text: string): Promise<z.infer<typeof Invoice>> {
  const session = new Session();
  let input = text;
  for (let attempt = 1; ; attempt++) {
    try {
      const response = await adapter.evaluate(reader, { session, input, continue: attempt > 1 });
      return response.output;
    } catch (error) {
      const isInvalid =
        error instanceof PromptEvaluationError && error.cause instanceof OutputParseError;
      if (!isInvalid || attempt === 3) throw error;
      console.log(error.message);
      input = `${error.message}. Answer again.`;
    }
  }
}

function sum(lines: readonly { readonly cents: number }[]): number {
  return lines.reduce((total, { cents }) => total + cents, 0);
}
// prints: The answer does not match the output schema: totalCents is not the sum
// prints: R-0042: 314.5, due on receipt
