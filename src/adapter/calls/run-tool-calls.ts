import { orAborted } from "../../base/clock.ts";
import type { TokenUsage } from "../../base/usage.ts";
import { renderValue, type ToolResult, textForModel } from "../../tools/tool-result.ts";
import type { Evaluation } from "../evaluation.ts";
import { announce } from "../events.ts";
import type { ToolAnswer, ToolCall } from "../model-client.ts";
import { feedbackNow } from "./feedback.ts";
import { type PreparedCall, prepareCall, runCall } from "./run-tool-call.ts";
import { inTransaction } from "./transaction.ts";

/** Runs a turn's calls in order, `parallel` neighbours beside each other, and says what they gave. */
export async function runToolCalls(
  calls: readonly ToolCall[],
  evaluation: Evaluation,
  usage: TokenUsage,
): Promise<readonly ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  const preparing = Promise.all(calls.map((call) => prepareCall(call, evaluation.tools)));
  const prepared = await orAborted(preparing, evaluation.guard.signal);
  for (const group of groupsOf(prepared)) {
    evaluation.guard.enter("tool");
    for (const done of await runGroup(group, evaluation)) {
      answers.push(await answerOf(done, evaluation, usage));
    }
  }
  return answers;
}

interface DoneCall {
  readonly prepared: PreparedCall;
  readonly result: ToolResult<unknown>;
  readonly durationMs: number;
}

/** Consecutive calls of parallel tools make one group; any other call is one by itself. */
function groupsOf(prepared: readonly PreparedCall[]): readonly (readonly PreparedCall[])[] {
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
): Promise<readonly DoneCall[]> {
  const { session, guard } = evaluation;
  return await session.lock.nest(
    (scope) =>
      Promise.all(
        group.map(async (prepared) => {
          const started = evaluation.clock.now();
          const run = () =>
            prepared.kind === "ready"
              ? runCall(prepared, evaluation, scope)
              : Promise.resolve(prepared.result);
          const alone = prepared.kind === "ready" && !prepared.tool.parallel;
          const result = alone ? await inTransaction(evaluation, run) : await run();
          return { prepared, result, durationMs: evaluation.clock.now() - started };
        }),
      ),
    guard.signal,
  );
}

/** The event, and what the model reads: the result, then what there is to say about it. */
async function answerOf(
  done: DoneCall,
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
  const said = { name, callId, params, result, renderedOutput };
  announce(evaluation, { type: "ToolInvoked", ...said, usage, durationMs });
  const hasFeedback = evaluation.prompt.template.feedback.length > 0;
  const feedback = hasFeedback ? await feedbackNow(evaluation) : "";
  const text = textForModel(result, renderedOutput);
  return { call, result, text: feedback === "" ? text : `${text}\n\n${feedback}` };
}
