/**
 * One side of the comparison in `stream.ts`, in its own process: `node stream-side.ts <side> <origin>`. It
 * receives the number of runs and returns the CPU time of one run in microseconds.
 */
import { MarkdownSection, Prompt, PromptTemplate, Session } from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";

/** The peers' client that reads a stream with `fetch`. */
interface RawClient {
  run(scenario: object): Promise<{ readonly text: string; readonly deltas: number }>;
}

const peers = new URL("./peers/", import.meta.url);
const texts = await import(new URL("lib/scenarios.mjs", peers).href);
const [side = "", origin = ""] = process.argv.slice(2);

const instructions = new MarkdownSection({
  key: "instructions",
  title: "Instructions",
  template: texts.INSTRUCTIONS,
});
const prompt = new Prompt(
  new PromptTemplate({ ns: "bench", key: "stream", sections: [instructions] }),
);
const run = await createRun();

process.on("message", async (runs: number) => {
  const before = process.cpuUsage();
  for (let count = 0; count < runs; count++) await run();
  const { user, system } = process.cpuUsage(before);
  process.send?.((user + system) / runs);
});
process.send?.("ready");

async function createRun(): Promise<() => Promise<void>> {
  switch (side) {
    case "fetch":
      return await createRawRun();
    case "stream":
      return createStreamRun();
    case "text streamed":
      return createEvaluateRun("text", "stream");
    case "text buffered":
      return createEvaluateRun("text", "buffered");
    case "deltas streamed":
      return createEvaluateRun("stream", "stream");
    case "deltas buffered":
      return createEvaluateRun("stream", "buffered");
    default:
      throw new Error(`There is no side ${side}`);
  }
}

async function createRawRun(): Promise<() => Promise<void>> {
  const { create } = await import(new URL("clients/raw-fetch/client.mjs", peers).href);
  const client: RawClient = create({
    baseURL: () => `${origin}/raw-fetch/stream/v1`,
    apiKey: "sk-stub",
    texts,
    add: () => "",
  });
  return async () => {
    const { text, deltas } = await client.run(texts.SCENARIOS.stream);
    checkText(text, texts.STREAM_TEXT);
    if (deltas !== texts.STREAM_DELTAS) throw new Error(`got ${deltas} deltas`);
  };
}

function createStreamRun(): () => Promise<void> {
  const adapter = createAdapter("stream", "stream");
  return async () => {
    let [text, deltas] = ["", 0];
    const stream = adapter.stream(prompt, { session: new Session(), input: texts.PROMPT });
    for await (const delta of stream.text()) {
      text += delta;
      deltas += 1;
    }
    checkText(text, texts.STREAM_TEXT);
    if (deltas !== texts.STREAM_DELTAS) throw new Error(`got ${deltas} deltas`);
  };
}

function createEvaluateRun(
  scenario: "text" | "stream",
  delivery: "stream" | "buffered",
): () => Promise<void> {
  const adapter = createAdapter(scenario, delivery);
  const expected = texts.expectedText(texts.SCENARIOS[scenario]);
  return async () => {
    const options = { session: new Session(), input: texts.PROMPT };
    const { text } = await adapter.evaluate(prompt, options);
    checkText(text, expected);
  };
}

function createAdapter(scenario: string, delivery: "stream" | "buffered"): OpenAIAdapter {
  return new OpenAIAdapter({
    model: texts.MODEL,
    modelConfig: { store: false },
    clientConfig: { apiKey: "sk-stub", baseURL: `${origin}/${delivery}/${scenario}/v1` },
    delivery,
  });
}

function checkText(text: string, expected: string): void {
  if (text !== expected) throw new Error(`got ${text}`);
}
