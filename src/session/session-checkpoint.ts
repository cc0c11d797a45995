import { isPlainObject } from "../base/freeze.ts";
import { findJsonProblem } from "../base/json.ts";
import { VERSION } from "../base/version.ts";
import { findRecordProblem, type SessionRecord, type SessionStarted } from "./session-record.ts";
import type { Slice, StateChange } from "./slice.ts";
import { SliceStates } from "./slice-states.ts";

/** A state that the session can be restored to. */
export interface SessionMark {
  readonly states: ReadonlyMap<string, StateChange>;
  /** Number of the record after it. */
  readonly position: number;
}

/** The position of a session in its store. */
export interface StoredPosition {
  /** The last record. */
  readonly last: SessionRecord;
  /** The state after the last record that changed a slice with `marks`; `null` if there is none. */
  readonly mark: SessionMark | null;
  /** Number of records before the checkpoint that was used; 0 without one. */
  readonly checkpointAt: number;
}

/** The states of a session after some of its records. */
export interface CheckpointContent {
  readonly header: SessionStarted;
  /** The last record that the states include. */
  readonly last: SessionRecord;
  readonly states: SliceStates;
  readonly mark: SessionMark | null;
}

/**
 * A stored checkpoint: a cache, which is used only if it belongs to the same records and the same slices.
 */
export interface SessionCheckpoint {
  readonly version: typeof CHECKPOINT_VERSION;
  /** Number of records that the states include. */
  readonly records: number;
  readonly header: SessionStarted;
  /** Digest of the last of these records. */
  readonly last: string;
  readonly slices: readonly string[];
  /** Digest of what the slices do with events. */
  readonly fingerprint: string;
  /** States by slice id. */
  readonly states: Readonly<Record<string, unknown>>;
  /** The mark, with the states that differ; `null` if the session has none. */
  readonly mark: {
    readonly position: number;
    readonly states: Readonly<Record<string, unknown>>;
  } | null;
}

/** Returns a checkpoint to store, or `null` if a slice or its state cannot be stored. */
export async function createCheckpoint(
  content: CheckpointContent,
): Promise<SessionCheckpoint | null> {
  const { header, last, states, mark } = content;
  const slices = states.list();
  const entries = states.entries();
  const marked = mark && { position: mark.position, states: readDifferences(states, mark) };
  const fingerprint = await fingerprintSlices(slices);
  if (fingerprint === null || findJsonProblem([entries, marked]) !== null) return null;
  return {
    version: CHECKPOINT_VERSION,
    records: last.n + 1,
    header,
    last: await digest(JSON.stringify(last)),
    slices: slices.map(({ id }) => id),
    fingerprint,
    states: Object.fromEntries(entries),
    mark: marked,
  };
}

/** Returns a parsed checkpoint, or the reason why it is not one of this session. */
export function parseCheckpoint(value: unknown, id: string): SessionCheckpoint | string {
  if (!isPlainObject(value)) return "it is not an object";
  if (value["version"] !== CHECKPOINT_VERSION) return "another release of this package wrote it";
  const { header, records, last, slices, fingerprint, states, mark } = value;
  const isHeader = isPlainObject(header) && findRecordProblem({ ...header, n: 0 }, 0) === null;
  if (!isHeader || header["id"] !== id) return "it is of another session";
  const isComplete =
    Number.isSafeInteger(records) &&
    Number(records) > 0 &&
    typeof last === "string" &&
    Array.isArray(slices) &&
    slices.every((one) => typeof one === "string") &&
    typeof fingerprint === "string" &&
    isPlainObject(states) &&
    isMark(mark);
  return isComplete ? (value as unknown as SessionCheckpoint) : "it is not complete";
}

/** Restores the states of a checkpoint. Throws `SnapshotRestoreError` if a slice refuses its state. */
export function restoreCheckpoint(
  { slices, states: stored, mark: marked }: SessionCheckpoint,
  known: ReadonlyMap<string, Slice>,
): { readonly states: SliceStates; readonly mark: SessionMark | null } {
  const states = new SliceStates();
  for (const id of slices) {
    const slice = known.get(id);
    if (slice) states.add(slice);
  }
  states.load(stored);
  if (!marked) return { states, mark: null };
  const current = states.snapshot();
  states.load(marked.states);
  const mark = { position: marked.position, states: states.snapshot() };
  states.apply([...current.values()]);
  return { states, mark };
}

/** Returns a digest that differs if slices would reduce the same events to other states; `null` if unknown. */
export async function fingerprintSlices(slices: readonly Slice[]): Promise<string | null> {
  try {
    const described = slices.map(({ id, policy, describe }) => [id, policy, describe?.() ?? null]);
    if (described.some(([, , text]) => text === null)) return null;
    return await digest(JSON.stringify([VERSION, described]));
  } catch {
    return null; // a slice starts with something that is not JSON
  }
}

/** Returns a digest of a text. */
export async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const CHECKPOINT_VERSION = 1;

/** Reads the states of a mark that differ from the current ones. */
function readDifferences(states: SliceStates, mark: SessionMark): Record<string, unknown> {
  const changes = states.findChanges(mark.states);
  return Object.fromEntries(changes.map(({ slice, now }) => [slice.id, slice.read(now)]));
}

function isMark(mark: unknown): boolean {
  if (mark === null) return true;
  return (
    isPlainObject(mark) && Number.isSafeInteger(mark["position"]) && isPlainObject(mark["states"])
  );
}
