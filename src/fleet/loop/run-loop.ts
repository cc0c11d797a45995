import type { PromptResponse } from "../../adapter/prompt-response.ts";
import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import { getErrorMessage, InvalidOptionError } from "../../base/errors.ts";
import { findJsonProblem } from "../../base/json.ts";
import { warn } from "../../base/warn.ts";
import { Prompt } from "../../prompt/prompt.ts";
import type { AgentLoopOptions, PreparedRun } from "./agent-loop-options.ts";
import type { LoopLimits } from "./loop-limits.ts";
import type { LoopRun } from "./loop-run.ts";

/** The parts of an agent loop that run a request. */
export interface LoopParts<Request, Output, Result>
  extends Pick<AgentLoopOptions<Request, Output, Result, unknown>, "prepare" | "finalize"> {
  readonly name: string;
  readonly limits: LoopLimits;
  openAdapter(): Promise<ProviderAdapter>;
}

/** Runs a validated request: prepares its prompt, evaluates it or continues the evaluation, and finalizes. */
export async function runLoop<Request, Output, Result>(
  loop: LoopParts<Request, Output, Result>,
  request: Request,
  run: LoopRun,
): Promise<Result> {
  const { session, folder, attempt, signal } = run;
  const { prepare, finalize } = loop;
  const prepared = await prepare(request, { session, folder, attempt, signal });
  const response = await evaluate(loop, toPreparedRun(prepared), run);
  signal.throwIfAborted();
  const { output } = response;
  const result = finalize
    ? await finalize(output, { session, response, signal })
    : (output as unknown as Result); // the default of Result is Output
  return checkResult(result, loop.name);
}

/** Evaluates the prompt and cleans up its sections. */
async function evaluate<Output>(
  loop: Pick<LoopParts<never, Output, unknown>, "limits" | "openAdapter">,
  { prompt, input, resources }: PreparedRun<Output>,
  run: LoopRun,
): Promise<PromptResponse<Output>> {
  const { session, signal, deadline, approve, approvals, internal } = run;
  const { budget, maxTurns } = loop.limits;
  let response: PromptResponse<Output>;
  try {
    const adapter = await loop.openAdapter();
    response = await adapter.evaluate(prompt, {
      ...internal,
      session,
      signal,
      deadline,
      budget,
      maxTurns,
      input,
      resources,
      approve,
      approvals,
      resume: true,
    });
  } catch (error) {
    await endPrompt(prompt, run.canContinue(error));
    throw error;
  }
  await prompt.cleanup(); // a failure to sync is a failure of the run
  return response;
}

/** Releases the sections of a prompt whose evaluation failed. That error is the one to report. */
async function endPrompt(prompt: Prompt<unknown>, isKept: boolean): Promise<void> {
  try {
    await (isKept ? prompt.suspend() : prompt.cleanup());
  } catch (error) {
    warn("A section failed to clean up", error);
  }
}

function toPreparedRun<Output>(
  prepared: Prompt<Output> | PreparedRun<Output>,
): PreparedRun<Output> {
  if (prepared instanceof Prompt) return { prompt: prepared };
  if (prepared?.prompt instanceof Prompt) return prepared;
  throw new InvalidOptionError({
    field: "AgentLoop.prepare",
    value: prepared,
    rule: "must return a Prompt, or an object with one",
    remedy: "use (request) => new Prompt(template).bind(request)",
  });
}

function checkResult<Result>(result: Result, loop: string): Result {
  const problem = result === undefined ? "it is undefined" : findJsonProblem(result);
  if (problem === null) return result;
  throw new InvalidOptionError({
    field: "AgentLoop.finalize",
    value: result,
    rule: `must return JSON in the loop "${loop}" (${getErrorMessage(problem)})`,
    remedy: "return only plain objects, arrays, strings, finite numbers, booleans and null",
  });
}
