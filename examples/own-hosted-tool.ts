/** Your own hosted tool, in three parts: the definition, the wire format, and the local implementation. */
import { HostedTool, MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { LocalProvider, type LocalTool, scriptedModel } from "weakincentives/local";
import { type HostedToolCodec, OpenAIAdapter } from "weakincentives/openai";
import * as z from "zod";

// 1. The definition: the kind, the config and the type of the result.
interface RatesConfig {
  readonly base: string;
}
type Rates = Readonly<Record<string, number>>;

function exchangeRatesTool(config: RatesConfig): HostedTool<RatesConfig, Rates> {
  const description = "Looks up today's exchange rates.";
  return new HostedTool({ kind: "exchange_rates", name: "rates", description, config });
}

// 2. The codec: how the adapter sends the tool and parses its calls.
const codec: HostedToolCodec<RatesConfig, Rates> = {
  kind: "exchange_rates",
  serialize: ({ config }) => ({ type: "exchange_rates", base: config.base }),
  parseOutput(items) {
    const calls = items.filter(({ type }) => type === "exchange_rates_call");
    const rates = calls.map(({ currency, rate }) => [String(currency), Number(rate)] as const);
    return rates.length === 0 ? null : Object.fromEntries(rates);
  },
};

// 3. The local tool: how the local provider validates and runs a call.
const perEuro = new Map([
  ["USD", 1.25],
  ["GBP", 0.8],
]);
const exchangeRates: LocalTool<{ currency: string }> = {
  kind: "exchange_rates",
  description: "Looks up today's exchange rate of a currency.",
  parameters: {
    type: "object",
    properties: { currency: { type: "string", pattern: "^[A-Z]{3}$" } },
    required: ["currency"],
    additionalProperties: false,
  },
  check: (entry, path) =>
    z.object({ base: z.literal("EUR") }).safeParse(entry).success
      ? null
      : `Invalid value for '${path}.base': only 'EUR' is supported.`,
  items: { exchange_rates_call: {} },
  run({ args }) {
    const rate = perEuro.get(args.currency);
    return rate === undefined
      ? { currency: args.currency, status: "failed" }
      : { currency: args.currency, rate };
  },
};

// A scripted model answers. With `--live`, a provider that has the tool does: set OPENAI_BASE_URL and OPENAI_API_KEY.
const model = scriptedModel([
  [{ use: { kind: "exchange_rates", args: { currency: "USD" } } }],
  [{ use: { kind: "exchange_rates", args: { currency: "GBP" } } }],
  [{ say: "80 euros are 100 dollars or 64 pounds." }],
]);
const provider = new LocalProvider({ model, tools: [exchangeRates] });
try {
  const adapter = new OpenAIAdapter({
    model: "any",
    clientConfig: process.argv.includes("--live") ? {} : { fetch: provider.fetch },
    hostedToolCodecs: [codec],
  });
  const rates = exchangeRatesTool({ base: "EUR" });
  const task = new MarkdownSection({
    key: "task",
    title: "Task",
    template: "What are 80 euros in dollars and in pounds?",
    hostedTools: [rates],
  });
  const prompt = new Prompt(new PromptTemplate({ ns: "bank", key: "change", sections: [task] }));
  const response = await adapter.evaluate(prompt, { session: new Session() });
  console.log(response.text);
  console.log(response.hostedOutputs.get(rates));
} finally {
  await provider.close();
}
// prints: 80 euros are 100 dollars or 64 pounds.
// prints: { USD: 1.25, GBP: 0.8 }
