/** What is to be done to the user's folder; every path is checked, and none is there twice. */
export interface SyncTask {
  /** The real path of the tree. */
  readonly from: string;
  /** The user's folder: a real path, if it is there. */
  readonly to: string;
  readonly writes: readonly string[];
  readonly removals: readonly string[];
  readonly signal: AbortSignal | undefined;
}

/** More than a disk needs to be busy, and far less than there are descriptors. */
export const FILES_AT_ONCE = 16;
