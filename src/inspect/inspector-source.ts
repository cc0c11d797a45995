import type { SessionList } from "./session-list.ts";

/**
 * Where the inspector reads sessions: a store, a file, a fleet, or a session that runs in this process. Nothing is
 * loaded before it is used, and nothing is written.
 */
export interface InspectorSource extends AsyncDisposable {
  /** Names the source to the reader: a path or a host. Never contains a password. */
  readonly label: string;
  /** The only session, if the page should open it at once; `null` if it starts with the list. */
  readonly onlySession: string | null;
  /** Lists the sessions, newest first as far as that is known. */
  list(): Promise<SessionList>;
  /** Returns the records of a session, or `null` if the source does not have it. */
  open(id: string): Promise<SessionFeed | null>;
}

/** The records of one session. They are hostile input: any JSON, in any order. */
export interface SessionFeed {
  /** Yields the complete records from number `from` on, as of now. Throws if they cannot be read. */
  read(from: number): AsyncIterable<unknown>;
  /**
   * Calls `onChange` when there may be more records. The caller reads them.
   * @default the records are read once a second
   */
  watch?(onChange: () => void): Disposable;
  /**
   * Calls `onText` with the model's text as it arrives, at once with the end of the text that has arrived, and with
   * `null` when the turn is complete or sent again.
   * @default the source knows only complete turns
   */
  watchText?(onText: (turn: number, delta: string | null) => void): Disposable;
  /**
   * Returns the bytes of a workspace's file by their SHA-256, or `null` if they are not kept.
   * @default the contents of files are not known
   */
  readBytes?(sha256: string, bytes: number): Promise<Uint8Array | null>;
}
