import { scriptedClient } from "../../../../src/testing/scripted-client.ts";
import type { ScriptedTurn } from "../../../../src/testing/scripted-turn.ts";
import type { CrashChild } from "../crash-child.ts";
import { type CrashSubject, createCrashPrompt } from "../crash-subject.ts";
import { crashTurns } from "../crash-turns.ts";

/** The scripted client; with the detail `delivery: "background"` it submits its responses. Its steps go by the number of the turn, so that every process has the same script. */
export function createCrashSubject(child: CrashChild): CrashSubject {
  const step = async (request: Parameters<typeof adapter.send>[0]): Promise<ScriptedTurn> => {
    const { turn, answers, submittedId } = request;
    if (submittedId === `response_${turn}`) return toTurn(turn); // an earlier process has sent it
    child.ledger.add({ what: "request", turn, answers: answers.map(({ text }) => text) });
    await child.reach("request");
    if (child.details["delivery"] === "background") await request.onSubmitted?.(`response_${turn}`);
    return toTurn(turn);
  };
  const adapter = scriptedClient(...crashTurns.map(() => step));
  return { adapter, prompt: createCrashPrompt(child) };
}

function toTurn(turn: number): ScriptedTurn {
  const planned = crashTurns[turn - 1];
  if (!planned) throw new Error(`There is no turn ${turn}.`);
  const ids = { requestId: `request_${turn}`, responseId: `response_${turn}` };
  const usage = { inputTokens: 10 * turn, outputTokens: turn };
  return "text" in planned
    ? { text: planned.text, usage, ...ids }
    : { toolCalls: planned.calls, usage, ...ids };
}
