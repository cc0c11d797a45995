import { isPlainObject } from "../base/freeze.ts";
import { show } from "../base/show.ts";
import type { BusEvent } from "./event-map.ts";
import type { SlicePolicy } from "./slice.ts";

/** What a store keeps of a session, one after the other. */
export type SessionRecord = Numbered<RecordContent>;

/** A record with its place: 0 is the first, and none is missing or there twice. */
export type Numbered<Content> = Content & { readonly n: number };

export type RecordContent = SessionBegun | SliceAdded | EventReduced | StateRestored | StatesLoaded;

/** Always the first one. */
export interface SessionBegun {
  readonly kind: "session";
  readonly version: 1;
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** A slice was registered: events from here on change it. */
export interface SliceAdded {
  readonly kind: "slice";
  readonly id: string;
  readonly policy: SlicePolicy;
}

/** An event changed at least one slice. */
export interface EventReduced {
  readonly kind: "event";
  readonly event: BusEvent;
  /** Slices that stayed as they were because their reducers failed. */
  readonly failed?: readonly string[];
}

/** The `"state"` slices returned to how they were before record `to`. */
export interface StateRestored {
  readonly kind: "restored";
  readonly to: number;
}

/** States that came from outside the session, by slice id. */
export interface StatesLoaded {
  readonly kind: "loaded";
  readonly states: Readonly<Record<string, unknown>>;
}

/** The version of the records that this code writes and reads. */
export const RECORD_VERSION = 1;

/** Why `record` cannot be a session's record number `n`; `null` if it can. */
export function recordProblem(record: unknown, n: number): string | null {
  if (!isPlainObject(record)) return `it is ${show(record)}`;
  if (record["n"] !== n) return `it has the number ${show(record["n"])}`;
  const kind = record["kind"];
  if ((kind === "session") !== (n === 0)) return `it is of the kind ${show(kind)}`;
  const fits = typeof kind === "string" ? FITS.get(kind) : undefined;
  if (!fits) return `it is of the kind ${show(kind)}`;
  return fits(record) ? null : `it is not a whole record of the kind ${show(kind)}`;
}

type Fields = Readonly<Record<string, unknown>>;

const FITS: ReadonlyMap<string, (record: Fields) => boolean> = new Map([
  ["session", isHeader],
  ["slice", isSlice],
  ["event", isEvent],
  ["restored", isRestored],
  ["loaded", (record: Fields) => isPlainObject(record["states"])],
]);

function isHeader({ version, id, createdAt, tags }: Fields): boolean {
  return (
    version === RECORD_VERSION &&
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

function isRestored({ n, to }: Fields): boolean {
  return Number.isSafeInteger(to) && Number(to) >= 1 && Number(to) <= Number(n);
}
