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
  const { clock, guard, isNested, logger } = evaluation;
  try {
    const finished = await client.finish({ signal: guard.signal });
    const { usage, workspace, ...changes } = finished;
    const endedAt = clock.now();
    progress.addUsage(usage);
    progress.costs.addUsage(usage, finished, endedAt);
    guard.recordUsage(finished, endedAt);
    if (isNested) return;
    publishEvent(evaluation, ...toKeptEvents(workspace));
    publishEvent(evaluation, ...toStepEvents(evaluation, changes, progress.turns));
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
export function publishFailure(evaluation: Evaluation, error: unknown, progress: Progress): void {
  const errorName = error instanceof Error ? error.name : typeof error;
  const phase = error instanceof PromptEvaluationError ? error.phase : null;
  const message = typeof error === "string" ? error : getErrorMessage(error);
  const { usage, turns } = progress;
  const summary = { errorName, message, phase, usage, turns, ...progress.getCost() };
  try {
    publishEvent(evaluation, { type: "PromptFailed", ...summary });
  } catch (problem) {
    evaluation.logger.error("PromptFailed could not be published", { error: problem });
  }
}
