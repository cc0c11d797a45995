import type { Evaluation } from "../evaluation.ts";
import { publishEvent } from "../events.ts";
import { passBarrier } from "./barrier.ts";

/** Stores that calls of `once` tools are about to run, in one record. Does nothing without a store. */
export async function startCalls(
  evaluation: Evaluation,
  calls: readonly { readonly name: string; readonly callId: string }[],
): Promise<void> {
  const [first, ...others] = calls.map(({ name, callId }) => ({
    type: "ToolStarted" as const,
    name,
    callId,
  }));
  if (!first || !evaluation.isDurable) return;
  publishEvent(evaluation, first, ...others);
  await passBarrier(evaluation, "calls-started");
}
