import { orAborted } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { FeedbackProvider } from "../../prompt/feedback.ts";
import type { ToolContext } from "../../tools/tool-context.ts";
import { contextOf, type Evaluation } from "../evaluation.ts";

/** What the template's feedback providers say now, ready for the model; empty if they say nothing. */
export async function feedbackNow(evaluation: Evaluation): Promise<string> {
  const { feedback } = evaluation.prompt.template;
  const { session, resources, guard } = evaluation;
  const ofCall = resources.forCall();
  const said = await session.lock.nest(async (scope) => {
    const context = contextOf(evaluation, { resources: ofCall, scope });
    const texts: string[] = [];
    for (const provider of feedback) texts.push(await saidBy(provider, context, evaluation));
    return texts;
  }, guard.signal);
  await asAdvice("resources of feedback", evaluation, () => ofCall[Symbol.asyncDispose]());
  return said.filter((text) => text !== "").join("\n\n");
}

async function saidBy(
  provider: FeedbackProvider,
  context: ToolContext,
  evaluation: Evaluation,
): Promise<string> {
  const { name } = provider;
  const text = await asAdvice(name, evaluation, async () => await provider.provide(context));
  return text ? `<feedback provider="${name}">\n${text}\n</feedback>` : "";
}

/** Feedback is advice: an agent that works goes on without it. Only cancellation throws, at once. */
async function asAdvice<Result>(
  provider: string,
  { guard: { signal }, logger }: Evaluation,
  work: () => Promise<Result>,
): Promise<Result | null> {
  try {
    return await orAborted(work(), signal);
  } catch (error) {
    signal.throwIfAborted();
    logger.warn("a feedback provider failed", { provider, problem: messageOf(error) });
    return null;
  }
}
