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
  /** Files that match the globs but are omitted: secret files, sockets, pipes, devices and broken symlinks. */
  readonly withheld: readonly string[];
}
