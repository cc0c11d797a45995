/** The file `agent.test.mts` of a new project. */
export const testTemplate = `/** Tests the agent without a key and without a network: node --test */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Session } from "weakincentives";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter } from "weakincentives/openai";
import { recordingBus } from "weakincentives/testing";
import baker from "./agent.mts";

/** Runs the agent on a local provider, whose model plays the turns. */
async function run(kind: string, ...turns: ModelAction[][]) {
  const provider = new LocalProvider({ model: scriptedModel(turns) });
  try {
    const clientConfig = { fetch: provider.fetch };
    const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig });
    const bus = recordingBus();
    const session = new Session({ bus });
    const { output } = await adapter.evaluate(baker.bind({ kind }), { session });
    return { output, calls: bus.of("ToolInvoked") };
  } finally {
    await provider.close();
  }
}

const count = (kind: string): ModelAction => ({ call: { name: "count_loaves", args: { kind } } });

test("counts the loaves that are left, and returns the plan", async () => {
  const answer = { loaves: 12, reason: "3 of 15 are left." };
  const { output, calls } = await run("rye", [count("rye")], [{ say: answer }]);
  assert.deepEqual(output, answer);
  assert.deepEqual(calls[0]?.result.value, { left: 3 });
});

test("tells the model that a kind is unknown", async () => {
  const answer = { loaves: 0, reason: "There is no spelt bread." };
  const { calls } = await run("spelt", [count("spelt")], [{ say: answer }]);
  assert.equal(calls[0]?.result.message, "There is no spelt bread. Kinds: rye, wheat.");
});
`;

/** The file `turns.json` of a new project: the turns that a scripted model plays for `wink run`. */
export const turnsTemplate = `[
  [{ "call": { "name": "count_loaves", "args": { "kind": "rye" } } }],
  [{ "say": { "loaves": 12, "reason": "3 of 15 are left." } }]
]
`;
