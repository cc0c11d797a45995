import { isPlainObject } from "../../base/freeze.ts";
import type { UnknownRecord } from "../../base/json.ts";
import type { SavedSession } from "../../session/saved-session.ts";

/**
 * Converts a serialized session to records. It has states instead of events, so only logs and the last turn become
 * entries of the timeline; the other states are shown as they are.
 */
export function toSavedRecords({ id, createdAt, tags, slices }: SavedSession): readonly object[] {
  const events = [
    ...listEvents(slices["wink.tools"]),
    ...listLastTurn(slices["wink.standing"], slices["wink.tools"] === undefined),
    ...listEvents(slices["wink.prompts"]),
  ];
  const ordered = events.sort((one, other) => (readTime(one) < readTime(other) ? -1 : 1));
  return [
    { kind: "session", id, createdAt, tags },
    ...ordered.map((event) => ({ kind: "event", event })),
    { kind: "loaded", states: slices },
  ];
}

function listEvents(state: unknown): readonly UnknownRecord[] {
  return Array.isArray(state) ? state.filter(isPlainObject) : [];
}

/** Returns the last turn that the session knows, with its calls unless the log of tools has them. */
function listLastTurn(standing: unknown, withCalls: boolean): readonly UnknownRecord[] {
  const evaluation = isPlainObject(standing) ? standing["evaluation"] : null;
  if (!isPlainObject(evaluation)) return [];
  const { last, answered } = evaluation;
  const turn = isPlainObject(last) ? [last] : [];
  return withCalls ? [...turn, ...listEvents(answered)] : turn;
}

function readTime(event: UnknownRecord): string {
  return String(event["createdAt"] ?? "");
}
