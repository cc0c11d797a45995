import { addUsage, noUsage, type TokenUsage } from "../../base/usage.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { EvaluationStarted } from "../durable-events.ts";
import type { ToolInvoked, TurnCompleted } from "../events.ts";

/** How far a session's last evaluation has got. */
export interface Standing {
  /** Number of turns that all evaluations of the session have completed. */
  readonly turns: number;
  /** The last evaluation; `null` before the first. */
  readonly evaluation: StandingEvaluation | null;
}

/** How far an evaluation has got. */
export interface StandingEvaluation {
  /** Name of the prompt. */
  readonly promptName: string;
  /** Name of the adapter, such as `"openai"`. */
  readonly adapter: string;
  /** Digest of the user's input; `null` without input. */
  readonly inputDigest: string | null;
  /** Whether the evaluation has its answer: the last turn. */
  readonly isDone: boolean;
  /** Whether the evaluation ended with an error or was cancelled. `false` if its process was lost. */
  readonly isStopped: boolean;
  /** The last completed turn; `null` before the first. */
  readonly last: TurnCompleted | null;
  /** Tokens used so far. */
  readonly usage: TokenUsage;
  /** Cost so far in US dollars. Absent if it is unknown. */
  readonly costUsd?: number | undefined;
  /** Ids of the last turn's `once` calls that were started, in order. */
  readonly started: readonly string[];
  /** Results of the last turn's calls, in order. */
  readonly answered: readonly ToolInvoked[];
  /** The response that was submitted for the next turn; `null` if there is none. */
  readonly submittedId: string | null;
}

/**
 * Knows how far the session's last evaluation has got, so that `evaluate` with `resume` can continue it.
 * Every evaluation on a stored session registers it. Nested evaluations are part of the call that runs
 * them. It holds one turn, so its size does not depend on the length of the conversation.
 */
export const standingSlice = addLibrarySlice(
  Object.freeze({
    ...defineSlice<Standing>("wink.standing", {
      initial: { turns: 0, evaluation: null },
      policy: "log",
      on: {
        EvaluationStarted: (standing, event) => ({
          ...standing,
          evaluation: begin(standing, event),
        }),
        TurnCompleted: completeTurn,
        TurnSubmitted: (standing, { nested, responseId }) =>
          nested ? standing : update(standing, { submittedId: responseId }),
        TurnResubmitted: (standing, { nested }) =>
          nested ? standing : update(standing, { submittedId: null }),
        ToolStarted: (standing, { callId }) =>
          update(standing, { started: [...(standing.evaluation?.started ?? []), callId] }),
        ToolInvoked: (standing, event) =>
          event.nested
            ? standing
            : update(standing, { answered: [...(standing.evaluation?.answered ?? []), event] }),
        PromptExecuted: (standing, { nested, usage, costUsd }) =>
          nested
            ? standing
            : update(standing, { isDone: true, usage, ...(costUsd !== undefined && { costUsd }) }),
        PromptFailed: (standing, { nested }) =>
          nested ? standing : update(standing, { isStopped: true }),
      },
    }),
    marks: true,
  }),
);

/** Returns whether a lost process may have been running a call, whose changes must be rolled back. */
export function mayHaveOpenCalls({
  isDone,
  isStopped,
  last,
  answered,
}: StandingEvaluation): boolean {
  if (isDone || isStopped || !last) return false;
  const { toolCalls, hostedCalls, delegatedCalls = [] } = last;
  return answered.length < toolCalls.length + hostedCalls.length + delegatedCalls.length;
}

function begin(
  { evaluation }: Standing,
  { promptName, adapter, inputDigest, isResumed }: EvaluationStarted,
): StandingEvaluation {
  if (isResumed && evaluation) return { ...evaluation, isStopped: false };
  return {
    promptName,
    adapter,
    inputDigest,
    isDone: false,
    isStopped: false,
    last: null,
    usage: noUsage,
    started: [],
    answered: [],
    submittedId: null,
  };
}

function completeTurn(standing: Standing, event: TurnCompleted): Standing {
  if (event.nested) return standing;
  const { usage = noUsage, costUsd = 0 } = standing.evaluation ?? {};
  const completed = update(standing, {
    last: event,
    usage: addUsage(usage, event.usage),
    ...(event.costUsd !== undefined && { costUsd: costUsd + event.costUsd }),
    started: [],
    answered: [],
    submittedId: null,
  });
  return { ...completed, turns: standing.turns + 1 };
}

function update(standing: Standing, changes: Partial<StandingEvaluation>): Standing {
  const { evaluation } = standing;
  return evaluation ? { ...standing, evaluation: { ...evaluation, ...changes } } : standing;
}
