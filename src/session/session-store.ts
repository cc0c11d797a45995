import { WinkError } from "../base/errors.ts";

/** Stores sessions, each as an append-only list of records. */
export interface SessionStore {
  /**
   * Appends a record. Resolves when the record would survive the process. Records are stored in the
   * order of the calls, even if earlier calls are still pending. After one append fails, all later
   * appends of the same writer fail too.
   */
  append(id: string, record: object, by?: RecordWriter): Promise<void>;
  /** Returns the session's records, oldest first, or none if the session does not exist. */
  read(id: string): AsyncIterable<object>;
  /** Returns the ids of all stored sessions. */
  list(): Promise<string[]>;
  /** Deletes a session and its records. */
  delete(id: string): Promise<void>;
}

/** Identifies the writer of a record, so that a store can reject a writer with outdated data. */
export interface RecordWriter {
  /** The same object for all records of one `Session`. A different object is a different writer. */
  readonly writer: object;
  /** Number of records that the writer expects before this one. */
  readonly position: number;
}

/** Details of a {@link SessionStoreError}. */
export interface SessionStoreErrorOptions {
  /** The affected session. Omit it if the error concerns the whole store. */
  readonly sessionId?: string | undefined;
  /** The underlying error. */
  readonly cause?: unknown;
}

/** Thrown when a store cannot read or write a session. Records stored earlier are unaffected. */
export class SessionStoreError extends WinkError {
  override readonly name = "SessionStoreError";
  /** The affected session, or `null` if the error concerns the whole store. */
  readonly sessionId: string | null;

  constructor(message: string, { sessionId, cause }: SessionStoreErrorOptions = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.sessionId = sessionId ?? null;
  }
}
