/** Files below one root. Paths are relative and `/`-separated; a path that leaves the root is refused. */
export interface Filesystem {
  readonly readOnly: boolean;
  /** Lines of a text file: `limit` of them from line `offset` on. */
  read(path: string, options?: ReadOptions): Promise<ReadResult>;
  readText(path: string, encoding?: string): Promise<string>;
  readBytes(path: string): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<void>;
  writeText(path: string, text: string, encoding?: string): Promise<void>;
  delete(path: string): Promise<void>;
  exists(path: string): Promise<boolean>;
  isFile(path: string): Promise<boolean>;
  isDir(path: string): Promise<boolean>;
  stat(path: string): Promise<FileStat>;
  /** Names in a directory, sorted. */
  listDir(path: string): Promise<string[]>;
  /** Paths of files that match, sorted; a star crosses slashes. */
  glob(pattern: string): Promise<string[]>;
  grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]>;
  mkdir(path: string): Promise<void>;
  /** A mark in the journal of what is written through us: O(1), whatever the size of the tree. */
  snapshot(): Promise<FsSnapshot>;
  /** Byte for byte what was written, deleted or made through us since; later snapshots are void. */
  restore(snapshot: FsSnapshot): Promise<void>;
  /** Says that a snapshot is no longer wanted, so that what it kept can go. */
  release?(snapshot: FsSnapshot): Promise<void>;
}

/** Which lines to read. */
export interface ReadOptions {
  /** The first line, counted from 0. @default 0 */
  readonly offset?: number | undefined;
  /** @default 2000 */
  readonly limit?: number | undefined;
}

/** Some lines of a text file. */
export interface ReadResult {
  readonly text: string;
  readonly offset: number;
  readonly totalLines: number;
  /** More lines follow. */
  readonly truncated: boolean;
}

/** What is known of a path. */
export interface FileStat {
  readonly path: string;
  readonly isFile: boolean;
  readonly isDir: boolean;
  readonly sizeBytes: number;
}

/** Where to look, and for how much. */
export interface GrepOptions {
  /** Only files that match. */
  readonly glob?: string | undefined;
  /** @default 1000 */
  readonly maxMatches?: number | undefined;
}

/** A line that matches. */
export interface GrepMatch {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

/** A moment of a file system, for its own `restore`. */
export interface FsSnapshot {
  readonly id: string;
}

/** How a file system is opened. */
export interface FilesystemOptions {
  /** Refuses every change. @default false */
  readonly readOnly?: boolean | undefined;
}
