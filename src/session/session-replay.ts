import { getErrorMessage, WinkError } from "../base/errors.ts";
import { deepFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames, quoteValue } from "../base/quote-value.ts";
import { warn } from "../base/warn.ts";
import { describeMissingSlices, listLibrarySlices } from "./library-slices.ts";
import {
  digest,
  fingerprintSlices,
  parseCheckpoint,
  restoreCheckpoint,
  type SessionCheckpoint,
  type SessionMark,
  type StoredPosition,
} from "./session-checkpoint.ts";
import {
  findRecordProblem,
  RECORD_VERSIONS,
  type ReducedEvent,
  type SessionRecord,
  type SessionStarted,
} from "./session-record.ts";
import { type SessionStore, SessionStoreError } from "./session-store.ts";
import type { Slice } from "./slice.ts";
import { SliceStates } from "./slice-states.ts";
import type { Snapshot } from "./snapshot.ts";
import { SnapshotRestoreError } from "./snapshot-errors.ts";

/** A session restored from its records. */
export interface ReplayedSession extends StoredPosition {
  readonly header: SessionStarted;
  readonly states: SliceStates;
  /** Ids of the slices that the records add. */
  readonly sliceIds: ReadonlySet<string>;
}

/**
 * Restores a stored session by replaying its records into new slice states. Starts from the session's
 * checkpoint if that is one of these records and slices.
 */
export async function replaySession(
  store: SessionStore,
  id: string,
  slices: readonly Slice[],
): Promise<ReplayedSession> {
  const known = indexSlices([...new Set([...slices, ...listLibrarySlices()])]);
  const checkpoint = await readCheckpoint(store, id, known);
  const shortcut = checkpoint && (await replayFrom(checkpoint, store, id, known));
  return shortcut ?? (await replayAll(store, id, known));
}

async function replayAll(
  store: SessionStore,
  id: string,
  known: ReadonlyMap<string, Slice>,
): Promise<ReplayedSession> {
  const records = await readRecords(store, id, 0);
  const [header] = records;
  const last = records.at(-1);
  if (header?.kind !== "session" || !last) {
    const remedy =
      "Create it with new Session({ store, id }), or call store.list() to see the stored sessions.";
    throw new SessionStoreError(`There is no session "${id}" in the store. ${remedy}`, {
      sessionId: id,
    });
  }
  if (header.id !== id) {
    const problem = `The store returned session "${header.id}" for the id "${id}"`;
    const remedy = "The records were moved; move them back.";
    throw new SessionStoreError(`${problem}. ${remedy}`, { sessionId: id });
  }
  const replay = new Replay(id, known, { states: new SliceStates(), mark: null });
  replay.applyAll(records);
  const { states, mark } = replay;
  return { header, states, last, sliceIds: listSliceIds(records), mark, checkpointAt: 0 };
}

/** Returns the session's checkpoint, or `null` if it cannot be used. A checkpoint is never needed. */
async function readCheckpoint(
  store: SessionStore,
  id: string,
  known: ReadonlyMap<string, Slice>,
): Promise<SessionCheckpoint | null> {
  try {
    const stored = (await store.readCheckpoint?.(id)) ?? null;
    if (stored === null) return null;
    const checkpoint = parseCheckpoint(stored, id);
    if (typeof checkpoint === "string") throw new WinkError(checkpoint);
    const slices = checkpoint.slices.flatMap((one) => known.get(one) ?? []);
    const isSame = (await fingerprintSlices(slices)) === checkpoint.fingerprint;
    return isSame ? checkpoint : null;
  } catch (error) {
    warnAboutCheckpoint(id, error);
    return null;
  }
}

/** Replays the records after a checkpoint. Returns `null` if all records are needed. */
async function replayFrom(
  checkpoint: SessionCheckpoint,
  store: SessionStore,
  id: string,
  known: ReadonlyMap<string, Slice>,
): Promise<ReplayedSession | null> {
  const { header, records: count, slices } = checkpoint;
  let records: readonly SessionRecord[];
  try {
    records = await readRecords(store, id, count - 1);
  } catch {
    return null; // reading all records reports the error
  }
  try {
    const [covered, ...others] = records;
    if (!covered || (await digest(JSON.stringify(covered))) !== checkpoint.last) {
      throw new WinkError("the session's records are not those that it was made from");
    }
    const isBefore = (record: SessionRecord) => record.kind === "restored" && record.to < count;
    if (others.some(isBefore)) return null;
    const replay = new Replay(id, known, restoreCheckpoint(checkpoint, known));
    replay.applyAll(others);
    const { states, mark } = replay;
    const sliceIds = new Set([...slices, ...listSliceIds(others)]);
    return { header, states, last: others.at(-1) ?? covered, sliceIds, mark, checkpointAt: count };
  } catch (error) {
    warnAboutCheckpoint(id, error);
    return null;
  }
}

function warnAboutCheckpoint(id: string, error: unknown): void {
  warn(`The checkpoint of session "${id}" is not used, and all of its records are read`, error);
}

function listSliceIds(records: readonly SessionRecord[]): ReadonlySet<string> {
  return new Set(records.flatMap((record) => (record.kind === "slice" ? [record.id] : [])));
}

/** Reads the records from a number on. A store may return earlier ones too. */
async function readRecords(
  store: SessionStore,
  id: string,
  from: number,
): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  try {
    for await (const record of from === 0 ? store.read(id) : store.read(id, { from })) {
      const n = from + records.length;
      if (n === 0) checkRecordVersion(record, id);
      else if (records.length === 0 && "n" in record && Number(record.n) < from) continue;
      const problem = findRecordProblem(record, n);
      if (problem !== null) throw createRecordError(id, n, problem);
      records.push(record as SessionRecord);
    }
  } catch (error) {
    if (error instanceof WinkError) throw error;
    const message = `The store could not read session "${id}": ${getErrorMessage(error)}`;
    throw new SessionStoreError(`${message}. Fix the store, then open the session again.`, {
      sessionId: id,
      cause: error,
    });
  }
  return records;
}

/** Checks the version first, because records of a different version may have any form. */
function checkRecordVersion(record: object, id: string): void {
  if (!isPlainObject(record) || record["kind"] !== "session") return;
  const version = record["version"];
  if (RECORD_VERSIONS.some((known) => known === version)) return;
  const remedy = "Open it with the release that wrote it.";
  throw new SnapshotRestoreError(
    `Session "${id}" was stored with record version ${quoteValue(version)}, but this release reads versions ${RECORD_VERSIONS.join(" and ")}. ${remedy}`,
  );
}

function createRecordError(id: string, n: number, problem: string): SessionStoreError {
  const remedy = "The records were changed or mixed with others; restore an older copy of them.";
  return new SessionStoreError(`Record ${n} of session "${id}" is invalid: ${problem}. ${remedy}`, {
    sessionId: id,
  });
}

function indexSlices(slices: readonly Slice[]): ReadonlyMap<string, Slice> {
  const all = new SliceStates(); // throws for duplicate ids
  for (const slice of slices) all.add(slice);
  return new Map(slices.map((slice) => [slice.id, slice]));
}

class Replay {
  readonly states: SliceStates;
  mark: SessionMark | null;
  readonly #id: string;
  readonly #slices: ReadonlyMap<string, Slice>;
  /** Number of the last record that restores each snapshot. The snapshot is kept until then. */
  readonly #neededUntil = new Map<number, number>();
  readonly #snapshots = new Map<number, Snapshot["states"]>();
  /** The first failure of each slice whose reducer accepted an event originally but fails now. */
  readonly #failures = new Map<string, Error>();

  constructor(
    id: string,
    slices: ReadonlyMap<string, Slice>,
    { states, mark }: { readonly states: SliceStates; readonly mark: SessionMark | null },
  ) {
    this.#id = id;
    this.#slices = slices;
    this.states = states;
    this.mark = mark;
  }

  applyAll(records: readonly SessionRecord[]): void {
    for (const record of records) {
      if (record.kind === "restored") this.#neededUntil.set(record.to, record.n);
    }
    this.#checkSlices(records);
    for (const record of records) this.#apply(record);
    this.#warnAboutFailures();
  }

  #apply(record: SessionRecord): void {
    if (this.#neededUntil.has(record.n)) this.#snapshots.set(record.n, this.states.snapshot());
    if (record.kind === "slice") this.#add(record.id);
    else if (record.kind === "event") this.#reduceAll([record], record.n);
    else if (record.kind === "events") this.#reduceAll(record.events, record.n);
    else if (record.kind === "loaded") this.states.load(record.states);
    else if (record.kind === "restored") this.#restore(record.to, record.n);
  }

  #warnAboutFailures(): void {
    for (const [sliceId, error] of this.#failures) {
      const what = `Slice "${sliceId}" of session "${this.#id}" failed on an event that it accepted before`;
      warn(`${what} and skipped it`, error);
    }
  }

  #add(id: string): void {
    const slice = this.#slices.get(id);
    if (slice) this.states.add(slice);
  }

  /** Reduces the events of one record. A mark includes all of them. */
  #reduceAll(events: readonly ReducedEvent[], n: number): void {
    const marked = events.filter((one) => this.#reduce(one));
    if (marked.length > 0) this.mark = { states: this.states.snapshot(), position: n + 1 };
  }

  /** Returns whether a slice with `marks` changed. */
  #reduce({ event, failed }: ReducedEvent): boolean {
    const { failures, marked } = this.states.reduce(deepFreeze(event), failed);
    for (const { sliceId, message } of failures) {
      const failure = new Error(`${event.type}: ${message}`);
      if (!this.#failures.has(sliceId)) this.#failures.set(sliceId, failure);
    }
    return marked;
  }

  #restore(to: number, n: number): void {
    const then = this.#snapshots.get(to);
    if (then) this.states.apply(this.states.findChanges(then));
    if (this.#neededUntil.get(to) === n) this.#snapshots.delete(to);
  }

  #checkSlices(records: readonly SessionRecord[]): void {
    const stored = records.filter((record) => record.kind === "slice");
    const unknown = stored.filter(({ id }) => !this.#slices.has(id)).map(({ id }) => id);
    if (unknown.length > 0) {
      const what = `Session "${this.#id}" was stored with the slices ${quoteNames(unknown)}`;
      const remedy = `Pass them to Session.open.${describeMissingSlices(unknown)}`;
      throw new SnapshotRestoreError(`${what}, which were not passed. ${remedy}`);
    }
    for (const { id, policy } of stored) {
      const now = this.#slices.get(id)?.policy;
      if (now === policy) continue;
      const what = `Slice "${id}" was stored with the policy "${policy}" but now has "${now}"`;
      throw new SnapshotRestoreError(`${what}. Restore its policy, or use a new slice id.`);
    }
  }
}
