import {
  readNumber,
  readRecords,
  readString,
  readStrings,
  type UnknownRecord,
} from "../../base/json.ts";
import type { Entry, EntryKind, EntryStatus } from "../entry.ts";
import { previewFields, previewValue, toPreview } from "./preview.ts";

/** How an event that is neither a turn nor a call appears in the timeline. */
export interface EventDescription {
  readonly kind: EntryKind;
  readonly title: string;
  readonly text: string;
  readonly status: EntryStatus;
  /** Whether a reader of the session should not miss it. */
  readonly isHighlight: boolean;
}

/** Describes an event of the library, or one of the application, for the timeline. */
export function describeEvent(event: UnknownRecord): EventDescription {
  const type = readString(event, "type");
  const describe = Object.hasOwn(DESCRIPTIONS, type) ? DESCRIPTIONS[type] : undefined;
  if (describe) return describe(event);
  return describeAs("event", toPreview(type, 80), previewFields(omitStamp(event)));
}

/** Returns the fields of an event that an application has chosen, without the fields that every event has. */
export function omitStamp(event: UnknownRecord): UnknownRecord {
  const own = Object.entries(event).filter(([name]) => !STAMP.has(name));
  return Object.fromEntries(own);
}

const STAMP: ReadonlySet<string> = new Set([
  "type",
  "sessionId",
  "promptName",
  "adapter",
  "createdAt",
  "nested",
]);

type Describe = (event: UnknownRecord) => EventDescription;

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  HostedToolOmitted: (event) =>
    note("context", `Tool omitted: ${short(event, "name")}`, text(event, "reason")),
  McpToolOmitted: (event) =>
    note("context", `MCP tool omitted: ${short(event, "tool")}`, text(event, "reason")),
  McpRefreshFailed: (event) =>
    fail("context", `MCP server failed: ${short(event, "server")}`, text(event, "reason")),
  OverrideSkipped: (event) =>
    note("prompt", `Override skipped: ${short(event, "of")}`, text(event, "reason")),
  VisibilityChanged: (event) =>
    describeAs("prompt", describeVisibility(event), text(event, "path")),
  HistoryRepaired: (event) => highlight("context", "Conversation repaired", describeRepair(event)),
  ContainerReplaced: (event) =>
    highlight(
      "context",
      "Container lost and replaced",
      `${text(event, "containerId")} → ${text(event, "replacedBy")}, ${formatField(event, "restored")} files restored. ${text(event, "reason")}`,
    ),
  UnpackingFailed: (event) => note("files", "Files uploaded one by one", text(event, "reason")),
  DataHeld: (event) =>
    highlight(
      "context",
      "Container retains data",
      `${text(event, "containerId")} until ${text(event, "until")}`,
    ),
  DataReleased: (event) =>
    describeAs("context", "Container with data deleted", text(event, "containerId")),
  ContextCompacted: (event) =>
    highlight("context", "Conversation compacted", describeCompaction(event)),
  CompactionKept: (event) =>
    describeAs(
      "context",
      "Compacted conversation stored",
      `${formatField(event, "tokens")} tokens before, for ${text(event, "model")}`,
    ),
  CompactionMeasured: (event) =>
    describeAs(
      "context",
      "Compaction measured",
      `next at ${formatField(event, "nextAtTokens")} tokens`,
    ),
  CompactionDiscarded: (event) =>
    highlight("context", "Compacted conversation discarded", text(event, "reason")),
  CompactionFailed: (event) => fail("context", "Compaction failed", text(event, "reason")),
  TurnResubmitted: (event) =>
    highlight(
      "context",
      "Turn sent again",
      `the provider no longer has ${text(event, "responseId")}`,
    ),
  ReducerFailed: (event) =>
    fail(
      "event",
      `Reducer failed: ${short(event, "sliceId")}`,
      `${text(event, "eventType")}: ${text(event, "message")}`,
    ),
  SessionStoringFailed: (event) =>
    fail("event", "Session no longer stored", text(event, "message")),
};

function describeAs(
  kind: EntryKind,
  title: string,
  details: string,
  status: Entry["status"] = "none",
  isHighlight = false,
): EventDescription {
  return { kind, title, text: toPreview(details), status, isHighlight };
}

const note = (kind: EntryKind, title: string, details: string) =>
  describeAs(kind, title, details, "none", true);
const highlight = note;
const fail = (kind: EntryKind, title: string, details: string) =>
  describeAs(kind, title, details, "failed", true);

function short(event: UnknownRecord, key: string): string {
  return toPreview(readString(event, key), 60);
}

function text(event: UnknownRecord, key: string): string {
  return previewValue(event[key] ?? "");
}

function formatField(event: UnknownRecord, key: string): string {
  return (readNumber(event, key) ?? 0).toLocaleString("en-US");
}

function describeVisibility(event: UnknownRecord): string {
  const visibility = event["visibility"];
  if (visibility === "full") return "Section opened";
  return visibility === "summary" ? "Section closed" : "Section reset";
}

function describeRepair(event: UnknownRecord): string {
  const dropped = readRecords(event, "dropped").map((item) => readString(item, "type"));
  const what = dropped.length > 0 ? ` Dropped: ${dropped.slice(0, 8).join(", ")}` : "";
  return `${text(event, "reason")}.${what}`;
}

function describeCompaction(event: UnknownRecord): string {
  const after = readNumber(event, "tokensAfter");
  const tokens = `${formatField(event, "tokensBefore")} → ${after === null ? "?" : formatField(event, "tokensAfter")} tokens`;
  return `${tokens}, by ${text(event, "strategy")}`;
}

/** Describes the files of a `WorkspaceSynced`. */
export function describeSync(event: UnknownRecord): string {
  const sizes = (["added", "changed", "deleted"] as const)
    .map((key) => `${readStrings(event, key).length} ${key}`)
    .join(", ");
  const problems = readRecords(event, "failed").length + readRecords(event, "conflicts").length;
  return `${sizes}${problems > 0 ? `, ${problems} not copied` : ""}, to ${text(event, "directory")}`;
}
