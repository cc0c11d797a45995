import { SyncError } from "./sync-failure.ts";

/** A file that a sync did not replace or remove, because the host's version is not the one that was mounted. */
export interface SyncConflict {
  /** The path of the file. */
  readonly path: string;
  /** How the host's version differs, and where the workspace's version is. */
  readonly reason: string;
}

/**
 * What a sync does with a file that was changed on both sides. `"keep"`: the host's version stays, and the
 * workspace's version is stored in `conflictsDir`. `"both"`: the host's version stays, and the workspace's version
 * is written beside it as `name.container.ext`. `"overwrite"`: the workspace's version replaces it.
 */
export type ConflictPolicy = "keep" | "overwrite" | "both";

/** The host's version of a file is not the expected one. Its message becomes part of a {@link SyncConflict}. */
export class ConflictError extends SyncError {}
