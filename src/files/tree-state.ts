/** The content and permissions of a file. Two versions of a file are compared by it. */
export interface FileState {
  /** The SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
  /** The size of the file. */
  readonly bytes: number;
  /** The permission bits, without setuid, setgid and sticky. */
  readonly mode: number;
}

/** The files and folders below a folder, by path. */
export interface TreeState {
  readonly files: ReadonlyMap<string, FileState>;
  /** The permission bits of each folder. */
  readonly folders: ReadonlyMap<string, number>;
}

/** The bits of a mode that are carried from one file to another. */
export const PERMISSION_BITS = 0o777;

/** Whether two versions of a file have the same bytes and permissions. */
export function isSameState(one: FileState | undefined, other: FileState | undefined): boolean {
  return one?.digest === other?.digest && one?.mode === other?.mode;
}
