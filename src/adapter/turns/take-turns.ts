import { PromptEvaluationError } from "../../base/evaluation-errors.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { EvaluationParkedError } from "../approvals/evaluation-parked-error.ts";
import { collectFeedback } from "../calls/collect-feedback.ts";
import { runDelegatedCall, runHostedCall } from "../calls/run-hosted-call.ts";
import { runToolCalls } from "../calls/run-tool-calls.ts";
import { type Evaluation, type Progress, readVisibility, toRenderedFields } from "../evaluation.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { HostedCall, ModelClient, ToolChoice, Turn } from "../model-client.ts";
import { preparePrompt } from "../prepare-prompt.ts";
import { passBarrier } from "../resume/barrier.ts";
import type { InterruptedCalls } from "../resume/interrupted-calls.ts";
import { relaxToolChoice } from "../tool-choice.ts";
import { deliverAnswer } from "./deliver-answer.ts";
import type { ResumedEvaluation } from "./start-evaluation.ts";
import { type NextTurn, takeTurn } from "./take-turn.ts";

/** Sends requests and runs the calls of each turn, until a turn has no calls and is the answer. */
export async function takeTurns(
  first: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  {
    progress,
    resumed,
  }: { readonly progress: Progress; readonly resumed: ResumedEvaluation | null },
): Promise<Turn> {
  const { guard } = first;
  const { input } = settings;
  let evaluation = first;
  let toolChoice = relaxAfterEarlier(settings.toolChoice ?? "auto", resumed, first.rendered);
  let settled: SettledTurn | null = { answers: [], delegatedResults: [], notes: [] };
  if (resumed) {
    const { turn, number, interrupted } = resumed;
    settled = await settleTurn(turn, evaluation, progress, interrupted);
    if (!settled) deliverAnswer(turn, number, settings);
    if (!settled) return turn;
    await prepareNext(turn);
  }
  for (let turn = (resumed?.number ?? 0) + 1; turn <= settings.maxTurns; turn++) {
    guard.enter("request");
    const next = { turn, input: turn === 1 ? input : [], ...settled, toolChoice };
    const answer = await takeTurn(evaluation, client, settings, next);
    progress.add(answer);
    if (evaluation.isDurable) await passBarrier(evaluation, "turn-completed");
    settled = isAnswer(answer) ? null : await settleTurn(answer, evaluation, progress, null);
    if (!settled) return answer;
    await prepareNext(answer);
  }
  const message = `No answer after ${settings.maxTurns} turns. Raise maxTurns or use a smaller task.`;
  throw new PromptEvaluationError(message, { promptName: first.prompt.name, phase: "response" });

  async function prepareNext(turn: Turn): Promise<void> {
    if (toolChoice !== "auto") toolChoice = relaxToolChoice(toolChoice, turn, evaluation.rendered);
    evaluation = await renderIfChanged(evaluation, client, settings);
  }
}

/** Whether a turn has no calls at all. */
function isAnswer({ toolCalls, hostedCalls, delegatedCalls = [], continues }: Turn): boolean {
  return !continues && toolCalls.length + hostedCalls.length + delegatedCalls.length === 0;
}

/** The next request's content about a turn's calls. */
type SettledTurn = Pick<NextTurn, "answers" | "delegatedResults" | "notes">;

/**
 * Runs a turn's calls. Returns `null` if it has none and is the answer. `interrupted` knows what
 * became of the calls before the evaluation was resumed.
 */
async function settleTurn(
  turn: Turn,
  evaluation: Evaluation,
  progress: Progress,
  interrupted: InterruptedCalls | null,
): Promise<SettledTurn | null> {
  const { guard, prompt } = evaluation;
  for (const call of turn.hostedCalls) {
    progress.settleCall(call, await runHostedCall(call, evaluation, turn.usage, interrupted));
  }
  const delegatedResults: HostedCall[] = [];
  for (const delegated of turn.delegatedCalls ?? []) {
    const settled = await runDelegatedCall(delegated, evaluation, turn.usage, interrupted);
    if (!settled) continue; // it waits for approval
    progress.addDelegated(settled);
    delegatedResults.push(settled.call);
  }
  const delegatedCount = turn.delegatedCalls?.length ?? 0;
  if (!turn.continues && turn.toolCalls.length + delegatedCount === 0) return null;
  const isHosted = turn.hostedCalls.length + delegatedResults.length > 0;
  const hasFeedback = isHosted && prompt.template.feedback.length > 0;
  const feedback = hasFeedback ? await collectFeedback(evaluation) : "";
  guard.enter("tool");
  const answers = await runToolCalls(turn.toolCalls, evaluation, turn.usage, interrupted);
  if (evaluation.parked.length > 0) await stopParked(evaluation);
  return { answers, delegatedResults, notes: feedback === "" ? [] : [feedback] };
}

/** Stops an evaluation whose calls wait for approval, once everything so far is stored. */
async function stopParked(evaluation: Evaluation): Promise<never> {
  await passBarrier(evaluation, "parked");
  const { parked, prompt } = evaluation;
  throw new EvaluationParkedError(parked, { promptName: prompt.name });
}

/** Relaxes the tool choice of a resumed evaluation as its earlier turns did. */
function relaxAfterEarlier(
  choice: ToolChoice,
  resumed: ResumedEvaluation | null,
  rendered: RenderedPrompt,
): ToolChoice {
  let relaxed = choice;
  for (const { toolNames, hostedCalls, delegatedCalls } of resumed?.earlier ?? []) {
    const toolCalls = toolNames.map((name) => ({ name }));
    relaxed = relaxToolChoice(relaxed, { toolCalls, hostedCalls, delegatedCalls }, rendered);
  }
  return relaxed;
}

/**
 * Renders the prompt again if the visibility of a section changed, or what a prepared section offers. The
 * conversation continues.
 */
async function renderIfChanged(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
): Promise<Evaluation> {
  const { guard, sections } = evaluation;
  const visibility = readVisibility(evaluation);
  if (visibility === evaluation.visibility && !sections?.isStale) return evaluation;
  guard.enter("render");
  await sections?.prepare();
  // The tool choice was checked at first. Its tools may be in sections that are closed now.
  const checked = { ...settings, toolChoice: "auto" } as const;
  const rendered = preparePrompt(evaluation.prompt, client, checked, evaluation);
  return { ...evaluation, ...toRenderedFields(rendered, settings.toolChoice), visibility };
}
