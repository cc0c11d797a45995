import { digestText, encodeHex } from "../../base/digest-text.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import type { InputPart } from "../../prompt/input.ts";
import type { TurnCompleted } from "../events.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { Turn } from "../model-client.ts";
import { type StandingEvaluation, standingSlice } from "./standing.ts";

/** Identifies an evaluation when it is resumed. */
export interface EvaluationIdentity {
  readonly promptName: string;
  readonly adapterName: string;
  readonly inputDigest: string | null;
}

/**
 * Returns the evaluation to resume, or `null` to begin. Throws `InvalidOptionError` if the session's last
 * evaluation was interrupted and is another one.
 */
export function findResumable(
  { session, resume = false }: LoopSettings,
  identity: EvaluationIdentity,
): StandingEvaluation | null {
  const { evaluation } = session.get(standingSlice);
  if (!resume || !evaluation) return null;
  const problem = findDifference(evaluation, identity);
  if (problem === null) return evaluation;
  if (evaluation.isDone) return null; // nothing is lost
  throw new InvalidOptionError({
    field: "evaluate(resume)",
    value: true,
    rule: `must be omitted: the session's last evaluation was interrupted, and ${problem}`,
    remedy: "evaluate the same prompt with the same input, or omit resume to abandon it",
  });
}

/** Returns a digest of the user's input; `null` without input. */
export async function digestInput(input: readonly InputPart[]): Promise<string | null> {
  if (input.length === 0) return null;
  const text = JSON.stringify(input, (_key, value: unknown) =>
    value instanceof Uint8Array ? encodeHex(value) : value,
  );
  return await digestText(text);
}

/** Returns a turn as far as its event has it. */
export function toStoredTurn(event: TurnCompleted): Turn {
  const { finishReason = "stop", responseId = null, model = null, citations = [] } = event;
  const { text, toolCalls, hostedCalls, usage, requestId, stopReason, continues, costUsd } = event;
  const required = { text, toolCalls, hostedCalls, usage, requestId };
  const optional = { finishReason, responseId, model, citations };
  return { ...required, ...optional, stopReason, continues, costUsd };
}

function findDifference(
  evaluation: StandingEvaluation,
  { promptName, adapterName, inputDigest }: EvaluationIdentity,
): string | null {
  if (evaluation.promptName !== promptName) return `its prompt is "${evaluation.promptName}"`;
  if (evaluation.adapter !== adapterName) return `its adapter is "${evaluation.adapter}"`;
  if (inputDigest !== null && evaluation.inputDigest !== inputDigest) return "its input differs";
  return null;
}
