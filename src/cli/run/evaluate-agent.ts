import type { Approver } from "../../adapter/approvals/approval-request.ts";
import { EvaluationParkedError } from "../../adapter/approvals/evaluation-parked-error.ts";
import type { NestedOptions } from "../../adapter/nested-adapter.ts";
import type { PromptResponse } from "../../adapter/prompt-response.ts";
import type { ProviderAdapter } from "../../adapter/provider-adapter.ts";
import { type StreamFeed, streamFeed } from "../../adapter/turn-observer.ts";
import { getErrorMessage, WinkError } from "../../base/errors.ts";
import { warn } from "../../base/warn.ts";
import type { AgentLoop } from "../../fleet/loop/agent-loop.ts";
import type { StreamedExecuteOptions } from "../../fleet/loop/execute-loop.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { Session } from "../../session/session.ts";

/** How an agent is evaluated. */
export interface AgentEvaluation {
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly approve: Approver;
  readonly approvals: Readonly<Record<string, "approve" | "deny">>;
  /** Whether an interrupted run of the session continues. */
  readonly resume: boolean;
  /** Receives the parts of responses as they arrive. `undefined` without a reader. */
  readonly feed: StreamFeed | undefined;
}

/** The end of an evaluation that has an answer. */
export interface AgentAnswer {
  /** The output of the prompt, or the result of the loop. */
  readonly output: unknown;
  /** The response; `null` for a loop, which has only a result. */
  readonly response: PromptResponse<unknown> | null;
  /** Why the cleanup failed, for example the sync of files; `null` if it did not. */
  readonly cleanupError: unknown;
}

/** Evaluates a prompt, and cleans up its sections. */
export async function evaluatePrompt(
  prompt: Prompt,
  { createAdapter, input, feed, ...evaluation }: AgentEvaluation & PromptChoice,
): Promise<AgentAnswer> {
  const options: NestedOptions = { ...evaluation, input, [streamFeed]: feed };
  let response: PromptResponse<unknown>;
  try {
    response = await createAdapter().evaluate(prompt, options);
  } catch (error) {
    const isContinued = error instanceof EvaluationParkedError;
    await (isContinued ? prompt.suspend() : prompt.cleanup()).catch((failure: unknown) => {
      warn("A section failed to clean up", failure); // the error of the evaluation is the one to report
    });
    throw error;
  }
  const cleanupError = await prompt.cleanup().then(() => null, toCause);
  return { output: response.output, response, cleanupError };
}

const toCause = (error: unknown) => error;

/** The adapter and the input of a prompt. */
export interface PromptChoice {
  readonly createAdapter: () => ProviderAdapter;
  readonly input: string | undefined;
}

/** Executes one request of a loop, which has its own adapter and cleans up itself. */
export async function executeRequest(
  loop: AgentLoop,
  request: unknown,
  { session, signal, approve, approvals, feed }: AgentEvaluation,
): Promise<AgentAnswer> {
  const options: StreamedExecuteOptions = {
    session,
    signal,
    approvals,
    ...(loop.approve === undefined && { approve }),
    [streamFeed]: feed,
  };
  try {
    const output = await loop.execute(request, options);
    return { output, response: null, cleanupError: null };
  } catch (error) {
    if (signal.aborted || error instanceof WinkError) throw error;
    const what = `The loop "${loop.name}" failed: ${getErrorMessage(error)}`;
    throw new WinkError(`${what}\n(run the command again with --debug to see where)`, {
      cause: error,
    });
  }
}
