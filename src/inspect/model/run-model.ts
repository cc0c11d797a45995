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
import { EvaluationEntries } from "./evaluation-entries.ts";
import type { EvaluationTrack } from "./evaluation-track.ts";
import { type EventPlace, NoteEntries } from "./note-entries.ts";
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
  readonly #evaluations = new EvaluationEntries(this.entries, this.#totals);
  readonly #notes = new NoteEntries(this.entries);
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
    const { current } = this.#evaluations;
    if (this.#waiting.length > 0) this.#placeWaiting(current === null || current.isEnded);
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
      highlights: this.#notes.highlights,
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
      if (this.#waiting.length > 0) this.#placeWaiting(this.#evaluations.isBegunBy(event));
    }
    this.#handle(type, event, position);
  }

  #placeWaiting(isNew: boolean): void {
    const [first] = this.#waiting;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (isNew && first) this.#evaluations.begin(first.event);
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

  #startEvaluation(event: UnknownRecord, position: EventPosition): void {
    const { current } = this.#evaluations;
    const isResumed = event["isResumed"] === true && current !== null;
    const isFresh = current !== null && current.turn === 0 && !current.isEnded;
    if (!isResumed) {
      const track = isFresh ? current : this.#evaluations.begin(event);
      this.entries.addPosition(track.key, position);
      return;
    }
    current.isEnded = false;
    this.#totals.state = "open";
    this.entries.update(current.key, { status: "open" });
    const title = "Evaluation resumed";
    this.#notes.add(
      { event, position, parent: current.key },
      { kind: "context", title, isHighlight: true },
    );
  }

  #addPrompt(event: UnknownRecord, position: EventPosition): void {
    const track = this.#evaluations.find(event);
    const tools = readRecords(event, "tools").length;
    const hosted = readRecords(event, "hostedTools").length;
    const input = readStringOrNull(event, "input");
    if (input !== null) this.#setInput(track, input, event);
    const size = `${readString(event, "text").length.toLocaleString("en-US")} characters`;
    const text = `${size}, ${tools} local and ${hosted} hosted tools`;
    const parent = track.turn > 0 ? track.currentKey : track.key;
    const title = track.turn > 0 ? "Prompt rendered again" : "Prompt";
    const key = this.#notes.add({ event, position, parent }, { kind: "prompt", title, text });
    this.#totals.prompt ??= { key, text: readString(event, "text").slice(0, MAX_PROMPT) };
  }

  #setInput(track: EvaluationTrack, input: string, event: UnknownRecord): void {
    track.hasInput = true;
    this.entries.update(track.key, { text: toPreview(input) });
    if (event["nested"] !== true) this.#totals.input = input.slice(0, 20_000);
  }

  #openTurn(event: UnknownRecord, position: EventPosition): void {
    const track = this.#evaluations.find(event);
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
    const { turnKey } = this.#evaluations.find(event);
    if (turnKey !== null) this.entries.update(turnKey, { text: "runs in the background" });
  }

  #completeTurn(event: UnknownRecord, position: EventPosition): void {
    const track = this.#evaluations.find(event);
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
    const track = this.#evaluations.current;
    if (!track || track.hasInput || event["nested"] === true || track.turn > 1) return;
    const input = findInput(readRecords(event, "added"));
    if (input !== null) this.#setInput(track, input, event);
  }

  #endCall(event: UnknownRecord, position: EventPosition): void {
    const track = this.#evaluations.find(event);
    const parent = track.turnKey ?? track.key;
    const { key, isFailed } = this.#calls.end(track, event, { parent, position });
    if (!isFailed) return;
    this.#notes.highlight(key);
    // A failed call is rolled back. A session that is not stored has no record of it.
    this.#undoable.undoBelow(key);
  }

  #endEvaluation(event: UnknownRecord, position: EventPosition): void {
    const track = this.#evaluations.find(event);
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
    if (event["nested"] === true) this.#evaluations.endNested(track);
    else this.#totals.end(event, track.citations);
    if (isFailed) this.#notes.highlight(track.key);
  }

  /** Adds the report of what an evaluation has sent, which follows its end. */
  #addEgress(event: UnknownRecord, position: EventPosition): void {
    this.#totals.addEgress(readRecord(event, "egress"));
    const key = this.#evaluations.findEndedKey(event);
    if (key !== undefined) this.entries.addPosition(key, position);
  }

  #addKept(event: UnknownRecord, position: EventPosition): void {
    const { isFirst, changes } = this.#workspaces.keep(readRecord(event, "manifest"));
    const hasChanged = changes.length > 0;
    const title = hasChanged ? "Workspace files changed" : "Workspace files kept";
    const text = isFirst && !hasChanged ? "as they were mounted" : describeChanges(changes);
    const key = this.#notes.add(this.#placeNow(event, position), { kind: "files", title, text });
    this.entries.setFiles(key, changes);
  }

  #addSynced(event: UnknownRecord, position: EventPosition): void {
    const changes = this.#workspaces.sync(event);
    const text = describeSync(event);
    const title = "Files copied back";
    const key = this.#notes.add({ event, position, parent: null }, { kind: "files", title, text });
    this.entries.setFiles(key, changes);
  }

  #addNote(event: UnknownRecord, position: EventPosition): void {
    const description = describeEvent(event);
    const key = this.#notes.add(this.#placeNow(event, position), description);
    if (description.kind === "event") this.#undoable.add(key, position.n);
  }

  #addRollback(record: UnknownRecord, n: number): void {
    const to = readNumber(record, "to") ?? n;
    const names = this.#undoable.undoFrom(to);
    const shown = names.slice(0, 10).join(", ");
    const text = names.length > 0 ? `undone: ${shown}` : `to the state before record ${to}`;
    const place = this.#placeNow(record, { n, index: 0 });
    const title = "State rolled back";
    this.#notes.add(place, { kind: "rollback", title, text, isHighlight: true });
  }

  #addLoaded(record: UnknownRecord, n: number): void {
    const text = Object.keys(readRecord(record, "states")).join(", ");
    const place = this.#placeNow(record, { n, index: 0 });
    this.#notes.add(place, { kind: "event", title: "States loaded", text });
  }

  /** Returns the place of what happens now: below the current entry. */
  #placeNow(event: UnknownRecord, position: EventPosition): EventPlace {
    return { event, position, parent: this.#evaluations.currentKey };
  }
}

/** The beginning of a prompt that the summary has. */
const MAX_PROMPT = 2_000;

/** Published before an evaluation's first turn. */
const WAITING: ReadonlySet<string> = new Set([
  "PromptRendered",
  "HostedToolOmitted",
  "OverrideSkipped",
]);
