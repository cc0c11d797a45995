import { shortenContent } from "../../base/redact.ts";
import { hearsEvent } from "../../session/session.ts";
import { toKeptEvents } from "../calls/publish-invocation.ts";
import type { Evaluation } from "../evaluation.ts";
import { type AdapterEvent, publishEvent, type TurnCompleted } from "../events.ts";
import type { DelegatedCall, DelegatedCallData, HostedCall, Turn } from "../model-client.ts";

/** Publishes `TurnCompleted`, together with the change of the session's stored conversation. */
export function publishTurn(evaluation: Evaluation, turn: Turn, numbers: TurnNumbers): void {
  const isHeard = evaluation.session[hearsEvent]("TurnCompleted");
  const completed = isHeard ? [createCompleted(turn, numbers)] : [];
  const kept = toKeptEvents(evaluation.isNested ? null : turn.workspace);
  const step = toStepEvents(evaluation, turn, numbers.turn);
  publishEvent(evaluation, ...completed, ...step, ...kept);
}

type TurnNumbers = Pick<TurnCompleted, "turn" | "durationMs">;

function createCompleted(turn: Turn, numbers: TurnNumbers): AdapterEvent {
  const { text, toolCalls, usage, requestId } = turn;
  const hostedCalls = turn.hostedCalls.map(shortenCall);
  const summary = { text, toolCalls, hostedCalls, usage, ...numbers, requestId };
  return { type: "TurnCompleted", ...summary, ...toDetails(turn) };
}

/** Returns the events that change the session's stored conversation. Publish them together. */
export function toStepEvents(
  { isNested }: Evaluation,
  { history, compactionChanges = [] }: Pick<Turn, "history" | "compactionChanges">,
  turn: number,
): readonly AdapterEvent[] {
  // The conversation of a nested evaluation is not stored in the session.
  if (isNested) return [];
  const advanced = { type: "HistoryAdvanced", turn } as const;
  return [...compactionChanges, ...(history ? [{ ...advanced, ...history }] : [])];
}

/** Returns the fields of `TurnCompleted` that are needed to answer from a stored turn. */
function toDetails(turn: Omit<Turn, "text" | "toolCalls" | "usage" | "requestId">) {
  const { finishReason, responseId, model, citations, continues, costUsd, stopReason } = turn;
  const { delegatedCalls = [] } = turn;
  const isEarly = finishReason !== "stop" && finishReason !== "tool_calls";
  return {
    ...{ finishReason, responseId, model },
    ...(citations.length > 0 && { citations }),
    ...(continues && { continues: true as const }),
    ...(costUsd !== undefined && { costUsd }),
    ...(isEarly && stopReason && { stopReason }),
    ...(delegatedCalls.length > 0 && { delegatedCalls: delegatedCalls.map(toData) }),
  };
}

function toData({ name, kind, callId, params, raw }: DelegatedCall): DelegatedCallData {
  return shortenCall({ name, kind, callId, params, raw });
}

/** Returns a call for events, without encrypted content and long base64 in the provider's item. */
function shortenCall<Call extends Pick<HostedCall, "params" | "raw">>(call: Call): Call {
  const raw = shortenContent(call.raw);
  if (raw === call.raw) return call;
  return Object.freeze({ ...call, raw, params: call.params === call.raw ? raw : call.params });
}
