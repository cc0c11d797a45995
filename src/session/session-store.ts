import { WinkError } from "../base/wink-error.ts";

/** Stores sessions, each as an append-only list of records. */
export interface SessionStore {
  /**
   * Appends a record. Resolves when the record would survive the process. Records are stored in the
   * order of the calls, even if earlier calls are still pending. After one append fails, all later
   * appends of the same writer fail too.
   */
  append(id: string, record: object, by?: RecordWriter): Promise<void>;
  /**
   * Returns the session's records, oldest first, or none if the session does not exist. With `from`, a
   * store may leave out the records before that number.
   */
  read(id: string, options?: ReadOptions): AsyncIterable<object>;
  /** Returns the ids of all stored sessions. */
  list(): Promise<string[]>;
  /** Deletes a session and its records. */
  delete(id: string): Promise<void>;
  /**
   * Claims the session for one writer. Throws `SessionStoreError` with `owner` and `since` while another
   * claim is held by a process that lives, this one included. Every successful claim has a higher fence
   * than all before, and appends with a lower fence are refused from then on.
   * @default the store has no claims
   */
  claim?(id: string, options?: ClaimOptions): Promise<SessionClaim>;
  /**
   * Returns the session's last checkpoint, or `null` if it has none.
   * @default the store has no checkpoints, and opening a session replays all records
   */
  readCheckpoint?(id: string): Promise<object | null>;
  /** Replaces the session's checkpoint. It is refused like a record of the same writer. */
  writeCheckpoint?(id: string, checkpoint: object, by?: RecordWriter): Promise<void>;
}

/** Options of {@link SessionStore.read}. */
export interface ReadOptions {
  /** Number of the first record that is needed. @default 0 */
  readonly from?: number | undefined;
}

/** Options of {@link SessionStore.claim}. */
export interface ClaimOptions {
  /** Describes the holder to others. @default the process and its host */
  readonly owner?: string | undefined;
}

/** The right to write a session, until it is released. */
export interface SessionClaim {
  /** Number of the claim. Later claims of the session have higher numbers. */
  readonly fence: number;
  /** Describes the holder. */
  readonly owner: string;
  /** When the claim was made, in ISO 8601. */
  readonly since: string;
  /** Number of records when the claim was made. @default unknown, and the session is read to find out */
  readonly records?: number | undefined;
  /** Ends the claim. Does nothing if it has ended. */
  release(): Promise<void>;
}

/** Identifies the writer of a record, so that a store can reject a writer with outdated data. */
export interface RecordWriter {
  /** The same object for all records of one `Session`. A different object is a different writer. */
  readonly writer: object;
  /** Number of records that the writer expects before this one. */
  readonly position: number;
  /** Fence of the writer's claim. The record is refused if a later claim has been made. */
  readonly fence?: number | undefined;
}

/** Details of a {@link SessionStoreError}. */
export interface SessionStoreErrorOptions {
  /** The affected session. Omit it if the error concerns the whole store. */
  readonly sessionId?: string | undefined;
  /** The underlying error. */
  readonly cause?: unknown;
  /** The holder of the session, if another claim is the reason. */
  readonly owner?: string | undefined;
  /** When the holder claimed the session, in ISO 8601. */
  readonly since?: string | undefined;
}

/** Thrown when a store cannot read or write a session. Records stored earlier are unaffected. */
export class SessionStoreError extends WinkError {
  override readonly name = "SessionStoreError";
  /** The affected session, or `null` if the error concerns the whole store. */
  readonly sessionId: string | null;
  /** The session's holder; `null` if a claim is not the reason. */
  readonly owner: string | null;
  /** Since when, in ISO 8601; `null` if a claim is not the reason. */
  readonly since: string | null;

  constructor(message: string, options: SessionStoreErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.sessionId = options.sessionId ?? null;
    this.owner = options.owner ?? null;
    this.since = options.since ?? null;
  }
}

/** Returns whether the store has a session. */
export async function hasRecords(store: SessionStore, id: string): Promise<boolean> {
  for await (const _record of store.read(id)) return true;
  return false;
}
