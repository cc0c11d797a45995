import { WinkError } from "../base/errors.ts";

/** Where sessions are kept: an append-only list of records a session. */
export interface SessionStore {
  /**
   * Resolves once the record would survive the process. Records are kept in the order of the calls,
   * resolved or not; once one has failed, those its writer sent after it fail as well.
   */
  append(id: string, record: object, by?: RecordWriter): Promise<void>;
  /** The session's records, oldest first; none if there is no such session. */
  read(id: string): AsyncIterable<object>;
  /** Ids of the sessions there are. */
  list(): Promise<string[]>;
  delete(id: string): Promise<void>;
}

/** Who appends, so that a store can refuse one who does not know what others have written. */
export interface RecordWriter {
  /** The same for all records of one `Session`; another means somebody else writes now. */
  readonly writer: object;
  /** How many records the writer believes there are before this one. */
  readonly position: number;
}

/** What a `SessionStoreError` is about. */
export interface SessionStoreErrorOptions {
  readonly sessionId?: string | undefined;
  readonly cause?: unknown;
}

/** A store could not keep a session or give it back; what was kept before is still there. */
export class SessionStoreError extends WinkError {
  override readonly name = "SessionStoreError";
  /** `null` where it concerns the store as a whole. */
  readonly sessionId: string | null;

  constructor(message: string, { sessionId, cause }: SessionStoreErrorOptions = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.sessionId = sessionId ?? null;
  }
}
