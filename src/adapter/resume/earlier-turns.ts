import { copyAndFreeze, isPlainObject } from "../../base/freeze.ts";
import type { BusEvent } from "../../session/event-map.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { Slice } from "../../session/slice.ts";
import type { ToolInvoked, TurnCompleted } from "../events.ts";
import { ItemList } from "../history-slice.ts";

/** The part of a completed turn that a resumed evaluation's response needs: not the arguments of its calls. */
export interface EarlierTurn extends Omit<TurnCompleted, "type" | "toolCalls" | "durationMs"> {
  readonly kind: "turn";
  /** Names of the tools that the turn called. */
  readonly toolNames: readonly string[];
}

/** The result of a hosted or delegated call, after its hook or handler. */
export interface EarlierCall extends Pick<ToolInvoked, "callId" | "params" | "result"> {
  readonly kind: "call";
}

/** A turn, or the result of one of the calls of the turn before it. */
export type EarlierEntry = EarlierTurn | EarlierCall;

/**
 * The completed turns of the session's last evaluation. The cost of a turn does not depend on how many
 * there are, as long as the slice is read only when an evaluation is resumed.
 */
export const earlierTurnsSlice: Slice<readonly EarlierEntry[]> = addLibrarySlice(
  Object.freeze({
    id: "wink.turns",
    policy: "log" as const,
    initial: Object.freeze([]),
    events: Object.freeze(["EvaluationStarted", "TurnCompleted", "ToolInvoked"]),
    /** Creates a new value for each session, because sessions must not share entries. */
    get first() {
      return new ItemList<EarlierEntry>([]);
    },
    reduce: (kept: unknown, event: BusEvent) => reduce(kept as ItemList<EarlierEntry>, event),
    read: (kept: unknown) => (kept as ItemList<EarlierEntry>).read(),
    load: (state: unknown) =>
      Array.isArray(state) && state.every(isPlainObject)
        ? { kept: new ItemList<object>([...copyAndFreeze(state)]) }
        : "its state is not an array of turns",
    describe: () => "turns, version 1",
  }),
);

function reduce(list: ItemList<EarlierEntry>, event: BusEvent): ItemList<EarlierEntry> {
  if (event.type === "EvaluationStarted") {
    return event.isResumed ? list : list.apply({ kept: 0, added: [] });
  }
  if (event.type === "TurnCompleted" && !event.nested) return list.append(toEntry(event));
  if (event.type !== "ToolInvoked" || event.nested || !isHosted(list, event)) return list;
  const { callId, params, result } = event;
  return list.append({ kind: "call", callId, params, result });
}

function toEntry(event: TurnCompleted): EarlierTurn {
  const { type: _type, toolCalls, durationMs: _durationMs, ...turn } = event;
  const toolNames = [...new Set(toolCalls.map(({ name }) => name))];
  return { kind: "turn", ...turn, toolNames };
}

/** Returns whether a call of the last turn ran at the provider, or was delegated by it. */
function isHosted(list: ItemList<EarlierEntry>, { origin, callId }: ToolInvoked): boolean {
  if (origin) return true;
  const turn = list.findLast((entry) => entry.kind === "turn");
  return (
    turn?.kind === "turn" && (turn.delegatedCalls ?? []).some((call) => call.callId === callId)
  );
}
