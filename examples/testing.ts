/** Tests an agent without a key or a network: its rules, its events, its deadline and its hosted tools. */
import assert from "node:assert/strict";
import {
  codeInterpreterTool,
  Deadline,
  DeadlineExceededError,
  definePrompt,
  type ProviderAdapter,
  Session,
  Tool,
  ToolResult,
} from "weakincentives";
import { LocalProvider, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { fakeClock, recordingBus, scriptedClient } from "weakincentives/testing";
import * as z from "zod";

// The agent under test. It takes any adapter, so that tests can pass their own.
const stock = new Map([["rye", 3]]);
const countLoaves = new Tool({
  name: "count_loaves",
  description: "Counts the loaves of one kind that are left.",
  params: z.object({ kind: z.string() }),
  handler: ({ kind }) => {
    const left = stock.get(kind);
    return left === undefined ? ToolResult.error(`No ${kind} bread.`) : ToolResult.ok({ left });
  },
});
const baker = definePrompt({
  name: "bakery:baker",
  instructions: "Decide how many loaves of $kind bread to bake tonight.",
  params: z.object({ kind: z.string() }),
  tools: [countLoaves],
  hostedTools: [codeInterpreterTool()],
  output: z.object({ loaves: z.number() }),
});
async function planBaking(adapter: ProviderAdapter, kind: string, session = new Session()) {
  const { output } = await adapter.evaluate(baker.bind({ kind }), { session });
  return output.loaves;
}

const call = (kind: string) => ({ toolCalls: [{ name: "count_loaves", arguments: { kind } }] });
const tests = {
  "returns the model's plan, and sends the tool's result": async () => {
    const model = scriptedClient(call("rye"), { text: '{ "loaves": 12 }' });
    assert.equal(await planBaking(model, "rye"), 12);
    assert.match(model.asked[0]?.rendered.text ?? "", /how many loaves of rye/);
    assert.match(model.asked[1]?.answers[0]?.text ?? "", /"left":3/);
  },

  "tells the model about an unknown kind": async () => {
    const bus = recordingBus();
    const model = scriptedClient(call("spelt"), { text: '{ "loaves": 0 }' });
    await planBaking(model, "spelt", new Session({ bus }));
    const [invoked] = bus.of("ToolInvoked");
    assert.equal(invoked?.result.message, "No spelt bread.");
    assert.equal(bus.types().at(-1), "PromptExecuted");
  },

  "stops at its deadline, without waiting": async () => {
    const clock = fakeClock();
    const deadline = Deadline.after(600_000, clock);
    const slow = async () => {
      await clock.advance(600_001); // The model takes longer than 10 minutes.
      return { text: '{ "loaves": 12 }' };
    };
    const evaluating = scriptedClient(slow)
      .with({ clock })
      .evaluate(baker.bind({ kind: "rye" }), {
        deadline,
      });
    await assert.rejects(evaluating, DeadlineExceededError);
  },

  "runs the model's Python and sends what OpenAI accepts": async () => {
    const script = scriptedModel([
      [{ call: { name: "count_loaves", args: { kind: "rye" } } }],
      [{ code: "print(15 - 3)" }],
      [{ say: { loaves: 12 } }],
    ]);
    const provider = new LocalProvider({ model: script });
    try {
      const clientConfig = { fetch: provider.fetch };
      const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
      const bus = recordingBus();
      assert.equal(await planBaking(adapter, "rye", new Session({ bus })), 12);
      assert.match(bus.of("ToolInvoked").at(-1)?.renderedOutput ?? "", /12/);
    } finally {
      await provider.close();
    }
  },
};

for (const [name, run] of Object.entries(tests)) {
  await run();
  console.log(`passed: ${name}`);
}
if (process.argv.includes("--live")) {
  // An evaluation with a real model checks the prompt, not the program: set OPENAI_API_KEY.
  console.log(`live: ${await planBaking(new OpenAIAdapter({ model: "gpt-5.2" }), "rye")} loaves`);
}
// prints: passed: returns the model's plan, and sends the tool's result
// prints: passed: tells the model about an unknown kind
// prints: passed: stops at its deadline, without waiting
// prints: passed: runs the model's Python and sends what OpenAI accepts
