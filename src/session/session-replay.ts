import { getErrorMessage, WinkError } from "../base/errors.ts";
import { deepFreeze, isPlainObject } from "../base/freeze.ts";
import { quoteNames, quoteValue } from "../base/quote-value.ts";
import { warn } from "../base/warn.ts";
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
import { type Snapshot, SnapshotRestoreError } from "./snapshot.ts";

/** A session restored from its records. */
export interface ReplayedSession {
  readonly header: SessionStarted;
  readonly states: SliceStates;
  /** Number of records. */
  readonly recordCount: number;
}

/** Restores a stored session by replaying its records into new slice states. */
export async function replaySession(
  store: SessionStore,
  id: string,
  slices: readonly Slice[],
): Promise<ReplayedSession> {
  const records = await readRecords(store, id);
  const [header] = records;
  if (header?.kind !== "session") {
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
  const replay = new Replay(id, indexSlices(slices), records);
  for (const record of records) replay.apply(record);
  replay.warnAboutFailures();
  return { header, states: replay.states, recordCount: records.length };
}

async function readRecords(store: SessionStore, id: string): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  try {
    for await (const record of store.read(id)) {
      const n = records.length;
      if (n === 0) checkRecordVersion(record, id);
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
  readonly states = new SliceStates();
  readonly #id: string;
  readonly #slices: ReadonlyMap<string, Slice>;
  /** Number of the last record that restores each snapshot. The snapshot is kept until then. */
  readonly #neededUntil = new Map<number, number>();
  readonly #snapshots = new Map<number, Snapshot["states"]>();
  /** The first failure of each slice whose reducer accepted an event originally but fails now. */
  readonly #failures = new Map<string, Error>();

  constructor(id: string, slices: ReadonlyMap<string, Slice>, records: readonly SessionRecord[]) {
    this.#id = id;
    this.#slices = slices;
    for (const record of records) {
      if (record.kind === "restored") this.#neededUntil.set(record.to, record.n);
    }
    this.#checkSlices(records);
  }

  apply(record: SessionRecord): void {
    if (this.#neededUntil.has(record.n)) this.#snapshots.set(record.n, this.states.snapshot());
    if (record.kind === "slice") this.#add(record.id);
    else if (record.kind === "event") this.#reduce(record);
    else if (record.kind === "events") for (const one of record.events) this.#reduce(one);
    else if (record.kind === "loaded") this.states.load(record.states);
    else if (record.kind === "restored") this.#restore(record.to, record.n);
  }

  warnAboutFailures(): void {
    for (const [sliceId, error] of this.#failures) {
      const what = `Slice "${sliceId}" of session "${this.#id}" failed on an event that it accepted before`;
      warn(`${what} and skipped it`, error);
    }
  }

  #add(id: string): void {
    const slice = this.#slices.get(id);
    if (slice) this.states.add(slice);
  }

  #reduce({ event, failed }: ReducedEvent): void {
    const { failures } = this.states.reduce(deepFreeze(event), failed);
    for (const { sliceId, message } of failures) {
      const failure = new Error(`${event.type}: ${message}`);
      if (!this.#failures.has(sliceId)) this.#failures.set(sliceId, failure);
    }
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
      throw new SnapshotRestoreError(`${what}, which were not passed. Pass them to Session.open.`);
    }
    for (const { id, policy } of stored) {
      const now = this.#slices.get(id)?.policy;
      if (now === policy) continue;
      const what = `Slice "${id}" was stored with the policy "${policy}" but now has "${now}"`;
      throw new SnapshotRestoreError(`${what}. Restore its policy, or use a new slice id.`);
    }
  }
}
