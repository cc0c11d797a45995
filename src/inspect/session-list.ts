/** The list of a source's sessions. */
export interface SessionList {
  /** Names the source to the reader. */
  readonly label: string;
  readonly sessions: readonly ListedSession[];
  /** Number of sessions that are not listed, because there are too many. */
  readonly omitted: number;
}

/** A session in the list. `run` is the state that a fleet reports. */
export interface ListedSession {
  readonly id: string;
  readonly createdAt: string | null;
  readonly run: ListedRun | null;
}

/** A fleet's run, as the list shows it. */
export interface ListedRun {
  readonly loop: string;
  readonly state: string;
  readonly attempt: number;
  readonly lost: number;
  readonly error: string | null;
  readonly approvals: number;
  readonly endedAt: string | null;
}
