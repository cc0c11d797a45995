import type { TurnRequest } from "../adapter/model-client.ts";
import { ThrottleError } from "../base/evaluation-errors.ts";
import type { ContractTurn, MakeSubject } from "./contract/subject.ts";
import { type ScriptStep, scriptedClient } from "./scripted-client.ts";

/** Tests the scripted client against the contract: `adapterContract(scriptedSubject)`. */
export const scriptedSubject: MakeSubject = (script, { clock }) => {
  const adapter = scriptedClient(...script.map(toStep)).with({ clock });
  return { adapter, asked: () => adapter.asked.map(toRequestText) };
};

function toStep(turn: ContractTurn): ScriptStep {
  if ("stall" in turn) return ({ signal }) => rejectOnAbort(signal);
  if (!("throttle" in turn)) return turn;
  return () => {
    throw new ThrottleError("Throttled by the script", { promptName: "", ...turn.throttle });
  };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function toRequestText({ rendered, input, answers }: TurnRequest): string {
  const results = answers.map(({ text }) => text);
  return JSON.stringify({ prompt: rendered.text, input, answers: results });
}
