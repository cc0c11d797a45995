/** A folder or file of the host that is copied into a workspace. */
export interface HostMount {
  /** The folder or file on the host. A relative path is resolved against the working directory. */
  readonly hostPath: string;
  /** The path in the workspace. @default the last part of `hostPath` */
  readonly mountPath?: string | undefined;
  /**
   * Includes only files and folders that match any of these globs. A glob without a slash inside is the name of
   * a file or folder at any depth; with one, it is a path from the root of the mount. A slash at the end
   * restricts it to folders. A matched folder includes everything below it. `*` also matches slashes, `**`
   * matches zero or more folders, and `{a,b}` matches either text. @default all files
   */
  readonly includeGlob?: readonly string[] | undefined;
  /** Excludes what matches any of these globs, even if `includeGlob` matches it. Same syntax. @default none */
  readonly excludeGlob?: readonly string[] | undefined;
  /** The maximum total size of the files, in bytes. @default no limit */
  readonly maxBytes?: number | undefined;
  /** Follows symlinks, but never out of the allowed host roots. @default false */
  readonly followSymlinks?: boolean | undefined;
  /**
   * Omits what git would ignore: reads the `.gitignore` files of the mount and of the folders above it, up
   * to the root of the repository, and the repository's `.git/info/exclude`. Also omits `.git` itself.
   * @default false
   */
  readonly gitignore?: boolean | undefined;
}
