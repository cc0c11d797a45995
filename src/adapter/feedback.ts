import { messageOf } from "../base/errors.ts";
import { contextOf, type Evaluation } from "./evaluation.ts";

/** What the template's feedback providers say now, ready for the model; empty if they say nothing. */
export async function feedbackNow(evaluation: Evaluation): Promise<string> {
  const { feedback } = evaluation.prompt.template;
  if (feedback.length === 0) return "";
  const { session, resources, guard, logger } = evaluation;
  const ofCall = resources.forCall();
  try {
    const said = await session.lock.nest(async (scope) => {
      const context = contextOf(evaluation, { resources: ofCall, scope });
      const texts: string[] = [];
      for (const provider of feedback) {
        try {
          const text = await provider.provide(context);
          if (text) texts.push(`<feedback provider="${provider.name}">\n${text}\n</feedback>`);
        } catch (error) {
          // Feedback is advice: an agent that works goes on without it.
          logger.warn("a feedback provider failed", {
            provider: provider.name,
            problem: messageOf(error),
          });
        }
      }
      return texts;
    }, guard.signal);
    return said.join("\n\n");
  } finally {
    await ofCall[Symbol.asyncDispose]();
  }
}
