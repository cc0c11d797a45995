import { raceAbort } from "../base/clock.ts";
import { warn } from "../base/warn.ts";
import { createCheckpoint, type SessionMark, type StoredPosition } from "./session-checkpoint.ts";
import { createHeader } from "./session-record.ts";
import type { SessionRecorder } from "./session-recorder.ts";
import type { SessionStore } from "./session-store.ts";
import type { AcquireOptions } from "./shared-claim.ts";
import type { SliceStates } from "./slice-states.ts";
import type { Snapshot } from "./snapshot.ts";

/** Key of a session's {@link StoredSession}, for adapters. Not for applications. */
export const storedSession = Symbol("storedSession");

/** The parts of a session that its {@link StoredSession} needs. */
export interface StoredSessionOptions {
  readonly id: string;
  readonly store: SessionStore;
  readonly recorder: SessionRecorder;
  readonly tags: Readonly<Record<string, string>>;
  getCreatedAt(): string;
  getStates(): SliceStates;
  /** Reads the session again, because others have written to it. */
  readAgain(stored: StoredSession): Promise<void>;
}

/** The store's side of a session: its claim, its checkpoints, and where an interruption left it. */
export class StoredSession {
  readonly recorder: SessionRecorder;
  readonly #options: StoredSessionOptions;
  /** The state to restore if an interrupted evaluation is resumed. */
  #interrupted: Snapshot | null = null;
  #mark: SessionMark | null = null;
  #canCheckpoint = true;

  constructor(options: StoredSessionOptions) {
    this.#options = options;
    this.recorder = options.recorder;
  }

  /**
   * Claims the session for an evaluation, and reads what others have stored since it was read. Throws
   * `SessionStoreError` if another writer holds it, or if it is no longer stored. Dispose the result to
   * end the claim.
   */
  async claim(options: AcquireOptions = {}): Promise<AsyncDisposable> {
    const claiming = this.#claim(options);
    try {
      return await raceAbort(claiming, options.signal);
    } catch (error) {
      // A claim that is made after all is ended at once.
      claiming.then((claim) => claim[Symbol.asyncDispose]()).catch(() => {});
      throw error;
    }
  }

  /**
   * Returns the state that an interrupted evaluation had at its last stored step, once; `null` if nothing
   * has changed since then.
   */
  takeMark(): Snapshot | null {
    const mark = this.#interrupted;
    this.#interrupted = null;
    return mark;
  }

  /** Remembers where the session can be restored to: a slice with `marks` has changed. */
  setMark(): void {
    const states = this.#options.getStates().snapshot();
    this.#mark = { states, position: this.recorder.position };
  }

  /** Continues at a position in the store. */
  adopt({ last, mark, checkpointAt }: StoredPosition): void {
    this.recorder.checkpointAt = checkpointAt;
    this.#mark = mark;
    const isInterrupted = mark && mark.position <= last.n;
    this.#interrupted = isInterrupted
      ? Object.freeze({ sessionId: this.#options.id, states: mark.states })
      : null;
    if (mark && this.#interrupted) this.recorder.markSnapshot(this.#interrupted, mark.position);
  }

  /**
   * Stores a checkpoint if at least 1,000 records and half of all came since the last one, so that its
   * cost per record stays constant. Call it with a claim, when everything is stored. Never throws: a
   * checkpoint only saves time.
   */
  async checkpointIfDue(): Promise<void> {
    const { store, id, tags, getCreatedAt, getStates } = this.#options;
    const { recorder } = this;
    const { last, checkpointAt } = recorder;
    if (!store.writeCheckpoint || !this.#canCheckpoint || !last) return;
    const records = last.n + 1;
    const since = records - checkpointAt;
    if (since < MIN_RECORDS || since * 2 < records) return;
    try {
      const header = createHeader({ id, createdAt: getCreatedAt(), tags });
      const content = { header, last, states: getStates(), mark: this.#mark };
      const checkpoint = await createCheckpoint(content);
      this.#canCheckpoint = checkpoint !== null;
      if (checkpoint) await recorder.writeCheckpoint(checkpoint);
    } catch (error) {
      this.#canCheckpoint = false;
      warn(`The checkpoint of session "${id}" was not stored`, error);
    }
  }

  async #claim(options: AcquireOptions): Promise<AsyncDisposable> {
    const { recorder } = this;
    await recorder.hold(options);
    try {
      if (await recorder.isBehind()) await this.#options.readAgain(this);
      options.signal?.throwIfAborted();
      return { [Symbol.asyncDispose]: () => recorder.release() };
    } catch (error) {
      await recorder.release();
      throw error;
    }
  }
}

/** Smallest number of records since the last checkpoint. Fewer are replayed in an instant. */
const MIN_RECORDS = 1_000;
