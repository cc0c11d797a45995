/** A watchdog that cancels a turn that has stalled. */
import { definePrompt, Session } from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";

// A scripted model that writes nothing for a minute. With OPENAI_API_KEY set, omit `clientConfig`.
const provider = new LocalProvider({
  model: scriptedModel([[{ think: "Where to begin?" }, { stall: 60_000 }, { say: "Done." }]]),
});
const { url } = await provider.listen();
const clientConfig = { baseURL: url, apiKey: "local", timeoutMs: 120_000 };
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
const analyst = definePrompt({ name: "analyst", instructions: "You analyze sales." });

/** Aborts when nothing has arrived for this many seconds. */
function watch({ bus }: Session, seconds: number): AbortSignal {
  const stalled = new AbortController();
  let [received, silentSince] = [0, 0];
  bus.subscribe("TurnProgressed", ({ turn, elapsedMs, receivedBytes, last }) => {
    if (receivedBytes !== received) [received, silentSince] = [receivedBytes, elapsedMs];
    if (elapsedMs - silentSince < seconds * 1_000) return;
    stalled.abort(new Error(`Turn ${turn} is silent since ${last}`));
  });
  return stalled.signal;
}

try {
  const session = new Session();
  const signal = watch(session, 2);
  await adapter.evaluate(analyst, { session, signal, input: "How was May?" });
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
} finally {
  await provider[Symbol.asyncDispose]();
}
// prints: Turn 1 is silent since response.output_item.done
