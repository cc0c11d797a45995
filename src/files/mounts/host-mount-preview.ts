import type { SkippedEntry } from "./skipped-entries.ts";

/** A summary of a mount's files, available before they are copied. */
export interface HostMountPreview {
  /** The mount's `hostPath`, unchanged. */
  readonly hostPath: string;
  /** The path in the workspace. */
  readonly mountPath: string;
  /** The number of files. */
  readonly files: number;
  /** The total size of the files. */
  readonly bytes: number;
  /** The paths of the first 20 files within the mount, or the file name of a single-file mount. */
  readonly entries: readonly string[];
  /** Whether there are more files than `entries` lists. */
  readonly truncated: boolean;
  /**
   * Files that match the globs but are omitted: secret files, sockets, pipes, devices and broken symlinks. Files that
   * contain a private key are found when they are copied: see `WorkspaceSection.mountPreviews` after `ready()`.
   */
  readonly withheld: readonly string[];
  /** Globs of `includeGlob` and `excludeGlob` that match nothing. Folders that are skipped as a whole are not searched. */
  readonly unmatched: readonly string[];
  /**
   * The first 100 entries that are not mounted, with reasons: first symlinks and withheld files, then what globs
   * or `.gitignore` files omit. A folder includes everything below it.
   */
  readonly skipped: readonly SkippedEntry[];
  /** The number of entries that are not mounted, including those that `skipped` does not list. */
  readonly skippedCount: number;
}
