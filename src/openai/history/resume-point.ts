import type { HistoryAdvanced } from "../../adapter/events.ts";
import type { HistoryStep } from "../../adapter/model-client.ts";
import { InvalidOptionError } from "../../base/errors.ts";
import { isPlainObject } from "../../base/freeze.ts";
import { readRecords, type UnknownRecord } from "../../base/json.ts";
import { defineSlice } from "../../session/define-slice.ts";
import { addLibrarySlice } from "../../session/library-slices.ts";
import type { Session } from "../../session/session.ts";
import type { WireItem } from "../wire.ts";
import type { PromptPlaces } from "./history.ts";
import { classifyItem, getItemType } from "./history-pairs.ts";
import { historySlice } from "./history-slice.ts";

/** The items that a turn sent to the model, and the response's items. */
export interface TurnItems {
  readonly sent: readonly WireItem[];
  readonly answer: readonly WireItem[];
}

/** The state that a stored session needs to continue a conversation after a turn, in addition to its items. */
export interface ResumePoint extends TurnItems, Pick<PromptPlaces, "system" | "user"> {
  /** Number of the turn. */
  readonly turn: number;
  /** Number of items in the history. */
  readonly length: number;
  readonly compactedUser: string | null;
  /**
   * Workspace notes of the next turn, if a compaction has added it to the history already; otherwise `null`.
   */
  readonly nextNotes: readonly string[] | null;
  /** The items of earlier turns that hosted tools read. */
  readonly earlier: readonly WireItem[];
  /** The state of the compaction. */
  readonly window: UnknownRecord;
}

/** Stores where the session's last conversation with OpenAI can be resumed; `null` if that is not known. */
export const resumePointSlice = addLibrarySlice(
  Object.freeze({
    ...defineSlice<ResumePoint | null>("openai.resume", {
      initial: null,
      policy: "log",
      on: {
        HistoryAdvanced: (point, event) =>
          event.adapter === "openai" ? advance(point, event) : point,
      },
    }),
    // A compaction and the history after it are kept together, or neither is.
    marks: true,
  }),
);

/** Adds the state to a step of the history that resuming after it needs. */
export function addResumePoint(
  step: HistoryStep,
  { system, user, compactedUser }: PromptPlaces,
  { items, window, nextNotes, before }: NewPoint,
): HistoryStep {
  const toReferences = (list: readonly WireItem[]) =>
    list.filter(mayBeHosted).map((item) => {
      const index = step.added.lastIndexOf(item);
      return index === -1 ? item : index;
    });
  const resumePoint: StepPoint = {
    ...{ system, user, window },
    ...(compactedUser !== (before?.compactedUser ?? null) && { compactedUser }),
    ...(nextNotes && { nextNotes }),
    ...(items && { sent: toReferences(items.sent), answer: toReferences(items.answer) }),
  };
  return Object.freeze({ ...step, resumePoint });
}

/** The state that {@link addResumePoint} adds, in addition to the prompt's places. */
export interface NewPoint extends Pick<ResumePoint, "window"> {
  /** @default the next turn is not in the history */
  readonly nextNotes?: readonly string[];
  /** The new turn's items. @default the step is not a turn */
  readonly items?: TurnItems;
  /** The session's point before the step. */
  readonly before: ResumePoint | null;
}

/** Returns where the session's conversation can be resumed after a turn. Throws if it does not know. */
export function getResumePoint(session: Session, turn: number): ResumePoint {
  const point = session.get(resumePointSlice);
  const { length } = session.get(historySlice);
  if (point?.turn === turn && point.length === length) return point;
  throw new InvalidOptionError({
    field: "evaluate(resume)",
    value: true,
    rule: `must be omitted: the session does not have the conversation with OpenAI after turn ${turn}`,
    remedy: "open the session from its store, or pass continue instead of resume",
  });
}

/** Whether a codec may read a response item or a sent item. */
export function mayBeHosted(item: WireItem): boolean {
  const type = getItemType(item);
  if (type === "message") return classifyItem(item) !== "input";
  return !NOT_HOSTED.has(type);
}

const NOT_HOSTED: ReadonlySet<string> = new Set([
  "function_call",
  "function_call_output",
  "reasoning",
  "compaction",
]);

/** The part of a {@link ResumePoint} in an event. An item is its index in `added`, if it is there. */
interface StepPoint extends Pick<ResumePoint, "system" | "user" | "window"> {
  /** Absent if it is the same as before. */
  readonly compactedUser?: string | null;
  /** Absent if the next turn is not in the history. */
  readonly nextNotes?: readonly string[];
  /** Absent if the step is not a turn. */
  readonly sent?: readonly (number | WireItem)[];
  readonly answer?: readonly (number | WireItem)[];
}

function advance(before: ResumePoint | null, event: HistoryAdvanced): ResumePoint | null {
  const { kept, added, turn, resumePoint } = event;
  const length = kept + added.length;
  if (!isStepPoint(resumePoint, length)) return null;
  const { system, user, window, sent, answer } = resumePoint;
  const { compactedUser = before?.compactedUser ?? null, nextNotes = null } = resumePoint;
  const places = { turn, length, system, user, compactedUser, nextNotes, window };
  if (!sent || !answer) return before && { ...before, ...places };
  const resolve = (references: readonly (number | WireItem)[]) =>
    references.map((one) => (typeof one === "number" ? (added[one] as WireItem | undefined) : one));
  const earlier = turn > 1 && before ? [...before.earlier, ...listCited(before)] : [];
  return {
    ...places,
    earlier,
    sent: resolve(sent).filter(isPlainObject),
    answer: resolve(answer).filter(isPlainObject),
  };
}

/** Lists an earlier turn's items. Of its messages, only the citations are read. */
function listCited({ sent, answer }: TurnItems): readonly WireItem[] {
  return [...sent, ...answer].filter(
    (item) =>
      getItemType(item) !== "message" ||
      readRecords(item, "content").some((part) => readRecords(part, "annotations").length > 0),
  );
}

function isStepPoint(point: unknown, length: number): point is StepPoint {
  if (!isPlainObject(point) || !isPlainObject(point["window"])) return false;
  const { system, user, compactedUser = null, nextNotes = [], sent = [], answer = [] } = point;
  return (
    [system, user].every((index) => index === null || isIndex(index, length)) &&
    (compactedUser === null || typeof compactedUser === "string") &&
    [nextNotes, sent, answer].every(Array.isArray)
  );
}

function isIndex(index: unknown, length: number): boolean {
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 && index < length;
}
