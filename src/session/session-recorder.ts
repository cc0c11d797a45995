import { InvalidOptionError, messageOf } from "../base/errors.ts";
import { frozenCopy } from "../base/freeze.ts";
import { jsonProblem } from "../base/json.ts";
import { warn } from "../base/warn.ts";
import type { BusEvent } from "./event-map.ts";
import type { RecordContent, SessionRecord } from "./session-record.ts";
import { type SessionStore, SessionStoreError } from "./session-store.ts";
import type { Reduction, Slice, StateChange } from "./slice.ts";
import { type Snapshot, SnapshotError } from "./snapshot.ts";

/** What a `SessionRecorder` is made from. */
export interface SessionRecorderOptions {
  readonly store: SessionStore;
  readonly id: string;
  /** How many records there are; 0 for a session that must be new to the store. */
  readonly known: number;
}

/**
 * Writes what happens to a session into its store. A record costs what its event does, and a
 * rollback names a moment: nothing here grows with what the session holds.
 */
export class SessionRecorder {
  readonly #store: SessionStore;
  readonly #id: string;
  /** Stands for this recorder before the store. */
  readonly #writer = Object.freeze({});
  /** The number of the record that came next when each snapshot was taken. */
  readonly #moments = new WeakMap<Snapshot, number>();
  #next: number;
  /** Records that wait for something to happen: a session that is only made writes nothing. */
  #held: SessionRecord[] = [];
  /** Resolves once it is known that the store may be written to. */
  #free: Promise<void> | null;
  #settled: Promise<void> = Promise.resolve();
  #flushing = 0;
  #failure: SessionStoreError | null = null;

  constructor({ store, id, known }: SessionRecorderOptions) {
    this.#store = store;
    this.#id = id;
    this.#next = known;
    this.#free = known === 0 ? null : Promise.resolve();
  }

  begun(createdAt: string, tags: Readonly<Record<string, string>>): void {
    this.#hold({ kind: "session", version: 1, id: this.#id, createdAt, tags });
  }

  added({ id, policy }: Slice): void {
    this.#hold({ kind: "slice", id, policy });
  }

  /** Refuses an event that would not come back as it went in. */
  check(event: BusEvent): void {
    const problem = jsonProblem(event);
    if (problem === null) return;
    throw new InvalidOptionError({
      field: "Session.dispatch(event)",
      value: event,
      rule: `must be JSON in a session with a store, and its ${problem}`,
      remedy: "keep events to plain objects, lists, strings, finite numbers, booleans and null",
    });
  }

  reduced(event: BusEvent, { changed, failures }: Reduction): void {
    if (!changed) return; // replay is none the wiser for it
    const failed = failures.map(({ sliceId }) => sliceId);
    this.#write({ kind: "event", event, ...(failed.length > 0 && { failed }) });
  }

  taken(snapshot: Snapshot): void {
    this.#moments.set(snapshot, this.#next);
  }

  /** Call it before the changes are made: a state from elsewhere that is no JSON is refused. */
  restored(snapshot: Snapshot, changes: readonly StateChange[]): void {
    const to = this.#moments.get(snapshot);
    if (to !== undefined) this.#write({ kind: "restored", to });
    else this.loaded(changes.map(({ slice, now }) => [slice.id, slice.read(now)]));
  }

  /** States that did not come from this session's events. */
  loaded(states: readonly (readonly [string, unknown])[]): void {
    for (const [id, state] of states) {
      const problem = jsonProblem(state);
      if (problem === null) continue;
      const remedy = "restore a snapshot that was taken from this session";
      throw new SnapshotError(`Slice "${id}" cannot be stored, its ${problem}: ${remedy}`);
    }
    this.#write({ kind: "loaded", states: Object.fromEntries(states) });
  }

  /** Resolves when all that was written so far would survive the process. */
  async flush(): Promise<void> {
    if (this.#held.some(({ kind }) => kind !== "slice")) this.#send();
    this.#flushing += 1;
    await this.#settled.finally(() => {
      this.#flushing -= 1;
    });
    if (this.#failure) throw this.#failure;
  }

  #hold(content: RecordContent): void {
    this.#held.push({ n: this.#next, ...frozenCopy(content) });
    this.#next += 1;
  }

  #write(content: RecordContent): void {
    if (this.#failure) return;
    this.#hold(content);
    this.#send();
  }

  #send(): void {
    for (const record of this.#held.splice(0)) {
      const written = this.#append(record);
      this.#settled = this.#settled.then(() => written);
    }
  }

  /** Never rejects. All wait for one promise first, and so stay in order. */
  async #append(record: SessionRecord): Promise<void> {
    try {
      this.#free ??= this.#refuseKnown();
      await this.#free;
      if (this.#failure) return;
      const by = { writer: this.#writer, position: record.n };
      await this.#store.append(this.#id, record, by);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #refuseKnown(): Promise<void> {
    const id = JSON.stringify(this.#id);
    for await (const _record of this.#store.read(this.#id)) {
      const remedy = `go on with it by Session.open(store, ${id}, slices), or choose another id`;
      throw new SessionStoreError(`The store has a session ${id} already: ${remedy}`, {
        sessionId: this.#id,
      });
    }
  }

  /** Whoever waits for a flush is told by it; else the process is. */
  #fail(error: unknown): void {
    if (this.#failure) return;
    this.#failure = storeError(error, this.#id);
    if (this.#flushing === 0) warn(`Session "${this.#id}" is no longer stored`, this.#failure);
  }
}

function storeError(error: unknown, sessionId: string): SessionStoreError {
  if (error instanceof SessionStoreError) return error;
  const remedy = "see to the store, then go on from what it kept with Session.open";
  const message = `The store failed to keep session "${sessionId}": ${messageOf(error)}: ${remedy}`;
  return new SessionStoreError(message, { sessionId, cause: error });
}
