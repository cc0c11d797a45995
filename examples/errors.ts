/** One `catch` around `evaluate` handles every failure: what to retry, what to report, and what was already done. */
import {
  definePrompt,
  InvalidOptionError,
  OutputParseError,
  PromptEvaluationError,
  ThrottleError,
} from "weakincentives";
import { LocalProvider, type ModelAction, scriptedModel } from "weakincentives/local";
import { OpenAIAdapter, OpenAIRequestError } from "weakincentives/openai";
import * as z from "zod";

const grader = definePrompt({
  name: "school:grader",
  instructions: "Grade the essay from 1 to 6.",
  output: z.strictObject({ grade: z.int().min(1).max(6) }),
});

/** Returns what to do about a failed evaluation. */
function handleFailure(error: unknown): string {
  if (!(error instanceof PromptEvaluationError)) return `canceled: ${String(error)}`;
  const { phase, cause, message, partial } = error;
  if (error instanceof ThrottleError)
    return `${error.kind} after ${error.attempts} attempts: try later`;
  if (cause instanceof OpenAIRequestError)
    return `rejected with status ${cause.status}: fix the request`;
  if (cause instanceof OutputParseError) return `invalid answer, not retried: ${cause.text}`;
  if (cause instanceof InvalidOptionError) return `mistake in this program: ${message}`;
  return `failed in phase ${phase} after ${partial.turns} turn: ${message}`;
}

// A scripted model fails in four ways. With `--live`, OpenAI's API grades the essay: set OPENAI_API_KEY.
const busy: readonly ModelAction[] = [{ fail: { status: 429, message: "Too many requests." } }];
const wrongKey = { fail: { status: 401, message: "Incorrect API key." } };
const scripts: readonly (readonly ModelAction[])[][] = [
  [busy, busy],
  [[{ say: { grade: 7 } }]],
  [[{ refuse: "I do not grade this." }]],
  [[wrongKey]],
];
for (const script of scripts) {
  let request = 0;
  const model = scriptedModel(() => script[request++] ?? []);
  const provider = new LocalProvider({ model });
  const clientConfig = process.argv.includes("--live") ? {} : { fetch: provider.fetch };
  const throttle = { maxAttempts: 2, baseDelayMs: 10 };
  const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig, throttle });
  try {
    const { output } = await adapter.evaluate(grader, { input: "My summer. It was warm." });
    console.log(`grade ${output.grade}`);
  } catch (error) {
    console.log(handleFailure(error));
  } finally {
    await provider.close();
  }
}

// The program's own mistake, and a cancellation.
const adapter = new OpenAIAdapter({ model: "gpt-5.2", clientConfig: { apiKey: "unused" } });
const signal = AbortSignal.abort("the user left");
console.log(handleFailure(await adapter.evaluate(grader, { maxTurns: 0 }).catch((error) => error)));
console.log(handleFailure(await adapter.evaluate(grader, { signal }).catch((error) => error)));
// prints: rate_limit after 2 attempts: try later
// prints: invalid answer, not retried: {"grade":7}
// prints: failed in phase response after 1 turn: The answer is incomplete: the provider's content filter blocked it. Rephrase the task.
// prints: rejected with status 401: fix the request
// prints: mistake in this program: evaluate(maxTurns) must be a positive integer, got 0. Omit it for 50.
// prints: canceled: the user left
