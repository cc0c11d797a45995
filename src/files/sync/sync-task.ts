import type { SyncGuard } from "./sync-guard.ts";

/** The changes to apply to a destination folder. Paths are normalized and unique. */
export interface SyncTask {
  /** The real path of the source folder. */
  readonly from: string;
  /** The destination folder: a real path, if it exists. */
  readonly to: string;
  readonly writes: readonly string[];
  readonly removals: readonly string[];
  /** Folders to create, parents first, with their permission bits. */
  readonly folders: readonly (readonly [path: string, mode: number])[];
  /** Folders to remove if they are empty, deepest first. */
  readonly removedFolders: readonly string[];
  readonly guard: SyncGuard;
  /** Called when a file is written, or left alone because of a conflict. @default nothing */
  readonly onWritten?: ((path: string) => void) | undefined;
  readonly signal: AbortSignal | undefined;
}

/** How many files are written at the same time: enough to keep a disk busy, and far below the descriptor limit. */
export const MAX_CONCURRENT_FILES = 16;
