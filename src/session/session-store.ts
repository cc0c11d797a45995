/** Where sessions are kept: an append-only list of records a session. */
export interface SessionStore {
  /** Resolves once the record would survive the process. */
  append(id: string, record: object): Promise<void>;
  /** The session's records, oldest first. */
  read(id: string): AsyncIterable<object>;
  /** Ids of the sessions there are. */
  list(): Promise<string[]>;
  delete(id: string): Promise<void>;
}
