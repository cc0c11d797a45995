/**
 * Measures what `delivery: "background"` costs, as the ratio of the time of a turn to that of a streamed turn,
 * side by side on the local provider. Both include the provider's own work, which stores a response in the
 * background twice. Run `npm run build` first.
 */
import { definePrompt } from "weakincentives";
import { LocalProvider } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { median } from "./median.ts";

const ROUNDS = 41;
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
const rounds: { readonly one: number; readonly other: number }[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const first = round % 2 === 0 ? await runBackground() : null;
  const other = await runStream();
  rounds.push({ one: first ?? (await runBackground()), other });
}
await provider.close();

const one = median(rounds.map((round) => round.one));
const other = median(rounds.map((round) => round.other));
const ratio = median(rounds.map((round) => round.one / round.other));
console.log(`Node ${process.version}, medians of ${ROUNDS} rounds of ${TURNS} turns\n`);
console.log("| a turn in the background | a streamed turn | ratio |\n| ---: | ---: | ---: |");
console.log(`| ${one.toFixed(2)} ms | ${other.toFixed(2)} ms | ${ratio.toFixed(2)}x |`);
