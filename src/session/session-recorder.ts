import { getErrorMessage, InvalidOptionError } from "../base/errors.ts";
import { copyAndFreeze } from "../base/freeze.ts";
import { findJsonProblem } from "../base/json.ts";
import { warn } from "../base/warn.ts";
import type { BusEvent } from "./event-map.ts";
import {
  RECORD_VERSION,
  type RecordContent,
  type ReducedEvent,
  type SessionRecord,
} from "./session-record.ts";
import { type SessionStore, SessionStoreError } from "./session-store.ts";
import type { Reduction, Slice, StateChange } from "./slice.ts";
import { type Snapshot, SnapshotError } from "./snapshot.ts";

/** Options of a {@link SessionRecorder}. */
export interface SessionRecorderOptions {
  readonly store: SessionStore;
  readonly id: string;
  /** Number of stored records, or 0 for a session that must be new to the store. */
  readonly recordCount: number;
}

/**
 * Writes the changes of a session to its store. A record is as large as its event, and a rollback
 * only names a record number, so the cost does not grow with the session's state.
 */
export class SessionRecorder {
  readonly #store: SessionStore;
  readonly #id: string;
  /** Identifies this recorder to the store. */
  readonly #writer = Object.freeze({});
  /** The number of the next record at the time each snapshot was taken. */
  readonly #snapshotPositions = new WeakMap<Snapshot, number>();
  #next: number;
  /** Records not yet sent. A new session writes nothing until something happens. */
  #pending: SessionRecord[] = [];
  /** Resolves when the store is known to accept writes of this session. */
  #ready: Promise<void> | null;
  #settled: Promise<void> = Promise.resolve();
  #flushing = 0;
  #failure: SessionStoreError | null = null;

  constructor({ store, id, recordCount }: SessionRecorderOptions) {
    this.#store = store;
    this.#id = id;
    this.#next = recordCount;
    this.#ready = recordCount === 0 ? null : Promise.resolve();
  }

  recordStart(createdAt: string, tags: Readonly<Record<string, string>>): void {
    this.#enqueue({ kind: "session", version: RECORD_VERSION, id: this.#id, createdAt, tags });
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

  markSnapshot(snapshot: Snapshot): void {
    this.#snapshotPositions.set(snapshot, this.#next);
  }

  /**
   * Records a rollback. Call it before applying the changes: it throws for foreign state that is
   * not JSON.
   */
  recordRestore(snapshot: Snapshot, changes: readonly StateChange[]): void {
    const to = this.#snapshotPositions.get(snapshot);
    if (to !== undefined) this.#write({ kind: "restored", to });
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

  #enqueue(content: RecordContent): void {
    this.#pending.push({ n: this.#next, ...copyAndFreeze(content) });
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
      this.#ready ??= this.#rejectExisting();
      await this.#ready;
      if (this.#failure) return;
      const by = { writer: this.#writer, position: record.n };
      await this.#store.append(this.#id, record, by);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #rejectExisting(): Promise<void> {
    const id = JSON.stringify(this.#id);
    for await (const _record of this.#store.read(this.#id)) {
      const remedy = `Open it with Session.open(store, ${id}, slices), or choose another id.`;
      throw new SessionStoreError(`The store already has a session ${id}. ${remedy}`, {
        sessionId: this.#id,
      });
    }
  }

  /** Reports a failure through pending flushes, or as a process warning if there are none. */
  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = toStoreError(error, this.#id);
    if (this.#flushing === 0) warn(`Session "${this.#id}" is no longer stored`, this.#failure);
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
