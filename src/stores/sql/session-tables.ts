import type { RecordWriter } from "../../session/session-store.ts";

/** The tables of a database that stores sessions. Every method is one transaction. */
export interface SessionTables {
  /**
   * Stores runs of records of different sessions. Returns for each run why it was refused, or `null` if it is stored. Throws if
   * none of them is stored.
   */
  append(runs: readonly RecordRun[]): Promise<readonly (AppendRefusal | null)[]>;
  /** Finds a session that has records. */
  find(id: string): Promise<StoredSession | null>;
  /** Returns some of the records from number `from` to before number `to`, at least one if there are any. */
  readPage(session: StoredSession, from: number, to: number): Promise<readonly string[]>;
  /** Returns the ids of the sessions that have records, sorted. */
  list(): Promise<string[]>;
  /**
   * Deletes a session, its records and its checkpoint, unless a claim is held whose fence is not `gone`. Returns that
   * claim, or `null`.
   */
  remove(id: string, gone: number | null): Promise<HeldClaim | null>;
  /** Makes a claim if no other is held, its lease has run out, or its fence is `gone`. */
  claim(id: string, by: ClaimRequest, gone: number | null): Promise<MadeClaim | HeldClaim>;
  /** Extends the lease of a claim. Returns `false` if a later claim was made, or the session was deleted. */
  renew(id: string, fence: number): Promise<boolean>;
  /** Ends a claim, and removes a session that has no records. */
  release(id: string, fence: number): Promise<void>;
  /** Returns the session's checkpoint. */
  readCheckpoint(id: string): Promise<string | null>;
  /** Replaces the session's checkpoint. Returns why it was refused, or `null`. */
  writeCheckpoint(id: string, text: string, by?: RecordWriter): Promise<AppendRefusal | null>;
}

/** Records of one writer that are stored together, or not at all. */
export interface RecordRun {
  readonly id: string;
  readonly texts: string[];
  /** The writer and its position before the first record. */
  readonly by: RecordWriter | undefined;
}

/** Why records are refused: the writer read an older state, or another claim was made. */
export type AppendRefusal = "outdated" | { readonly owner: string; readonly since: string };

/** A session in the database. */
export interface StoredSession {
  readonly id: string;
  /** Differs between a session and a later one with the same id. */
  readonly key: number;
  /** Number of records. */
  readonly records: number;
}

/** The claimant of a session. */
export interface ClaimRequest {
  readonly owner: string;
  /** Identifies the process, see `identifyHolder`. */
  readonly holder: string;
}

/** A claim that was made. */
export interface MadeClaim {
  readonly fence: number;
  readonly since: string;
  readonly records: number;
}

/** A claim that another writer holds. */
export interface HeldClaim extends ClaimRequest {
  readonly heldFence: number;
  readonly since: string;
}
