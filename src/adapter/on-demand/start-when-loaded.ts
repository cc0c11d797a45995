import { getErrorMessage } from "../../base/errors.ts";
import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import { copyAndFreeze } from "../../base/freeze.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { Session } from "../../session/session.ts";
import { lockPlace } from "../loop-options.ts";
import { type NestedOptions, parentScope } from "../nested-adapter.ts";

/** What an evaluation needs before it can start. */
interface Start<Options, Code, Result> {
  /** Imports the code. */
  readonly load: () => Promise<Code>;
  /** Starts the evaluation. */
  readonly start: (code: Code, options: Options) => Promise<Result>;
}

/**
 * Starts an evaluation after its code is loaded. It takes its place in the session's queue at once, so that evaluations run
 * in the order of their calls, and a tool handler's ones before it ends. Options that the caller changes later do not matter.
 */
export async function startWhenLoaded<Options extends NestedOptions, Code, Result>(
  prompt: Prompt,
  options: Options,
  { load, start }: Start<Options, Code, Result>,
): Promise<Result> {
  const { session, input, toolChoice, approvals } = options;
  const isSession = session instanceof Session; // other values are refused when the evaluation starts
  const place = isSession ? session.lock.reserve(options[parentScope]) : null;
  const given = {
    ...options,
    input: copyAndFreeze(input),
    toolChoice: copyAndFreeze(toolChoice),
    approvals: copyAndFreeze(approvals),
    [lockPlace]: place,
  };
  try {
    return await start(await loadCode(prompt, load), given);
  } finally {
    place?.release();
  }
}

async function loadCode<Code>(prompt: Prompt, load: () => Promise<Code>): Promise<Code> {
  try {
    return await load();
  } catch (cause) {
    const reason = getErrorMessage(cause);
    const message = `The code of the evaluation could not be loaded: ${reason}. If the package was replaced, restart the process.`;
    const promptName = String(prompt?.name ?? "");
    throw new PromptEvaluationError(message, { promptName, phase: "request", cause });
  }
}
