import { messageOf, WinkError } from "../base/errors.ts";
import { deepFreeze, isPlainObject } from "../base/freeze.ts";
import { list, show } from "../base/show.ts";
import { warn } from "../base/warn.ts";
import {
  type EventReduced,
  RECORD_VERSION,
  recordProblem,
  type SessionBegun,
  type SessionRecord,
} from "./session-record.ts";
import { type SessionStore, SessionStoreError } from "./session-store.ts";
import type { Slice } from "./slice.ts";
import { SliceStates } from "./slice-states.ts";
import { type Snapshot, SnapshotRestoreError } from "./snapshot.ts";

/** A session as its records tell it. */
export interface ReplayedSession {
  readonly header: SessionBegun;
  readonly states: SliceStates;
  /** How many records there were. */
  readonly known: number;
}

/** Does to fresh slices what the records say was done to the stored ones. */
export async function replaySession(
  store: SessionStore,
  id: string,
  slices: readonly Slice[],
): Promise<ReplayedSession> {
  const records = await recordsOf(store, id);
  const [header] = records;
  if (header?.kind !== "session") {
    const remedy =
      "make it with new Session({ store, id }), or see store.list() for those there are";
    throw new SessionStoreError(`There is no session "${id}" in the store: ${remedy}`, {
      sessionId: id,
    });
  }
  if (header.id !== id) {
    const remedy = "its records were moved there; move them back";
    const found = `What the store has as session "${id}" is session "${header.id}"`;
    throw new SessionStoreError(`${found}: ${remedy}`, { sessionId: id });
  }
  const replay = new Replay(id, slicesById(slices), records);
  for (const record of records) replay.apply(record);
  replay.warnOfFailures();
  return { header, states: replay.states, known: records.length };
}

async function recordsOf(store: SessionStore, id: string): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = [];
  try {
    for await (const record of store.read(id)) {
      const n = records.length;
      if (n === 0) refuseOtherVersion(record, id);
      const problem = recordProblem(record, n);
      if (problem !== null) throw misfit(id, n, problem);
      records.push(record as SessionRecord);
    }
  } catch (error) {
    if (error instanceof WinkError) throw error;
    const message = `The store could not read session "${id}": ${messageOf(error)}`;
    throw new SessionStoreError(`${message}: see to the store, then open the session again`, {
      sessionId: id,
      cause: error,
    });
  }
  return records;
}

/** Asked first of all: the records of another version may have any form. */
function refuseOtherVersion(record: object, id: string): void {
  if (!isPlainObject(record) || record["kind"] !== "session") return;
  const version = record["version"];
  if (version === RECORD_VERSION) return;
  const remedy = "open it with the release that wrote it";
  throw new SnapshotRestoreError(
    `Session "${id}" was stored in version ${show(version)} of the records, and this is version ${RECORD_VERSION}: ${remedy}`,
  );
}

function misfit(id: string, n: number, problem: string): SessionStoreError {
  const remedy = "the records were changed or mixed with others; put back an older copy of them";
  return new SessionStoreError(
    `Record ${n} of session "${id}" does not fit, ${problem}: ${remedy}`,
    {
      sessionId: id,
    },
  );
}

function slicesById(slices: readonly Slice[]): ReadonlyMap<string, Slice> {
  const all = new SliceStates(); // refuses namesakes
  for (const slice of slices) all.add(slice);
  return new Map(slices.map((slice) => [slice.id, slice]));
}

class Replay {
  readonly states = new SliceStates();
  readonly #id: string;
  readonly #slices: ReadonlyMap<string, Slice>;
  /** The number of the last record that returns to each moment: until then it is remembered. */
  readonly #neededUntil = new Map<number, number>();
  readonly #moments = new Map<number, Snapshot["states"]>();
  /** Reducers that took an event when it happened and fail on it now: the first of each slice. */
  readonly #failures = new Map<string, Error>();

  constructor(id: string, slices: ReadonlyMap<string, Slice>, records: readonly SessionRecord[]) {
    this.#id = id;
    this.#slices = slices;
    for (const record of records) {
      if (record.kind === "restored") this.#neededUntil.set(record.to, record.n);
    }
    this.#refuseUnknown(records);
  }

  apply(record: SessionRecord): void {
    if (this.#neededUntil.has(record.n)) this.#moments.set(record.n, this.states.snapshot());
    if (record.kind === "slice") this.#add(record.id);
    else if (record.kind === "event") this.#reduce(record);
    else if (record.kind === "loaded") this.states.load(record.states);
    else if (record.kind === "restored") this.#return(record.to, record.n);
  }

  warnOfFailures(): void {
    for (const [sliceId, error] of this.#failures) {
      const what = `Slice "${sliceId}" of session "${this.#id}" failed on an event it took before`;
      warn(`${what}, and stays as it was without it`, error);
    }
  }

  #add(id: string): void {
    const slice = this.#slices.get(id);
    if (slice) this.states.add(slice);
  }

  #reduce({ event, failed }: EventReduced): void {
    const { failures } = this.states.reduce(deepFreeze(event), failed);
    for (const { sliceId, message } of failures) {
      const failure = new Error(`${event.type}: ${message}`);
      if (!this.#failures.has(sliceId)) this.#failures.set(sliceId, failure);
    }
  }

  #return(to: number, n: number): void {
    const then = this.#moments.get(to);
    if (then) this.states.apply(this.states.changesTo(then));
    if (this.#neededUntil.get(to) === n) this.#moments.delete(to);
  }

  #refuseUnknown(records: readonly SessionRecord[]): void {
    const stored = records.filter((record) => record.kind === "slice");
    const unknown = stored.filter(({ id }) => !this.#slices.has(id)).map(({ id }) => id);
    if (unknown.length > 0) {
      const what = `Session "${this.#id}" was stored with the slices ${list(unknown)}`;
      throw new SnapshotRestoreError(`${what}, which are not given: pass them to Session.open`);
    }
    for (const { id, policy } of stored) {
      const now = this.#slices.get(id)?.policy;
      if (now === policy) continue;
      const what = `Slice "${id}" was stored as a "${policy}" slice and is a "${now}" slice now`;
      throw new SnapshotRestoreError(`${what}: set its policy back, or give the slice a new id`);
    }
  }
}
