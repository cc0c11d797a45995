import { isPlainObject } from "../../base/freeze.ts";
import {
  readNumber,
  readRecord,
  readRecords,
  readString,
  readStringOrNull,
  type UnknownRecord,
} from "../../base/json.ts";
import type { Entry } from "../entry.ts";
import { limitJson } from "../limit-json.ts";
import type { SessionSummary } from "../session-summary.ts";
import { CallEntries } from "./call-entries.ts";
import { describeEvent, describeSync } from "./describe-event.ts";
import { describeChanges, describeTurn } from "./describe-turn.ts";
import { EntryList, type EventPosition, MAX_ENTRIES } from "./entry-list.ts";
import { EvaluationTrack } from "./evaluation-track.ts";
import { toPreview } from "./preview.ts";
import { readDuration, readTags, readTime, readTurn } from "./read-time.ts";
import { findInput, readUsage, SessionTotals } from "./session-totals.ts";
import { UndoableEvents } from "./undoable-events.ts";
import { WorkspaceHistory } from "./workspace-history.ts";

/**
 * Turns the records of a session into a timeline, one after the other. Any JSON is accepted: a value that is not a
 * record or an event of the expected shape is shown unchanged, or skipped. Never throws.
 */
export class RunModel {
  readonly entries = new EntryList();
  readonly #totals = new SessionTotals();
  readonly #workspaces = new WorkspaceHistory();
  readonly #calls = new CallEntries(this.entries, this.#totals);
  readonly #highlights: string[] = [];
  #evaluation: EvaluationTrack | null = null;
  /** Nested evaluations that have not ended, by the names of their prompts. */
  readonly #nested = new Map<string, EvaluationTrack>();
  /** Keys of nested evaluations that have ended, by the names of their prompts. */
  readonly #endedNested = new Map<string, string>();
  /** Events before an evaluation's first turn. Only the next event shows whether it is a new evaluation. */
  #waiting: { readonly event: UnknownRecord; readonly position: EventPosition }[] = [];
  readonly #undoable = new UndoableEvents(this.entries);
  #header: UnknownRecord = {};
  #records = 0;
  #firstAt: number | null = null;
  #lastAt: number | null = null;

  /** Number of records so far. */
  get records(): number {
    return this.#records;
  }

  /** Adds the next record. */
  add(record: unknown): void {
    const n = this.#records++;
    if (!isPlainObject(record) || this.entries.isFull) return;
    const kind = readString(record, "kind");
    if (kind === "session") this.#header = record;
    else if (kind === "event") this.#addEvent(record["event"], { n, index: 0 });
    else if (kind === "events") this.#addEvents(record["events"], n);
    else if (kind === "restored") this.#addRollback(record, n);
    else if (kind === "loaded") this.#addLoaded(record, n);
  }

  /** Adds what waits for the next event. Call it when no further record is known. */
  settle(): void {
    const isFirst = this.#evaluation === null || this.#evaluation.isEnded;
    if (this.#waiting.length > 0) this.#placeWaiting(isFirst);
  }

  /** Returns the session in short. */
  summarize(id: string, problem: string | null): SessionSummary {
    const totals = this.#totals;
    const { state, promptName, adapter, model, evaluations, turns, calls, failedCalls } = totals;
    const isFull = this.entries.isFull;
    const limit = `Only the first ${MAX_ENTRIES.toLocaleString("en-US")} entries are shown.`;
    return {
      ...{ id, state, promptName, adapter, model, evaluations, turns, calls, failedCalls },
      createdAt: readStringOrNull(this.#header, "createdAt"),
      firstAt: this.#firstAt,
      lastAt: this.#lastAt,
      tags: readTags(this.#header),
      usage: totals.usage,
      usd: totals.usd,
      prompt: totals.prompt,
      input: totals.input,
      answer: totals.answer,
      tools: totals.listTools(),
      highlights: this.#highlights,
      files: this.#workspaces.listChanges(),
      egress: totals.egress && limitJson(totals.egress),
      records: this.#records,
      problem: problem ?? (isFull ? limit : null),
    };
  }

  #addEvents(events: unknown, n: number): void {
    if (!Array.isArray(events)) return;
    for (const [index, each] of events.entries()) {
      this.#addEvent(isPlainObject(each) ? each["event"] : null, { n, index });
    }
  }

  #addEvent(event: unknown, position: EventPosition): void {
    if (!isPlainObject(event)) return;
    const type = readString(event, "type");
    if (type === "TurnProgressed" || type === "WorkspaceProgressed") return;
    this.#totals.addEvent(event);
    const at = readTime(event);
    this.#firstAt ??= at;
    this.#lastAt = at ?? this.#lastAt;
    if (event["nested"] !== true) {
      if (WAITING.has(type)) {
        this.#waiting.push({ event, position });
        return;
      }
      if (this.#waiting.length > 0) this.#placeWaiting(this.#startsEvaluation(event));
    }
    this.#handle(type, event, position);
  }

  /** Whether the event, which follows a rendered prompt, begins a new evaluation. */
  #startsEvaluation(event: UnknownRecord): boolean {
    if (this.#evaluation === null || this.#evaluation.isEnded) return true;
    const type = readString(event, "type");
    if (type === "EvaluationStarted") return event["isResumed"] !== true;
    return (type === "TurnStarted" || type === "TurnCompleted") && event["turn"] === 1;
  }

  #placeWaiting(isNew: boolean): void {
    const [first] = this.#waiting;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (isNew && first) this.#beginEvaluation(first.event);
    for (const { event, position } of waiting) this.#addRendered(event, position);
  }

  #handle(type: string, event: UnknownRecord, position: EventPosition): void {
    switch (type) {
      case "EvaluationStarted":
        this.#startEvaluation(event, position);
        break;
      case "TurnStarted":
        this.#openTurn(event, position);
        break;
      case "TurnSubmitted":
        this.#submitTurn(event, position);
        break;
      case "TurnCompleted":
        this.#completeTurn(event, position);
        break;
      case "HistoryAdvanced":
        this.#readInput(event);
        break;
      case "ToolStarted":
        break; // its turn has the call
      case "ToolInvoked":
        this.#endCall(event, position);
        break;
      case "PromptExecuted":
      case "PromptFailed":
        this.#endEvaluation(event, position);
        break;
      case "EgressReported":
        this.#addEgress(event, position);
        break;
      case "WorkspaceKept":
        this.#addKept(event, position);
        break;
      case "WorkspaceSynced":
        this.#addSynced(event, position);
        break;
      default:
        this.#addRendered(event, position);
    }
  }

  #addRendered(event: UnknownRecord, position: EventPosition): void {
    if (readString(event, "type") === "PromptRendered") this.#addPrompt(event, position);
    else this.#addNote(event, position);
  }

  #beginEvaluation(event: UnknownRecord): EvaluationTrack {
    this.#totals.beginEvaluation();
    const track = this.#addEvaluation(event, `${this.#totals.evaluations}`, null);
    this.#evaluation = track;
    this.#nested.clear();
    this.#endedNested.clear();
    return track;
  }

  #addEvaluation(event: UnknownRecord, key: string, parent: string | null): EvaluationTrack {
    const promptName = readString(event, "promptName");
    const at = readTime(event);
    const name = toPreview(promptName, 80) || "Evaluation";
    const entry: Entry = {
      ...{ key, parent, kind: "evaluation", type: "EvaluationStarted", at, ms: null },
      ...{ title: name, text: "", status: "open" },
    };
    return new EvaluationTrack(this.entries.add(entry, null), promptName, at);
  }

  /** Returns the evaluation that an event belongs to. Begins one if the session does not show its start. */
  #findTrack(event: UnknownRecord): EvaluationTrack {
    if (event["nested"] !== true) return this.#evaluation ?? this.#beginEvaluation(event);
    const promptName = readString(event, "promptName");
    const known = this.#nested.get(promptName);
    if (known) return known;
    const outer = this.#evaluation ?? this.#beginEvaluation(event);
    outer.nestedCount += 1;
    const parent = outer.currentKey;
    const track = this.#addEvaluation(event, `${parent}/${outer.nestedCount}`, parent);
    this.#nested.set(promptName, track);
    return track;
  }

  #startEvaluation(event: UnknownRecord, position: EventPosition): void {
    const current = this.#evaluation;
    const isResumed = event["isResumed"] === true && current !== null;
    const isFresh = current !== null && current.turn === 0 && !current.isEnded;
    if (!isResumed) {
      const track = isFresh ? current : this.#beginEvaluation(event);
      this.entries.addPosition(track.key, position);
      return;
    }
    current.isEnded = false;
    this.#totals.state = "open";
    this.entries.update(current.key, { status: "open" });
    const title = "Evaluation resumed";
    this.#add(
      { event, position, parent: current.key },
      { kind: "context", title, isHighlight: true },
    );
  }

  #addPrompt(event: UnknownRecord, position: EventPosition): void {
    const track = this.#findTrack(event);
    const tools = readRecords(event, "tools").length;
    const hosted = readRecords(event, "hostedTools").length;
    const input = readStringOrNull(event, "input");
    if (input !== null) this.#setInput(track, input, event);
    const size = `${readString(event, "text").length.toLocaleString("en-US")} characters`;
    const text = `${size}, ${tools} local and ${hosted} hosted tools`;
    const parent = track.turn > 0 ? track.currentKey : track.key;
    const title = track.turn > 0 ? "Prompt rendered again" : "Prompt";
    const key = this.#add({ event, position, parent }, { kind: "prompt", title, text });
    this.#totals.prompt ??= { key, text: readString(event, "text").slice(0, MAX_PROMPT) };
  }

  #setInput(track: EvaluationTrack, input: string, event: UnknownRecord): void {
    track.hasInput = true;
    this.entries.update(track.key, { text: toPreview(input) });
    if (event["nested"] !== true) this.#totals.input = input.slice(0, 20_000);
  }

  #openTurn(event: UnknownRecord, position: EventPosition): void {
    const track = this.#findTrack(event);
    const turn = readTurn(event, track.turn);
    if (track.turn === turn && !track.isTurnComplete) return;
    track.turn = turn;
    track.calls = [];
    track.isTurnComplete = false;
    const entry: Entry = {
      ...{ key: `${track.key}.${turn}`, parent: track.key, kind: "turn", type: "TurnCompleted" },
      ...{ title: `Turn ${turn}`, text: "", status: "open", at: readTime(event), ms: null },
    };
    track.turnKey = this.entries.add(entry, position);
  }

  #submitTurn(event: UnknownRecord, position: EventPosition): void {
    this.#openTurn(event, position);
    const { turnKey } = this.#findTrack(event);
    if (turnKey !== null) this.entries.update(turnKey, { text: "runs in the background" });
  }

  #completeTurn(event: UnknownRecord, position: EventPosition): void {
    const track = this.#findTrack(event);
    const isOpen = !track.isTurnComplete && track.turn === readTurn(event, track.turn);
    if (!isOpen) {
      track.isTurnComplete = true;
      this.#openTurn(event, position);
    }
    const { turnKey } = track;
    if (turnKey === null) return;
    if (isOpen) this.entries.addPosition(turnKey, position);
    track.isTurnComplete = true;
    track.citations = readRecords(event, "citations");
    const { totalTokens } = readUsage(event);
    const usd = readNumber(event, "costUsd");
    const ms = readDuration(event);
    const end = readTime(event);
    track.tokens += totalTokens;
    if (usd !== null) track.usd = (track.usd ?? 0) + usd;
    this.#totals.addTurn(event);
    track.calls = this.#calls.begin(turnKey, event, position);
    this.entries.update(turnKey, {
      ...{ status: "ok", ms, tokens: totalTokens, text: describeTurn(event) },
      at: end === null ? null : end - (ms ?? 0),
      ...(usd !== null && { usd }),
    });
  }

  #readInput(event: UnknownRecord): void {
    const track = this.#evaluation;
    if (!track || track.hasInput || event["nested"] === true || track.turn > 1) return;
    const input = findInput(readRecords(event, "added"));
    if (input !== null) this.#setInput(track, input, event);
  }

  #endCall(event: UnknownRecord, position: EventPosition): void {
    const track = this.#findTrack(event);
    const parent = track.turnKey ?? track.key;
    const { key, isFailed } = this.#calls.end(track, event, { parent, position });
    if (!isFailed) return;
    this.#addHighlight(key);
    // A failed call is rolled back. A session that is not stored has no record of it.
    this.#undoable.undoBelow(key);
  }

  #endEvaluation(event: UnknownRecord, position: EventPosition): void {
    const track = this.#findTrack(event);
    const isFailed = readString(event, "type") === "PromptFailed";
    this.#totals.addRest(event);
    track.isEnded = true;
    const end = readTime(event);
    const ms = end !== null && track.startedAt !== null ? end - track.startedAt : null;
    const usd = readNumber(event, "costUsd") ?? track.usd;
    const tokens = readUsage(event).totalTokens || track.tokens;
    const entry = this.entries.get(track.key);
    const outcome = isFailed ? readString(event, "message") : readString(event, "text");
    this.entries.update(track.key, {
      ...{ status: isFailed ? "failed" : "ok", ms, tokens },
      ...(usd !== null && { usd }),
      ...(entry?.text === "" && { text: toPreview(outcome) }),
    });
    this.entries.addPosition(track.key, position);
    if (event["nested"] === true) {
      this.#nested.delete(track.promptName);
      this.#endedNested.set(track.promptName, track.key);
    } else this.#totals.end(event, track.citations);
    if (isFailed) this.#addHighlight(track.key);
  }

  /** Adds the report of what an evaluation has sent, which follows its end. */
  #addEgress(event: UnknownRecord, position: EventPosition): void {
    this.#totals.addEgress(readRecord(event, "egress"));
    const key =
      event["nested"] === true
        ? this.#endedNested.get(readString(event, "promptName"))
        : this.#evaluation?.key;
    if (key !== undefined) this.entries.addPosition(key, position);
  }

  #addKept(event: UnknownRecord, position: EventPosition): void {
    const { isFirst, changes } = this.#workspaces.keep(readRecord(event, "manifest"));
    const hasChanged = changes.length > 0;
    const title = hasChanged ? "Workspace files changed" : "Workspace files kept";
    const text = isFirst && !hasChanged ? "as they were mounted" : describeChanges(changes);
    const key = this.#add(
      { event, position, parent: this.#currentKey() },
      { kind: "files", title, text },
    );
    this.entries.setFiles(key, changes);
  }

  #addSynced(event: UnknownRecord, position: EventPosition): void {
    const changes = this.#workspaces.sync(event);
    const text = describeSync(event);
    const title = "Files copied back";
    const key = this.#add({ event, position, parent: null }, { kind: "files", title, text });
    this.entries.setFiles(key, changes);
  }

  #addNote(event: UnknownRecord, position: EventPosition): void {
    const description = describeEvent(event);
    const key = this.#add({ event, position, parent: this.#currentKey() }, description);
    if (description.kind === "event") this.#undoable.add(key, position.n);
  }

  #addRollback(record: UnknownRecord, n: number): void {
    const to = readNumber(record, "to") ?? n;
    const names = this.#undoable.undoFrom(to);
    const shown = names.slice(0, 10).join(", ");
    const text = names.length > 0 ? `undone: ${shown}` : `to the state before record ${to}`;
    const place = { event: record, position: { n, index: 0 }, parent: this.#currentKey() };
    this.#add(place, { kind: "rollback", title: "State rolled back", text, isHighlight: true });
  }

  #addLoaded(record: UnknownRecord, n: number): void {
    const text = Object.keys(readRecord(record, "states")).join(", ");
    const place = { event: record, position: { n, index: 0 }, parent: this.#currentKey() };
    this.#add(place, { kind: "event", title: "States loaded", text });
  }

  #currentKey(): string | null {
    const track = this.#evaluation;
    return track && !track.isEnded ? track.currentKey : null;
  }

  #add({ event, position, parent }: EventPlace, note: NoteFields): string {
    const { kind, title, text = "", status = "none", isHighlight = false } = note;
    const { n, index } = position;
    const type = readString(event, "type") || readString(event, "kind");
    const key = `n${n}${index > 0 ? `.${index}` : ""}`;
    const at = readTime(event);
    const added = this.entries.add(
      {
        key,
        parent,
        kind,
        type: toPreview(type, 80),
        title,
        text: toPreview(text),
        status,
        at,
        ms: null,
      },
      position,
    );
    if (isHighlight) this.#addHighlight(added);
    return added;
  }

  #addHighlight(key: string): void {
    if (this.#highlights.length < MAX_HIGHLIGHTS) this.#highlights.push(key);
  }
}

interface EventPlace {
  readonly event: UnknownRecord;
  readonly position: EventPosition;
  readonly parent: string | null;
}

type NoteFields = Pick<Entry, "kind" | "title"> &
  Partial<Pick<Entry, "text" | "status">> & { readonly isHighlight?: boolean };

const MAX_HIGHLIGHTS = 300;
/** The beginning of a prompt that the summary has. */
const MAX_PROMPT = 2_000;

/** Published before an evaluation's first turn. */
const WAITING: ReadonlySet<string> = new Set([
  "PromptRendered",
  "HostedToolOmitted",
  "OverrideSkipped",
]);
