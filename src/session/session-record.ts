import { isPlainObject } from "../base/freeze.ts";
import { quoteValue } from "../base/quote-value.ts";
import type { BusEvent } from "./event-map.ts";
import type { SlicePolicy } from "./slice.ts";

/** One record of a stored session. */
export type SessionRecord = Numbered<RecordContent>;

/** A record with its number. Numbers start at 0 and are consecutive. */
export type Numbered<Content> = Content & { readonly n: number };

/** The content of any record. */
export type RecordContent =
  | SessionStarted
  | SliceAdded
  | EventReduced
  | EventsReduced
  | StateRestored
  | StatesLoaded;

/** Starts a session. Always the first record. */
export interface SessionStarted {
  readonly kind: "session";
  readonly version: (typeof RECORD_VERSIONS)[number];
  readonly id: string;
  /** When the session was created, in ISO 8601. */
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** A slice was registered. Later events change it. */
export interface SliceAdded {
  readonly kind: "slice";
  readonly id: string;
  readonly policy: SlicePolicy;
}

/** An event and how the slices reduced it. */
export interface ReducedEvent {
  readonly event: BusEvent;
  /** Slices that kept their state because their reducers failed. */
  readonly failed?: readonly string[];
}

/** An event changed at least one slice. */
export interface EventReduced extends ReducedEvent {
  readonly kind: "event";
}

/** Several events were dispatched together. One record, so a crash cannot separate them. */
export interface EventsReduced {
  readonly kind: "events";
  readonly events: readonly ReducedEvent[];
}

/** The `"state"` slices were restored to their state before record `to`. */
export interface StateRestored {
  readonly kind: "restored";
  readonly to: number;
}

/** States from outside the session, by slice id. */
export interface StatesLoaded {
  readonly kind: "loaded";
  readonly states: Readonly<Record<string, unknown>>;
}

/** Versions of the records that this release reads. Version 2 added `"events"` records. */
export const RECORD_VERSIONS = [1, 2] as const;

/** Version of the records that this release writes. */
export const RECORD_VERSION = 2;

/** Returns the content of the first record. */
export function createHeader({
  id,
  createdAt,
  tags,
}: Pick<SessionStarted, "id" | "createdAt" | "tags">): SessionStarted {
  return { kind: "session", version: RECORD_VERSION, id, createdAt, tags };
}

/** Describes why `record` is not a valid record with number `n`. Returns `null` if it is valid. */
export function findRecordProblem(record: unknown, n: number): string | null {
  if (!isPlainObject(record)) return `it is ${quoteValue(record)}`;
  if (record["n"] !== n) return `its number is ${quoteValue(record["n"])}`;
  const kind = record["kind"];
  if ((kind === "session") !== (n === 0)) return `its kind is ${quoteValue(kind)}`;
  const fits = typeof kind === "string" ? VALIDATORS.get(kind) : undefined;
  if (!fits) return `its kind is ${quoteValue(kind)}`;
  return fits(record) ? null : `it is not a complete ${quoteValue(kind)} record`;
}

type Fields = Readonly<Record<string, unknown>>;

const VALIDATORS: ReadonlyMap<string, (record: Fields) => boolean> = new Map([
  ["session", isHeader],
  ["slice", isSlice],
  ["event", isEvent],
  ["events", isEvents],
  ["restored", isRestored],
  ["loaded", (record: Fields) => isPlainObject(record["states"])],
]);

function isHeader({ version, id, createdAt, tags }: Fields): boolean {
  return (
    RECORD_VERSIONS.some((known) => known === version) &&
    typeof id === "string" &&
    typeof createdAt === "string" &&
    !Number.isNaN(Date.parse(createdAt)) &&
    isPlainObject(tags) &&
    Object.values(tags).every((tag) => typeof tag === "string")
  );
}

function isSlice({ id, policy }: Fields): boolean {
  return typeof id === "string" && (policy === "state" || policy === "log");
}

function isEvent({ event, failed }: Fields): boolean {
  return (
    isPlainObject(event) &&
    typeof event["type"] === "string" &&
    (failed === undefined ||
      (Array.isArray(failed) && failed.every((id) => typeof id === "string")))
  );
}

function isEvents({ events }: Fields): boolean {
  return Array.isArray(events) && events.every((entry) => isPlainObject(entry) && isEvent(entry));
}

function isRestored({ n, to }: Fields): boolean {
  return Number.isSafeInteger(to) && Number(to) >= 1 && Number(to) <= Number(n);
}
