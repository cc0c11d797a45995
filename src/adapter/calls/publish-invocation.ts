import { findJsonProblem } from "../../base/json.ts";
import { toJsonData } from "../../tools/tool-result.ts";
import type { ToolInvoked } from "../events.ts";
import { type FileKeeper, publishWithFiles } from "../resume/keep-files.ts";

/** The content of `ToolInvoked` for a call. */
export type Invocation = Pick<
  ToolInvoked,
  "name" | "callId" | "params" | "result" | "renderedOutput" | "usage" | "durationMs" | "origin"
>;

/**
 * Publishes `ToolInvoked`, together with the files that the call changed. Stored sessions record it, so params and values that are not JSON are converted
 * for them; the model and the caller get them as they are.
 */
export async function publishInvocation(
  evaluation: FileKeeper,
  invocation: Invocation,
): Promise<void> {
  const isStorable = !evaluation.session.isStored || findJsonProblem(invocation) === null;
  const event = isStorable ? invocation : toStorable(invocation);
  await publishWithFiles(evaluation, { type: "ToolInvoked", ...event });
}

function toStorable(invocation: Invocation): Invocation {
  const { params, result } = invocation;
  const { success, message, value, excludeValueFromContext } = result;
  const stored = { success, message, value: toJsonData(value), excludeValueFromContext };
  return { ...invocation, params: toJsonData(params), result: stored };
}
