/** Measures where an agent spends its time and tokens: per turn, per tool, and how much of the prompt was cached. */
import {
  definePrompt,
  type ProviderAdapter,
  Session,
  systemClock,
  Tool,
  ToolResult,
} from "weakincentives";
import { OpenAIAdapter } from "weakincentives/openai";
import { fakeClock, type ScriptedTurn, scriptedClient } from "weakincentives/testing";
import * as z from "zod";

// A scripted model on a fake clock answers. With `--live`, OpenAI's API does: set OPENAI_API_KEY.
const isLive = process.argv.includes("--live");
const clock = isLive ? systemClock : fakeClock({ skipsSleep: true });

const readMeter = new Tool({
  name: "read_meter",
  description: "Reads the gas meter of one oven, 1 or 2.",
  params: z.object({ oven: z.int() }),
  handler: async ({ oven }, { signal }) => {
    await clock.sleep(300, signal);
    return ToolResult.ok({ oven, cubicMeters: oven * 12 });
  },
});
const auditor = definePrompt({
  name: "bakery:gas",
  instructions: "Read both meters and add the values.",
  tools: [readMeter],
});

const turns: readonly (ScriptedTurn & { readonly takesMs: number })[] = [
  {
    takesMs: 1_400,
    toolCalls: [1, 2].map((oven) => ({ name: "read_meter", arguments: { oven } })),
    usage: { inputTokens: 1_800, outputTokens: 60 },
  },
  {
    takesMs: 900,
    text: "Both ovens used 36 cubic meters.",
    usage: { inputTokens: 2_000, outputTokens: 20, cachedTokens: 1_792 },
  },
];
const script = turns.map(({ takesMs, ...turn }) => async () => {
  await clock.sleep(takesMs);
  return turn;
});
const adapter: ProviderAdapter = isLive
  ? new OpenAIAdapter({ model: "gpt-5.2" })
  : scriptedClient(...script).with({ clock });

/** Prints a line per turn and per tool call of a session. */
function report({ bus }: Session): void {
  bus.subscribe("TurnCompleted", ({ turn, durationMs, usage }) => {
    const { inputTokens, cachedTokens, outputTokens } = usage;
    const tokens = `${inputTokens} in (${cachedTokens} cached), ${outputTokens} out`;
    console.log(`turn ${turn}: ${durationMs} ms, ${tokens}`);
  });
  bus.subscribe("ToolInvoked", ({ name, durationMs }) =>
    console.log(`${name}: ${durationMs === null ? "at the provider" : `${durationMs} ms`}`),
  );
}

const session = new Session();
report(session);
const started = clock.now();
const { text, usage } = await adapter.evaluate(auditor, { session, input: "Today's gas?" });
console.log(text);
const cached = Math.round((100 * usage.cachedTokens) / usage.inputTokens);
console.log(
  `${clock.now() - started} ms, ${usage.totalTokens} tokens, ${cached} % of input cached`,
);
// prints: turn 1: 1400 ms, 1800 in (0 cached), 60 out
// prints: read_meter: 300 ms
// prints: read_meter: 300 ms
// prints: turn 2: 900 ms, 2000 in (1792 cached), 20 out
// prints: Both ovens used 36 cubic meters.
// prints: 2900 ms, 3880 tokens, 47 % of input cached
