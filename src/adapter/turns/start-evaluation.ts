import type { TokenUsage } from "../../base/usage.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import type { RenderedPrompt } from "../../prompt/rendered-prompt.ts";
import { storedSession } from "../../session/stored-session.ts";
import type { Evaluation, Progress } from "../evaluation.ts";
import { publishEvent, type TurnCompleted } from "../events.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { ModelClient, Turn } from "../model-client.ts";
import { passBarrier } from "../resume/barrier.ts";
import { type EarlierEntry, type EarlierTurn, earlierTurnsSlice } from "../resume/earlier-turns.ts";
import { digestInput, findResumable, toStoredTurn } from "../resume/find-resumable.ts";
import { InterruptedCalls } from "../resume/interrupted-calls.ts";
import { mayHaveOpenCalls, type StandingEvaluation, standingSlice } from "../resume/standing.ts";
import { addEarlierTurns } from "./add-earlier-turns.ts";
import { traceSlice } from "./trace-slice.ts";

/** Where an evaluation on a stored session starts. */
export interface EvaluationStart {
  /** The evaluation to continue; `null` if it begins. */
  readonly standing: StandingEvaluation | null;
  readonly inputDigest: string | null;
  /** The turns that the evaluation to continue has completed, and the results of their hosted calls. */
  readonly entries: readonly EarlierEntry[];
}

/** An evaluation that continues after a stored turn. */
export interface ResumedEvaluation {
  /** Number of the last stored turn. */
  readonly number: number;
  readonly turn: Turn;
  readonly interrupted: InterruptedCalls;
  /** The turns before it. */
  readonly earlier: readonly EarlierTurn[];
}

/**
 * Finds where an evaluation on a stored session starts: at its beginning, or where it was interrupted. A
 * call that was running then is rolled back.
 */
export async function findStart(
  prompt: Prompt,
  { adapterName }: ModelClient,
  settings: LoopSettings,
): Promise<EvaluationStart> {
  const { session, input } = settings;
  session.register(standingSlice).register(earlierTurnsSlice).register(traceSlice);
  const inputDigest = await digestInput(input);
  const standing = findResumable(settings, { promptName: prompt.name, adapterName, inputDigest });
  const mark = session[storedSession]?.takeMark();
  if (standing && mark && mayHaveOpenCalls(standing)) session.restore(mark);
  return { standing, inputDigest, entries: standing ? session.get(earlierTurnsSlice) : [] };
}

/** Stores that an evaluation starts, and waits for it. Returns where it continues, unless it begins. */
export async function startEvaluation(
  evaluation: Evaluation,
  client: ModelClient,
  progress: Progress,
  { standing, inputDigest, entries }: EvaluationStart,
): Promise<ResumedEvaluation | null> {
  const isResumed = standing !== null;
  publishEvent(evaluation, { type: "EvaluationStarted", inputDigest, isResumed });
  await passBarrier(evaluation, "claimed");
  if (!standing?.last) return null;
  const { rendered, tools, guard } = evaluation;
  const earlier = entries.slice(0, entries.findLastIndex(isTurn));
  const turn = await resumeClient(client, standing.last, earlier, rendered);
  await addEarlierTurns(progress, earlier, tools);
  const { usage, costUsd } = standing;
  progress.resume(turn, { turns: standing.last.turn, usage, costUsd });
  guard.recordEarlier(usage, progress.costs.total ?? 0);
  const interrupted = new InterruptedCalls(standing);
  return { number: standing.last.turn, turn, interrupted, earlier: earlier.filter(isTurn) };
}

/** Returns an evaluation's stored answer, if it has one. Sends, publishes and stores nothing. */
export async function readStoredAnswer(
  client: ModelClient,
  progress: Progress,
  { last, usage, costUsd, entries }: StoredAnswer,
  { rendered, tools }: Pick<Evaluation, "rendered" | "tools">,
): Promise<Turn> {
  const index = entries.findLastIndex(isTurn);
  const turn = await resumeClient(client, last, entries.slice(0, index), rendered);
  // The events have shortened calls; the client may know more.
  const { hostedCalls } = turn;
  const complete = entries.map((entry, at) => (at === index ? { ...entry, hostedCalls } : entry));
  await addEarlierTurns(progress, complete, tools);
  progress.resume(null, { turns: last.turn, usage, costUsd });
  return turn;
}

/** Returns the stored answer of the evaluation to continue; `null` if it has none yet. */
export function findStoredAnswer({ standing, entries }: EvaluationStart): StoredAnswer | null {
  if (!standing?.isDone || !standing.last) return null;
  const { last, usage, costUsd } = standing;
  return { last, usage, costUsd, entries };
}

/** The result of {@link readStoredAnswer}. */
export interface StoredAnswer extends Pick<EvaluationStart, "entries"> {
  readonly last: TurnCompleted;
  readonly usage: TokenUsage;
  readonly costUsd: number | undefined;
}

/** Lets the client prepare to continue after the last stored turn. */
async function resumeClient(
  client: ModelClient,
  last: TurnCompleted,
  earlier: readonly EarlierEntry[],
  rendered: RenderedPrompt,
): Promise<Turn> {
  const turn = toStoredTurn(last);
  const { turn: number, delegatedCalls = [] } = last;
  const earlierCalls = earlier.filter(isTurn).flatMap(({ hostedCalls }) => hostedCalls);
  const resumed = { number, turn, delegatedCalls, earlierCalls, rendered };
  return (await client.resume?.(resumed)) ?? turn;
}

function isTurn(entry: EarlierEntry): entry is EarlierTurn {
  return entry.kind === "turn";
}
