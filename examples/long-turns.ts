/** Cancels a turn on which nothing has arrived for two seconds. */
import { definePrompt, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

// A scripted model that stalls for a minute. With `--live`, OpenAI's API answers: set OPENAI_API_KEY.
const provider = new LocalProvider({
  model: scriptedModel([[{ think: "Where to begin?" }, { stall: 60_000 }, { say: "Done." }]]),
});
const { url } = await provider.listen();
const server = process.argv.includes("--live") ? {} : { baseURL: url, apiKey: "local" };
const clientConfig = { ...server, timeoutMs: 120_000 };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
const analyst = definePrompt({ name: "analyst", instructions: "You analyze sales." });

/** Aborts when nothing has arrived for this many seconds. */
function watch({ bus }: Session, seconds: number): AbortSignal {
  const stalled = new AbortController();
  let [received, silentSince] = [0, 0];
  bus.subscribe("TurnProgressed", ({ turn, elapsedMs, receivedBytes, last }) => {
    if (receivedBytes !== received) [received, silentSince] = [receivedBytes, elapsedMs];
    if (elapsedMs - silentSince < seconds * 1_000) return;
    stalled.abort(new Error(`Turn ${turn} has been silent since ${last}`));
  });
  return stalled.signal;
}

try {
  const session = new Session();
  const signal = watch(session, 2);
  const { text } = await adapter.evaluate(analyst, { session, signal, input: "How was May?" });
  console.log(text);
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
} finally {
  await provider.close();
}
// prints: Turn 1 has been silent since response.output_item.done
