import { raceAbort } from "../../base/clock.ts";
import { getErrorMessage } from "../../base/errors.ts";
import type { FeedbackProvider } from "../../prompt/feedback.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { createToolContext, type Evaluation } from "../evaluation.ts";

/**
 * Returns the current feedback of the template's providers for the model, or `""` if there is none.
 */
export async function collectFeedback(evaluation: Evaluation): Promise<string> {
  const { feedback } = evaluation.prompt.template;
  const { session, resources, guard } = evaluation;
  const ofCall = resources.forCall();
  const texts = await session.lock.runNested(async (scope) => {
    const context = createToolContext(evaluation, { resources: ofCall, scope });
    const texts: string[] = [];
    for (const provider of feedback) texts.push(await readFeedback(provider, context, evaluation));
    return texts;
  }, guard.signal);
  await runOptional("resources of feedback", evaluation, () => ofCall[Symbol.asyncDispose]());
  return texts.filter((text) => text !== "").join("\n\n");
}

async function readFeedback(
  provider: FeedbackProvider,
  context: ToolContext,
  evaluation: Evaluation,
): Promise<string> {
  const { name } = provider;
  const text = await runOptional(name, evaluation, async () => await provider.provide(context));
  return text ? `<feedback provider="${name}">\n${text}\n</feedback>` : "";
}

/** Runs optional work: failures are logged, and only cancellation throws, immediately. */
async function runOptional<Result>(
  provider: string,
  { guard: { signal }, logger }: Evaluation,
  work: () => Promise<Result>,
): Promise<Result | null> {
  try {
    return await raceAbort(work(), signal);
  } catch (error) {
    signal.throwIfAborted();
    logger.warn("a feedback provider failed", { provider, problem: getErrorMessage(error) });
    return null;
  }
}
