import { raceAbort } from "../../base/clock.ts";
import type { WorkspaceManifest } from "../../prompt/sections/workspace-slice.ts";
import { runObserved } from "../../session/event-bus.ts";
import type { ApprovableCall } from "../approvals/approvable-call.ts";
import { decideCall } from "../calls/decide-call.ts";
import type { Evaluation } from "../evaluation.ts";
import { publishEvent } from "../events.ts";
import type { LoopSettings } from "../loop-options.ts";
import type { ModelClient, Turn, TurnRequest } from "../model-client.ts";
import { passBarrier } from "../resume/barrier.ts";
import { standingSlice } from "../resume/standing.ts";
import { retryThrottled } from "../throttle.ts";
import { streamFeed } from "../turn-observer.ts";
import { TurnWatch } from "../turn-watch.ts";
import { publishTurn } from "./publish-turn.ts";

/** The part of a request that changes from turn to turn. */
export type NextTurn = Pick<
  TurnRequest,
  "turn" | "input" | "answers" | "delegatedResults" | "notes" | "toolChoice"
>;

/** Sends one request, retries it if it is throttled, and publishes the response. */
export async function takeTurn(
  evaluation: Evaluation,
  client: ModelClient,
  settings: LoopSettings,
  next: NextTurn,
): Promise<Turn> {
  const { rendered, clock, guard, isNested, isDurable } = evaluation;
  const { signal, deadline } = guard;
  publishEvent(evaluation, { type: "TurnStarted", turn: next.turn });
  const started = clock.now();
  const feed = settings[streamFeed] ?? null;
  const isHeard = evaluation.session.bus.hears?.("TurnProgressed") ?? true;
  // Nothing is observed if there is neither a stream nor a listener when the turn starts.
  using observer =
    feed || isHeard ? new TurnWatch(evaluation, feed, { turn: next.turn, isHeard }) : null;
  // All attempts get the same object, so that the client can tell them from the next turn.
  const request = {
    ...next,
    rendered,
    signal,
    isNested,
    isDurable,
    decideCall: (call: ApprovableCall) => decideCall(call, evaluation),
    ...(observer && { observer }),
    ...createSubmission(evaluation, next.turn),
  };
  const attempt = () => {
    observer?.onRestart();
    return raceAbort(client.send(request), guard.abortSignal);
  };
  const { id: sessionId, bus } = evaluation.session;
  const work = { sessionId, turn: next.turn, wantsJson: rendered.outputSchema !== null };
  const answer = await runObserved(bus, { type: "turn", ...work }, () =>
    retryThrottled(attempt, { ...settings, signal, deadline }),
  );
  const times = { startedAt: started, endedAt: clock.now() };
  guard.record(answer, times);
  const costUsd = evaluation.costs.add(answer, times) ?? undefined;
  const turn = costUsd === answer.costUsd ? answer : { ...answer, costUsd };
  observer?.onCompleted(turn);
  publishTurn(evaluation, turn, { turn: next.turn, durationMs: times.endedAt - started });
  return turn;
}

/** Stores the events that must outlive the process, before a request is sent, or while the provider works on it. */
function createSubmission(
  evaluation: Evaluation,
  turn: number,
): Pick<TurnRequest, "submittedId" | "onKept" | "onSubmitted" | "onResubmitted"> {
  const { isDurable, session } = evaluation;
  const { submittedId } = (isDurable && session.get(standingSlice).evaluation) || {};
  const onKept = async (manifest: WorkspaceManifest) => {
    publishEvent(evaluation, { type: "WorkspaceKept", manifest });
    await passBarrier(evaluation, "workspace-kept");
  };
  return {
    ...(submittedId && { submittedId }),
    ...(isDurable && { onKept }),
    onSubmitted: async (responseId) => {
      publishEvent(evaluation, { type: "TurnSubmitted", turn, responseId });
      await passBarrier(evaluation, "turn-submitted");
    },
    onResubmitted: (responseId) =>
      publishEvent(evaluation, { type: "TurnResubmitted", turn, responseId }),
  };
}
