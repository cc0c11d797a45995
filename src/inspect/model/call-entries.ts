import { isPlainObject } from "../../base/freeze.ts";
import {
  parseJson,
  readRecord,
  readRecords,
  readString,
  type UnknownRecord,
} from "../../base/json.ts";
import type { Entry } from "../entry.ts";
import type { EntryList, EventPosition } from "./entry-list.ts";
import type { EvaluationTrack, OpenCall } from "./evaluation-track.ts";
import { previewFields, toPreview } from "./preview.ts";
import type { SessionTotals } from "./session-totals.ts";

/** The place of calls that this library runs. */
export const HERE = "here";

/** Maximum number of calls per turn that are listed before they have run. */
const MAX_CALLS = 1_000;

/** Adds calls to a timeline: first the request, then the result. */
export class CallEntries {
  readonly #entries: EntryList;
  readonly #totals: SessionTotals;

  constructor(entries: EntryList, totals: SessionTotals) {
    this.#entries = entries;
    this.#totals = totals;
  }

  /** Adds a completed turn's calls. */
  begin(turnKey: string, event: UnknownRecord, position: EventPosition): OpenCall[] {
    const provider = toPreview(readString(event, "adapter"), 40) || "provider";
    const lists = [
      ...readRecords(event, "hostedCalls").map((call) => ({ call, place: provider })),
      ...readRecords(event, "delegatedCalls").map((call) => ({ call, place: HERE })),
      ...readRecords(event, "toolCalls").map((call) => ({ call, place: HERE })),
    ];
    return lists.slice(0, MAX_CALLS).map(({ call, place }, index) => {
      const title = toPreview(readString(call, "name"), 80) || "call";
      const entry: Entry = {
        ...{ key: `${turnKey}.${index + 1}`, parent: turnKey, kind: "call", type: "ToolInvoked" },
        ...{ title, text: describeParams(call), status: "open", at: null, ms: null, place },
      };
      const key = this.#entries.add(entry, position);
      return { key, callId: readString(call, "callId"), isAnswered: false };
    });
  }

  /** Adds the outcome of a call. */
  end(
    track: EvaluationTrack,
    event: UnknownRecord,
    { parent, position }: { readonly parent: string; readonly position: EventPosition },
  ): { readonly key: string; readonly isFailed: boolean } {
    const result = readRecord(event, "result");
    const isFailed = result["success"] !== true;
    const name = toPreview(readString(event, "name"), 80) || "call";
    const { at, ms } = readSpan(event);
    const place = describePlace(event);
    const text = describeOutcome(event);
    const changes = {
      title: name,
      text,
      status: isFailed ? "failed" : "ok",
      at,
      ms,
      place,
    } as const;
    const key = this.#findOrAdd(track, event, parent, position);
    this.#entries.update(key, changes);
    if (event["nested"] !== true) this.#totals.addCall({ name, isFailed, ms, place });
    return { key, isFailed };
  }

  #findOrAdd(
    track: EvaluationTrack,
    event: UnknownRecord,
    parent: string,
    position: EventPosition,
  ): string {
    const call = track.takeCall(readString(event, "callId"));
    if (call) {
      this.#entries.addPosition(call.key, position);
      return call.key;
    }
    track.calls.push({ key: "", callId: "", isAnswered: true });
    const key = `${parent}.${track.calls.length}`;
    const entry: Entry = {
      ...{ key, parent, kind: "call", type: "ToolInvoked", title: "", text: "" },
      ...{ status: "open", at: null, ms: null },
    };
    return this.#entries.add(entry, position);
  }
}

/** When a local call ran. Only the whole turn of a hosted call is timed. */
function readSpan(event: UnknownRecord): Pick<Entry, "at" | "ms"> {
  const duration = event["durationMs"];
  const end = Date.parse(readString(event, "createdAt"));
  if (typeof duration !== "number" || !(duration >= 0) || Number.isNaN(end)) {
    return { at: null, ms: null };
  }
  return { at: end - duration, ms: duration };
}

function describePlace(event: UnknownRecord): string {
  const origin = readRecord(event, "origin");
  const provider = readString(origin, "provider");
  if (provider === "") return HERE;
  const container = readString(origin, "containerId");
  return toPreview(container === "" ? provider : `${provider} ${container}`, 80);
}

function describeOutcome(event: UnknownRecord): string {
  const message = readString(readRecord(event, "result"), "message");
  if (message === "" || message === "OK") return describeParams(event);
  const params = event["params"];
  const hasCode = isPlainObject(params) && Object.values(params).some(isMultiline);
  return toPreview(hasCode ? message : `${describeParams(event, SHORT_PARAMS)} → ${message}`);
}

/** Whether a param is code, a patch or another text that says little in one line. */
function isMultiline(value: unknown): boolean {
  return typeof value === "string" && value.slice(0, MAX_PARSED).includes("\n");
}

/** Shortens a call's params, which are JSON in a call that has not run. */
function describeParams(call: UnknownRecord, max = MAX_PARAMS): string {
  const text = call["arguments"];
  if (typeof text === "string" && text.length < MAX_PARSED) {
    const parsed = parseJson(text);
    return previewFields(parsed.ok ? parsed.value : text, max);
  }
  const params = call["params"] ?? text;
  const given = isPlainObject(params) && params["rejected"] === true ? params["given"] : params;
  return previewFields(given ?? "", max);
}

const MAX_PARAMS = 140;
/** Length of params before a message. */
const SHORT_PARAMS = 56;
const MAX_PARSED = 100_000;
