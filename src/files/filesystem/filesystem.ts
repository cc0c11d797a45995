/**
 * A file system with one root. Paths are relative and separated by `/`. A path that is absolute, empty,
 * contains a NUL or leaves the root fails with a `FilesystemError`.
 */
export interface Filesystem {
  /** Whether every change is rejected with a `FilesystemError`. */
  readonly readOnly: boolean;
  /** Reads lines of a UTF-8 text file: up to `limit` lines, starting at line `offset`. */
  read(path: string, options?: ReadOptions): Promise<ReadResult>;
  /** Reads a file as text, by default as UTF-8. */
  readText(path: string, encoding?: string): Promise<string>;
  /** Reads a file as bytes. */
  readBytes(path: string): Promise<Uint8Array>;
  /** Writes a file and creates its parent directories. Replaces an existing file. */
  write(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes a text file and creates its parent directories. The encoding is `utf-8`, `utf-16le` or `latin1`. */
  writeText(path: string, text: string, encoding?: string): Promise<void>;
  /** Deletes a file or an empty directory. */
  delete(path: string): Promise<void>;
  /** Whether a file or directory exists at the path. */
  exists(path: string): Promise<boolean>;
  /** Whether a file exists at the path. */
  isFile(path: string): Promise<boolean>;
  /** Whether a directory exists at the path. */
  isDir(path: string): Promise<boolean>;
  /** Returns the type and size of a file or directory. */
  stat(path: string): Promise<FileStat>;
  /** Lists the names in a directory, sorted. */
  listDir(path: string): Promise<string[]>;
  /** Lists the paths of files that match a pattern, sorted. `*` and `?` also match slashes, and `{a,b}` matches either text. */
  glob(pattern: string, options?: GlobOptions): Promise<string[]>;
  /**
   * Finds lines of text files that match a JavaScript regular expression. Skips binary files and lines of more than
   * 100,000 characters. A search that reaches its time limit throws `FilesystemError`, or returns the matches so far
   * if you pass `onIncomplete`.
   */
  grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]>;
  /** Creates a directory and its parents. Does nothing if it exists. */
  mkdir(path: string): Promise<void>;
  /** Marks a position in the journal of changes made through this object. O(1) for any tree size. */
  snapshot(): Promise<FsSnapshot>;
  /** Undoes, byte for byte, every change made through this object since the snapshot. Later snapshots become invalid. */
  restore(snapshot: FsSnapshot): Promise<void>;
  /** Discards a snapshot and frees the data stored for it. */
  release?(snapshot: FsSnapshot): Promise<void>;
}

/** Selects the lines that `Filesystem.read` returns. */
export interface ReadOptions {
  /** The first line to read, counted from 0. @default 0 */
  readonly offset?: number | undefined;
  /** The maximum number of lines. @default 2000 */
  readonly limit?: number | undefined;
}

/** Lines of a text file. */
export interface ReadResult {
  /** The lines, joined by newlines. */
  readonly text: string;
  /** The first line in `text`, counted from 0. */
  readonly offset: number;
  /** The number of lines in the whole file. */
  readonly totalLines: number;
  /** Whether more lines follow. */
  readonly truncated: boolean;
}

/** The type and size of a file or directory. */
export interface FileStat {
  /** The normalized path. */
  readonly path: string;
  /** Whether it is a file. */
  readonly isFile: boolean;
  /** Whether it is a directory. */
  readonly isDir: boolean;
  /** The size in bytes; 0 unless it is a file. */
  readonly sizeBytes: number;
}

/** Options of `Filesystem.glob`. */
export interface GlobOptions {
  /** Stops the search when it aborts. `glob` then throws the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** Limits the files and matches of `Filesystem.grep`. */
export interface GrepOptions {
  /** Searches only files that match this glob. @default all files */
  readonly glob?: string | undefined;
  /** The maximum number of matches. @default 1000 */
  readonly maxMatches?: number | undefined;
  /** Stops the search when it aborts. `grep` then throws the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
  /**
   * The maximum time in milliseconds. Some expressions take time that grows exponentially with the length of a line,
   * such as `^(a|a)*$`. @default 10000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Called with a sentence for each reason why the search is incomplete: the time limit, large files, long lines.
   * Not called for binary files or for `maxMatches`. @default a search that reaches its time limit throws
   */
  readonly onIncomplete?: ((reason: string) => void) | undefined;
}

/** A line that `Filesystem.grep` found. */
export interface GrepMatch {
  /** The path of the file. */
  readonly path: string;
  /** The line number, counted from 1. */
  readonly line: number;
  /** The line without its line ending. After 2,000 characters it is cut and ends in `…`. */
  readonly text: string;
}

/** A snapshot of a file system. Only the file system that created it can restore it. */
export interface FsSnapshot {
  /** A name for messages; unique within its file system. */
  readonly id: string;
}

/** Options of a file system. */
export interface FilesystemOptions {
  /** Rejects every change with a `FilesystemError`. @default false */
  readonly readOnly?: boolean | undefined;
}
