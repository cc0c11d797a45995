import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { addUsage, type TokenUsage, toUsage } from "../../base/usage.ts";
import type { ModelAction } from "../model-action.ts";
import { checkActions } from "../models/check-actions.ts";
import type { LocalModel, ModelOptions, ModelRequest } from "../models/local-model.ts";
import { StepFault } from "../step-fault.ts";
import type { UsageMeter } from "./usage-meter.ts";

export type { AnswerPart, ModelRequest } from "../models/local-model.ts";

/** Context of one call of the model. */
export interface ModelCall {
  readonly signal: AbortSignal;
  /** Receives the usage of the call. */
  readonly usage: UsageMeter;
  /** Receives the answer while the model writes it. @default the answer is not reported */
  readonly onPart?: ModelOptions["onPart"];
}

/** Calls the model once. Throws a `StepFault` if it does not return valid actions. */
export async function callModel(
  model: LocalModel,
  request: ModelRequest,
  { signal, usage, onPart }: ModelCall,
): Promise<readonly ModelAction[]> {
  let reported: TokenUsage | null = null;
  const onUsage = (parts: Partial<TokenUsage>) => {
    if (!Object.values(parts).every((count) => Number.isFinite(count) && count >= 0)) return;
    reported = addUsage(reported ?? toUsage({}), toUsage(parts));
  };
  usage.begin();
  const actions = await model.respond(request, { signal, onUsage, onPart });
  usage.add(reported);
  return checkAnswer(actions);
}

/** Returns the actions that a model answered with. Throws a `StepFault` if they are not valid. */
export function checkAnswer(actions: unknown): readonly ModelAction[] {
  try {
    checkActions(actions, "the model's answer");
    return actions;
  } catch (error) {
    if (error instanceof InvalidOptionError) throw new StepFault(error.message);
    const problem = `the model's answer cannot be read (${getErrorMessage(error)}). Return plain objects without getters.`;
    throw new StepFault(problem, { cause: error });
  }
}
