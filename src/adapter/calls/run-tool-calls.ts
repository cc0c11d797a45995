import { runFencedCall } from "../../base/call-fence.ts";
import { raceAbort } from "../../base/clock.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { renderValue, type ToolResult, toModelText } from "../../tools/tool-result.ts";
import type { Evaluation } from "../evaluation.ts";
import { publishEvent } from "../events.ts";
import type { ToolAnswer, ToolCall } from "../model-client.ts";
import { collectFeedback } from "./collect-feedback.ts";
import { runInTransaction } from "./run-in-transaction.ts";
import { type PreparedCall, prepareCall, runToolCall } from "./run-tool-call.ts";

/**
 * Runs a turn's calls in order, with adjacent `parallel` calls running concurrently, and returns
 * their results.
 */
export async function runToolCalls(
  calls: readonly ToolCall[],
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<readonly ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  const preparing = Promise.all(calls.map((call) => prepareCall(call, evaluation.tools)));
  const prepared = await raceAbort(preparing, evaluation.guard.signal);
  for (const group of groupCalls(prepared)) {
    evaluation.guard.enter("tool");
    for (const done of await runGroup(group, evaluation)) {
      answers.push(await createAnswer(done, evaluation, usage));
    }
  }
  return answers;
}

interface CompletedCall {
  readonly prepared: PreparedCall;
  readonly result: ToolResult<unknown>;
  readonly durationMs: number;
}

/** Groups adjacent calls of parallel tools. Any other call gets its own group. */
function groupCalls(prepared: readonly PreparedCall[]): readonly (readonly PreparedCall[])[] {
  const groups: PreparedCall[][] = [];
  for (const call of prepared) {
    const last = groups.at(-1);
    if (last && isParallel(call) && last.every(isParallel)) last.push(call);
    else groups.push([call]);
  }
  return groups;
}

function isParallel(call: PreparedCall): boolean {
  return call.kind === "ready" && call.tool.parallel;
}

async function runGroup(
  group: readonly PreparedCall[],
  evaluation: Evaluation,
): Promise<readonly CompletedCall[]> {
  const { session, guard } = evaluation;
  return await session.lock.runNested(
    (scope) =>
      Promise.all(
        group.map(async (prepared) => {
          const started = evaluation.clock.now();
          const run = () =>
            prepared.kind === "ready"
              ? runToolCall(prepared, evaluation, scope)
              : Promise.resolve(prepared.result);
          const alone = prepared.kind === "ready" && !prepared.tool.parallel;
          const result = alone ? await runInTransaction(evaluation, run) : await runFencedCall(run);
          return { prepared, result, durationMs: evaluation.clock.now() - started };
        }),
      ),
    guard.signal,
  );
}

/** Publishes the event and returns the text for the model: the result, followed by feedback. */
async function createAnswer(
  done: CompletedCall,
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<ToolAnswer> {
  const { prepared, result, durationMs } = done;
  const { call, params } = prepared;
  const renderedOutput = renderValue(
    result.value,
    prepared.kind === "ready" ? prepared.tool.render : null,
  );
  const { name, callId } = call;
  const invocation = { name, callId, params, result, renderedOutput };
  publishEvent(evaluation, { type: "ToolInvoked", ...invocation, usage, durationMs });
  const hasFeedback = evaluation.prompt.template.feedback.length > 0;
  const feedback = hasFeedback ? await collectFeedback(evaluation) : "";
  const text = toModelText(result, renderedOutput);
  return { call, result, text: feedback === "" ? text : `${text}\n\n${feedback}` };
}
