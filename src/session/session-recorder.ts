import { systemClock } from "../base/clock.ts";
import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { findJsonProblem } from "../base/json.ts";
import { warn } from "../base/warn.ts";
import type { BusEvent } from "./event-map.ts";
import {
  createHeader,
  type RecordContent,
  type ReducedEvent,
  type SessionRecord,
} from "./session-record.ts";
import {
  hasRecords,
  type SessionClaim,
  type SessionStore,
  SessionStoreError,
} from "./session-store.ts";
import { type AcquireOptions, SharedClaim } from "./shared-claim.ts";
import type { Reduction, Slice, StateChange } from "./slice.ts";
import type { Snapshot } from "./snapshot.ts";
import { SnapshotError } from "./snapshot-errors.ts";

/** Options of a {@link SessionRecorder}. */
export interface SessionRecorderOptions {
  readonly store: SessionStore;
  readonly id: string;
  /** The last stored record, or `null` for a session that must be new to the store. */
  readonly last: SessionRecord | null;
  /** Called once when the store has refused or failed to write. */
  readonly onFailed: (error: SessionStoreError) => void;
}

/**
 * Writes the changes of a session to its store. A record is as large as its event, and a rollback
 * only names a record number, so the cost does not grow with the session's state.
 */
export class SessionRecorder {
  readonly #store: SessionStore;
  readonly #id: string;
  /** Identifies this recorder to the store. */
  #writer = Object.freeze({});
  /** The number of the next record at the time each snapshot was taken. */
  #snapshotPositions = new WeakMap<Snapshot, number>();
  #next: number;
  #last: SessionRecord | null;
  /** Number of records before the last checkpoint. Replay may not know the states before it. */
  checkpointAt = 0;
  /** Records not yet sent. A new session writes nothing until something happens. */
  #pending: SessionRecord[] = [];
  /** Resolves when the store is known to accept writes of this session. */
  #ready: Promise<void> | null;
  #settled: Promise<void> = Promise.resolve();
  #flushing = 0;
  #failure: SessionStoreError | null = null;
  readonly #claim: SharedClaim;
  /** The claim during which this recorder is known to have all records. */
  #syncedClaim: SessionClaim | null = null;
  readonly #onFailed: (error: SessionStoreError) => void;

  constructor({ store, id, last, onFailed }: SessionRecorderOptions) {
    this.#store = store;
    this.#id = id;
    this.#claim = new SharedClaim(store, id, systemClock);
    this.#onFailed = onFailed;
    this.#last = last;
    this.#next = last ? last.n + 1 : 0;
    this.#ready = last ? Promise.resolve() : null;
  }

  /** Number of the next record. */
  get position(): number {
    return this.#next;
  }

  /** The last record; `null` if there is none, or if registered slices are not recorded yet. */
  get last(): SessionRecord | null {
    return this.#pending.length === 0 ? this.#last : null;
  }

  /** Claims the session until `release`, and waits until everything so far is stored. */
  async hold(options: AcquireOptions): Promise<void> {
    if (this.#failure) throw this.#failure;
    await this.#claim.acquire(options);
    try {
      await this.flush();
    } catch (error) {
      await this.#claim.release();
      throw error;
    }
  }

  /** Ends a `hold`. */
  async release(): Promise<void> {
    await this.#claim.release();
  }

  /** Returns whether others have written to the session. Call it during a `hold`. */
  async isBehind(): Promise<boolean> {
    const claim = await this.#claim.current;
    if (!claim || claim === this.#syncedClaim) return false;
    const count = this.#sentCount;
    const stored = claim.records ?? (await this.#countRecords(count));
    if (stored !== count) return true;
    this.#syncedClaim = claim;
    return false;
  }

  /** Continues after the records that others have written. */
  skipTo(last: SessionRecord): void {
    this.#pending = [];
    this.#last = last;
    this.#next = last.n + 1;
    this.#writer = Object.freeze({});
    // Earlier snapshots do not have the states of these records.
    this.#snapshotPositions = new WeakMap();
  }

  /** Stores a checkpoint, after everything recorded so far. */
  async writeCheckpoint(checkpoint: { readonly records: number }): Promise<void> {
    const claim = await this.#claim.current;
    let position: number;
    do {
      position = this.#sentCount;
      await this.flush();
    } while (position !== this.#sentCount); // more was recorded meanwhile
    const by = { writer: this.#writer, position, fence: claim?.fence };
    await this.#store.writeCheckpoint?.(this.#id, checkpoint, by);
    this.checkpointAt = checkpoint.records;
  }

  recordStart(createdAt: string, tags: Readonly<Record<string, string>>): void {
    this.#enqueue(createHeader({ id: this.#id, createdAt, tags }));
  }

  recordSlice({ id, policy }: Slice): void {
    this.#enqueue({ kind: "slice", id, policy });
  }

  /** Throws if an event would not survive a JSON round trip. */
  checkEvent(event: BusEvent): void {
    const problem = findJsonProblem(event);
    if (problem === null) return;
    throw new InvalidOptionError({
      field: "Session.dispatch(event)",
      value: event,
      rule: `must be JSON in a session with a store (${problem})`,
      remedy: "use only plain objects, arrays, strings, finite numbers, booleans and null",
    });
  }

  /** Records events that were dispatched together, in one record: a crash keeps all or none. */
  recordEvents(events: readonly BusEvent[], reductions: readonly Reduction[]): void {
    if (!reductions.some(({ changed }) => changed)) return; // Replay does not need them.
    const reduced = events.map((event, index) => toReducedEvent(event, reductions[index]));
    const [first, ...others] = reduced;
    if (first && others.length === 0) this.#write({ kind: "event", ...first });
    else this.#write({ kind: "events", events: reduced });
  }

  markSnapshot(snapshot: Snapshot, position = this.#next): void {
    this.#snapshotPositions.set(snapshot, position);
  }

  /**
   * Records a rollback, as a record number unless that is before the last checkpoint. Call it before
   * applying the changes: it throws for foreign state that is not JSON.
   */
  recordRestore(snapshot: Snapshot, changes: readonly StateChange[]): void {
    const to = this.#snapshotPositions.get(snapshot);
    if (to !== undefined && to >= this.checkpointAt) this.#write({ kind: "restored", to });
    else this.recordStates(changes.map(({ slice, now }) => [slice.id, slice.read(now)]));
  }

  /** Records states that did not result from this session's events. */
  recordStates(states: readonly (readonly [string, unknown])[]): void {
    for (const [id, state] of states) {
      const problem = findJsonProblem(state);
      if (problem === null) continue;
      const remedy = "Restore a snapshot that was taken from this session.";
      throw new SnapshotError(`Slice "${id}" cannot be stored: ${problem}. ${remedy}`);
    }
    this.#write({ kind: "loaded", states: Object.fromEntries(states) });
  }

  /** Resolves when everything recorded so far would survive the process. */
  async flush(): Promise<void> {
    if (this.#pending.some(({ kind }) => kind !== "slice")) this.#send();
    this.#flushing += 1;
    await this.#settled.finally(() => {
      this.#flushing -= 1;
    });
    if (this.#failure) throw this.#failure;
  }

  /** Number of records that were sent to the store. */
  get #sentCount(): number {
    return this.#pending[0]?.n ?? this.#next;
  }

  #enqueue(content: RecordContent): void {
    const record = { n: this.#next, ...copyAndFreeze(content) };
    this.#pending.push(record);
    this.#last = record;
    this.#next += 1;
  }

  #write(content: RecordContent): void {
    if (this.#failure) return;
    this.#enqueue(content);
    this.#send();
  }

  #send(): void {
    for (const record of this.#pending.splice(0)) {
      const written = this.#append(record);
      this.#settled = this.#settled.then(() => written);
    }
  }

  /**
   * Appends a record. Never rejects. All appends wait for the same promise first, which preserves
   * their order.
   */
  async #append(record: SessionRecord): Promise<void> {
    try {
      const claim = await this.#claim.acquire();
      try {
        this.#ready ??= this.#rejectExisting(claim);
        await this.#ready;
        if (this.#failure) return;
        const by = { writer: this.#writer, position: record.n, fence: claim?.fence };
        await this.#store.append(this.#id, record, by);
        this.#syncedClaim = claim;
      } finally {
        await this.#claim.release();
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  async #rejectExisting(claim: SessionClaim | null): Promise<void> {
    const isNew = claim?.records === 0 || !(await hasRecords(this.#store, this.#id));
    if (isNew) return;
    const id = JSON.stringify(this.#id);
    const remedy = `Open it with Session.open(store, ${id}, slices), or choose another id.`;
    throw new SessionStoreError(`The store already has a session ${id}. ${remedy}`, {
      sessionId: this.#id,
    });
  }

  /** Counts the stored records, of which `expected` are known. */
  async #countRecords(expected: number): Promise<number> {
    let count = 0;
    for await (const record of this.#store.read(this.#id, { from: Math.max(0, expected - 1) })) {
      count = Number((record as Partial<SessionRecord>).n) + 1;
    }
    return count;
  }

  /** Reports a failure through pending flushes, or as a process warning if there are none. */
  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = toStoreError(error, this.#id);
    if (this.#flushing === 0) warn(`Session "${this.#id}" is no longer stored`, this.#failure);
    this.#onFailed(this.#failure);
  }
}

function toReducedEvent(event: BusEvent, reduction: Reduction | undefined): ReducedEvent {
  const failed = reduction?.failures.map(({ sliceId }) => sliceId) ?? [];
  return failed.length > 0 ? { event, failed } : { event };
}

function toStoreError(error: unknown, sessionId: string): SessionStoreError {
  if (error instanceof SessionStoreError) return error;
  const remedy = "Fix the store, then reopen the session with Session.open.";
  const message = `The store failed to write session "${sessionId}": ${getErrorMessage(error)}. ${remedy}`;
  return new SessionStoreError(message, { sessionId, cause: error });
}
