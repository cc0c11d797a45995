import { raceAbort } from "../../base/clock.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import { runObserved } from "../../session/event-bus.ts";
import type { ObservedWork } from "../../session/observed-work.ts";
import { decideCall } from "../calls/decide-call.ts";
import type { Evaluation } from "../evaluation.ts";
import { publishEvent } from "../events.ts";
import type { Guard } from "../guard.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { ModelClient, Turn, TurnRequest } from "../model-client.ts";
import { passBarrier } from "../resume/barrier.ts";
import { standingSlice } from "../resume/standing.ts";
import { maxThrottleWaitMs, retryThrottled, type ThrottleSettings } from "../throttle.ts";
import { streamFeed } from "../turn-observer.ts";
import { TurnWatch } from "../turn-watch.ts";
import { publishTurn } from "./publish-turn.ts";

/** The part of a request that changes from turn to turn. */
export type NextTurn = Pick<
  TurnRequest,
  "turn" | "input" | "answers" | "delegatedResults" | "notes" | "toolChoice"
>;

/** Sends one request, retries it if it is throttled, and publishes the response. */
export function takeTurn(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  next: NextTurn,
): Promise<Turn> {
  publishEvent(evaluation, { type: "TurnStarted", turn: next.turn });
  const startedAt = evaluation.clock.now();
  const feed = settings[streamFeed] ?? null;
  const isHeard = evaluation.session.bus.hears?.("TurnProgressed") ?? true;
  // Nothing is observed if there is neither a stream nor a listener when the turn starts.
  if (!feed && !isHeard) return runTurn(evaluation, client, settings, { next, startedAt });
  const observer = new TurnWatch(evaluation, feed, { turn: next.turn, isHeard });
  return runObservedTurn(evaluation, client, settings, { next, startedAt, observer });
}

async function runObservedTurn(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  turn: StartedTurn & { readonly observer: TurnWatch },
): Promise<Turn> {
  using _watch = turn.observer;
  return await runTurn(evaluation, client, settings, turn);
}

/** A turn that has started. */
interface StartedTurn {
  readonly next: NextTurn;
  readonly startedAt: number;
  /** @default the turn is not observed */
  readonly observer?: TurnWatch | undefined;
}

async function runTurn(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  { next, startedAt, observer }: StartedTurn,
): Promise<Turn> {
  const { clock, guard } = evaluation;
  // All attempts get the same object, so that the client can tell them from the next turn.
  const request = createRequest(evaluation, next, observer);
  const attempt = () => {
    observer?.onRestart();
    return raceAbort(client.send(request), guard.abortSignal);
  };
  const answer = await runObserved(evaluation.session.bus, toWork(evaluation, next.turn), () =>
    retryThrottled(attempt, toThrottleSettings(settings, guard)),
  );
  const times = { startedAt, endedAt: clock.now() };
  guard.record(answer, times);
  const costUsd = evaluation.costs.add(answer, times) ?? undefined;
  const turn = costUsd === answer.costUsd ? answer : { ...answer, costUsd };
  observer?.onCompleted(turn);
  publishTurn(evaluation, turn, { turn: next.turn, durationMs: times.endedAt - startedAt });
  return turn;
}

function toThrottleSettings(settings: LoopSettings, guard: Guard): ThrottleSettings {
  const { throttle, clock, random, logger, [maxThrottleWaitMs]: maxWaitMs } = settings;
  const { signal, deadline } = guard;
  return { throttle, clock, random, logger, [maxThrottleWaitMs]: maxWaitMs, signal, deadline };
}

function toWork({ session, rendered }: Evaluation, turn: number): ObservedWork {
  const wantsJson = rendered.outputSchema !== null;
  return { type: "turn", sessionId: session.id, turn, wantsJson };
}

/** Creates the request of a turn. One literal: spreads would copy the object several times. */
function createRequest(
  evaluation: Evaluation,
  { turn, input, answers, delegatedResults, notes, toolChoice }: NextTurn,
  observer: TurnWatch | undefined,
): TurnRequest {
  const { rendered, guard, isNested, isDurable, session } = evaluation;
  const { submittedId } = (isDurable && session.get(standingSlice).evaluation) || {};
  const onKept = async (manifest: WorkspaceManifest) => {
    publishEvent(evaluation, { type: "WorkspaceKept", manifest });
    await passBarrier(evaluation, "workspace-kept");
  };
  return {
    turn,
    input,
    answers,
    delegatedResults,
    notes,
    toolChoice,
    rendered,
    signal: guard.signal,
    isNested,
    isDurable,
    observer,
    decideCall: (call) => decideCall(call, evaluation),
    submittedId: submittedId ?? undefined,
    // Stores the events that must outlive the process, while the provider works on the request.
    onSubmitted: async (responseId) => {
      publishEvent(evaluation, { type: "TurnSubmitted", turn, responseId });
      await passBarrier(evaluation, "turn-submitted");
    },
    onResubmitted: (responseId) =>
      publishEvent(evaluation, { type: "TurnResubmitted", turn, responseId }),
    ...(isDurable && { onKept }),
  };
}
