import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { toKeptEvents } from "../calls/publish-invocation.ts";
import type { Evaluation, Progress } from "../evaluation.ts";
import { publishEvent } from "../events.ts";
import type { ModelClient, Turn } from "../model-client.ts";
import { toStepEvents } from "./publish-turn.ts";

/** Lets the client work on the conversation after the answer. Only reports errors: the answer counts. */
export async function finishConversation(
  evaluation: Evaluation,
  client: ModelClient,
  progress: Progress,
): Promise<void> {
  if (!client.finish) return;
  const { guard, isNested, logger } = evaluation;
  try {
    const { usage, workspace, ...changes } = await client.finish({ signal: guard.signal });
    progress.addUsage(usage);
    guard.record(usage);
    if (isNested) return;
    for (const event of toKeptEvents(workspace)) publishEvent(evaluation, event);
    const [first, ...others] = toStepEvents(evaluation, changes, progress.turns);
    if (first) publishEvent(evaluation, first, ...others);
  } catch (error) {
    logger.error("the conversation could not be finished after the answer", { error });
  }
}

/** Publishes `PromptExecuted`. */
export function publishAnswer(
  evaluation: Evaluation,
  { text, finishReason }: Turn,
  progress: Progress,
): void {
  const { usage, model, turns } = progress;
  const requestIds = Object.freeze([...progress.requestIds]);
  const summary = { text, usage, finishReason, model, requestIds, turns, ...progress.getCost() };
  publishEvent(evaluation, { type: "PromptExecuted", ...summary });
}

/** Publishes `PromptFailed`. Only reports errors: the caller gets the error of the evaluation. */
export function publishFailure(
  evaluation: Evaluation,
  error: unknown,
  { usage, turns }: Progress,
): void {
  const errorName = error instanceof Error ? error.name : typeof error;
  const phase = error instanceof PromptEvaluationError ? error.phase : null;
  const message = typeof error === "string" ? error : getErrorMessage(error);
  const summary = { errorName, message, phase, usage, turns };
  try {
    publishEvent(evaluation, { type: "PromptFailed", ...summary });
  } catch (problem) {
    evaluation.logger.error("PromptFailed could not be published", { error: problem });
  }
}
