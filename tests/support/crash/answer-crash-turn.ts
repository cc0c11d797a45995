import { readRecords } from "../../../src/base/json.ts";
import {
  functionCall,
  message,
  reasoning,
  type SeenRequest,
  type WireAnswer,
} from "../wire-server.ts";
import { getTurn } from "./adapters/openai-crash.ts";
import { crashTurns } from "./crash-turns.ts";

/** Answers a request by the number of its turn, so that every process has the same model. */
export function answerCrashTurn({ body }: SeenRequest): WireAnswer {
  const turn = getTurn(readRecords(body, "input"));
  const planned = crashTurns[turn - 1];
  if (!planned) throw new Error(`There is no turn ${turn}.`);
  const id = `resp_${turn}`;
  if ("text" in planned) return { id, output: [{ ...message(planned.text), id: "msg_1" }] };
  const calls = planned.calls.map(({ name, callId }) => ({
    ...functionCall(name, {}, callId),
    id: `fc_${callId}`,
  }));
  return { id, output: [reasoning(`rs_${turn}`), ...calls] };
}
