/**
 * Measures what `delivery: "background"` costs, as the ratio of the time of a turn to that of a streamed turn,
 * side by side on the local provider. Both include the provider's own work, which stores a response in the
 * background twice.
 */
import { definePrompt } from "weakincentives";
import { LocalProvider } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { compareSides } from "./report/figure.ts";
import { countRounds, printResult } from "./report/part-result.ts";

/** Turns of one side in one round. */
const TURNS = 10;

const say = "The quick brown fox jumps over the lazy dog. ".repeat(20);
const provider = new LocalProvider({ model: { respond: async () => [{ say }] } });
const { url } = await provider.listen();
const prompt = definePrompt({ name: "fox", instructions: "Tell about the fox." });

const sides = (["background", "stream"] as const).map((delivery) => {
  const clientConfig = { baseURL: url, apiKey: "local" };
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", delivery, clientConfig });
  return async () => {
    const started = performance.now();
    for (let turn = 0; turn < TURNS; turn++) await adapter.evaluate(prompt);
    return (performance.now() - started) / TURNS;
  };
});
const [runBackground, runStream] = sides;
if (!runBackground || !runStream) throw new Error("There are two sides");

for (let round = 0; round < 10; round++) await Promise.all([runBackground(), runStream()]);
const rounds = [];
for (let round = 0; round < countRounds(41); round++) {
  const first = round % 2 === 0 ? await runBackground() : null;
  const reference = await runStream();
  rounds.push({ ours: first ?? (await runBackground()), reference });
}
await provider.close();

const facts = {
  what: "a turn in the background to a streamed one",
  unit: "ms",
  goal: null,
} as const;
printResult({ figures: [compareSides(facts, rounds)] });
