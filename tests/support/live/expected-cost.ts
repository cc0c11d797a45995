/** The expected usage of one live test: an upper estimate, rounded. */
interface LiveCost {
  /** Title of the test. */
  readonly name: string;
  /** Requests to the model. */
  readonly requests: number;
  /** Input tokens of all requests together. */
  readonly input: number;
  /** Output tokens of all requests together, with reasoning. */
  readonly output: number;
  /** Prices of the hosted tools that the test uses, one entry per call or container. */
  readonly tools?: readonly (keyof typeof prices.tools)[];
}

/** List prices in USD, recorded on `date`. Compare them with https://openai.com/api/pricing. */
const prices = {
  date: "2026-11-16",
  /** By prefix of the model's name, per million tokens. */
  models: { "gpt-5.2": { input: 1.75, output: 14 }, "gpt-5-mini": { input: 0.25, output: 2 } },
  tools: { search: 0.01, fileSearch: 0.0025, container: 0.03, image: 0.02 },
} as const;

/** One row for each test in `tests/live`. */
export const liveCosts: readonly LiveCost[] = [
  { name: "runs a function tool with structured output", requests: 2, input: 500, output: 300 },
  {
    name: "runs a web search",
    ...{ requests: 1, input: 20_000, output: 1_500, tools: ["search", "search"] },
  },
  {
    name: "runs a file search with a native section",
    ...{ requests: 1, input: 10_000, output: 500, tools: ["fileSearch"] },
  },
  {
    name: "runs code, downloads its file and reuses its container",
    ...{ requests: 3, input: 6_000, output: 1_500, tools: ["container"] },
  },
  {
    name: "runs a shell in a container",
    ...{ requests: 1, input: 2_000, output: 500, tools: ["container"] },
  },
  { name: "applies a patch", requests: 2, input: 2_000, output: 500 },
  { name: "generates an image", requests: 1, input: 1_000, output: 300, tools: ["image"] },
  { name: "calls an MCP server with approval", requests: 2, input: 15_000, output: 1_000 },
  {
    name: "can be read by code in a container",
    ...{ requests: 1, input: 3_000, output: 500, tools: ["container"] },
  },
  {
    name: "continues a conversation, also with store: false",
    ...{ requests: 4, input: 500, output: 400 },
  },
  { name: "delivers the text of a response in parts", requests: 1, input: 100, output: 300 },
  {
    name: "delivers the code and status of a hosted call, and publishes progress",
    ...{ requests: 1, input: 2_000, output: 500, tools: ["container"] },
  },
  {
    name: "delivers the arguments of a function call and output as it grows",
    ...{ requests: 2, input: 600, output: 400 },
  },
  { name: "ends the request when the last reader leaves", requests: 1, input: 100, output: 600 },
  { name: "reads a whole response if streams are refused", requests: 1, input: 100, output: 100 },
  {
    name: "answers from system text, a user section and an input",
    ...{ requests: 1, input: 150, output: 150 },
  },
  {
    name: "sends each message of a chat once",
    ...{ requests: 4, input: 4_000, output: 800 },
  },
  { name: "runs an agent of ten lines without a session", requests: 2, input: 200, output: 200 },
  { name: "runs a response in the background", requests: 1, input: 100, output: 300 },
  {
    name: "resumes the stream of a response in the background after its last event",
    ...{ requests: 1, input: 100, output: 300 },
  },
  {
    name: "cancels a response in the background at the provider",
    ...{ requests: 1, input: 100, output: 600 },
  },
];

/** Returns the expected cost of `npm run test:live` with a model, as a Markdown table. */
export function describeExpectedCost(model: string): string {
  const price = findPrice(model);
  const rows = liveCosts.map((cost) => ({ ...cost, usd: estimateUsd(cost, price) }));
  const sum = (pick: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + pick(row), 0);
  const total = formatRow(
    "together",
    sum(({ requests }) => requests),
    sum(({ input }) => input),
    sum(({ output }) => output),
    price ? sum(({ usd }) => usd) : null,
  );
  return [
    `Expected cost of the live tests with ${model}, at prices of ${prices.date}:`,
    "",
    "| test | requests | input tokens | output tokens | USD |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows.map(({ name, requests, input, output, usd }) =>
      formatRow(name, requests, input, output, price ? usd : null),
    ),
    total,
    ...(price ? [] : ["", `The price of ${model} is unknown: add it to expected-cost.ts.`]),
  ].join("\n");
}

interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** Finds the price of a model by the longest prefix of its name. */
function findPrice(model: string): ModelPrice | undefined {
  const known = Object.entries(prices.models).filter(([prefix]) => model.startsWith(prefix));
  return known.sort(([one], [other]) => other.length - one.length)[0]?.[1];
}

function estimateUsd({ input, output, tools = [] }: LiveCost, price?: ModelPrice): number {
  const hosted = tools.reduce((usd, tool) => usd + prices.tools[tool], 0);
  return price ? (input * price.input + output * price.output) / 1_000_000 + hosted : 0;
}

function formatRow(
  name: string,
  ...[requests, input, output, usd]: readonly [number, number, number, number | null]
): string {
  return `| ${name} | ${requests} | ${input} | ${output} | ${usd === null ? "?" : usd.toFixed(3)} |`;
}
