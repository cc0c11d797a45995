/** A folder or file of the host that is copied into a workspace. */
export interface HostMount {
  /** The folder or file on the host. A relative path is resolved against the working directory. */
  readonly hostPath: string;
  /** The path in the workspace. @default the last part of `hostPath` */
  readonly mountPath?: string | undefined;
  /** Includes only files that match any of these globs. Globs apply to paths within the mount. @default all files */
  readonly includeGlob?: readonly string[] | undefined;
  /** Excludes files that match any of these globs, even if `includeGlob` matches them. @default none */
  readonly excludeGlob?: readonly string[] | undefined;
  /** The maximum total size of the files, in bytes. @default no limit */
  readonly maxBytes?: number | undefined;
  /** Follows symlinks, but never out of the allowed host roots. @default false */
  readonly followSymlinks?: boolean | undefined;
}
