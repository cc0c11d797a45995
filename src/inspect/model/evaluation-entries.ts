import { readString, type UnknownRecord } from "../../base/json.ts";
import type { Entry } from "../entry.ts";
import type { EntryList } from "./entry-list.ts";
import { EvaluationTrack } from "./evaluation-track.ts";
import { toPreview } from "./preview.ts";
import { readTime } from "./read-time.ts";
import type { SessionTotals } from "./session-totals.ts";

/** Adds evaluations to a timeline, and finds the one that an event belongs to. */
export class EvaluationEntries {
  readonly #entries: EntryList;
  readonly #totals: SessionTotals;
  #current: EvaluationTrack | null = null;
  /** Nested evaluations that have not ended, by the names of their prompts. */
  readonly #nested = new Map<string, EvaluationTrack>();
  /** Keys of nested evaluations that have ended, by the names of their prompts. */
  readonly #endedNested = new Map<string, string>();

  constructor(entries: EntryList, totals: SessionTotals) {
    this.#entries = entries;
    this.#totals = totals;
  }

  /** The last evaluation that is not nested; `null` before the first. */
  get current(): EvaluationTrack | null {
    return this.#current;
  }

  /** Key of the entry to which an event belongs that happens now; `null` between evaluations. */
  get currentKey(): string | null {
    const track = this.#current;
    return track && !track.isEnded ? track.currentKey : null;
  }

  /** Whether an event, which follows a rendered prompt, begins a new evaluation. */
  isBegunBy(event: UnknownRecord): boolean {
    if (this.#current === null || this.#current.isEnded) return true;
    const type = readString(event, "type");
    if (type === "EvaluationStarted") return event["isResumed"] !== true;
    return (type === "TurnStarted" || type === "TurnCompleted") && event["turn"] === 1;
  }

  /** Begins an evaluation that is not nested. */
  begin(event: UnknownRecord): EvaluationTrack {
    this.#totals.beginEvaluation();
    const track = this.#add(event, `${this.#totals.evaluations}`, null);
    this.#current = track;
    this.#nested.clear();
    this.#endedNested.clear();
    return track;
  }

  /** Returns the evaluation that an event belongs to. Begins one if the session does not show its start. */
  find(event: UnknownRecord): EvaluationTrack {
    if (event["nested"] !== true) return this.#current ?? this.begin(event);
    const promptName = readString(event, "promptName");
    const known = this.#nested.get(promptName);
    if (known) return known;
    const outer = this.#current ?? this.begin(event);
    outer.nestedCount += 1;
    const parent = outer.currentKey;
    const track = this.#add(event, `${parent}/${outer.nestedCount}`, parent);
    this.#nested.set(promptName, track);
    return track;
  }

  /** Called when a nested evaluation has ended: the next one of its prompt is another. */
  endNested({ key, promptName }: EvaluationTrack): void {
    this.#nested.delete(promptName);
    this.#endedNested.set(promptName, key);
  }

  /** Returns the key of the evaluation that an event follows; `undefined` without one. */
  findEndedKey(event: UnknownRecord): string | undefined {
    return event["nested"] === true
      ? this.#endedNested.get(readString(event, "promptName"))
      : this.#current?.key;
  }

  #add(event: UnknownRecord, key: string, parent: string | null): EvaluationTrack {
    const promptName = readString(event, "promptName");
    const at = readTime(event);
    const name = toPreview(promptName, 80) || "Evaluation";
    const entry: Entry = {
      ...{ key, parent, kind: "evaluation", type: "EvaluationStarted", at, ms: null },
      ...{ title: name, text: "", status: "open" },
    };
    return new EvaluationTrack(this.#entries.add(entry, null), promptName, at);
  }
}
