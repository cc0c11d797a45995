/** The part of Pyodide's API that is used here. The code compiles without Pyodide. */
export interface PyodideModule {
  loadPyodide(options: {
    readonly indexURL: string;
    readonly jsglobals: object;
    readonly env: Readonly<Record<string, string>>;
    readonly stdin: () => null;
  }): Promise<Pyodide>;
}

export interface Pyodide {
  readonly FS: PyodideFiles;
  /** Emscripten's module. Only its memory is read; it is another array after the memory has grown. */
  readonly _module: { readonly HEAPU8: Uint8Array };
  runPython(code: string, options?: { readonly filename: string }): unknown;
  setInterruptBuffer(buffer: { 0: number }): void;
  setStdout(options: { readonly write: (bytes: Uint8Array) => number }): void;
  setStderr(options: { readonly write: (bytes: Uint8Array) => number }): void;
}

/** Emscripten's in-memory file system. */
export interface PyodideFiles {
  readonly filesystems: { readonly [name: string]: MemoryFiles };
  readonly ErrnoError: new (code: number) => Error;
  mkdirTree(path: string): void;
  readdir(path: string): string[];
  lstat(path: string): FileStat;
  isDir(mode: number): boolean;
  isFile(mode: number): boolean;
  readFile(path: string): Uint8Array;
  writeFile(path: string, bytes: Uint8Array): void;
  unlink(path: string): void;
  rmdir(path: string): void;
}

export interface FileStat {
  readonly mode: number;
  readonly size: number;
  readonly ino: number;
  readonly mtime: Date;
  readonly ctime: Date;
}

/** The two operations that store bytes: a write and a change of size. */
export interface MemoryFiles {
  readonly ops_table: {
    readonly file: {
      readonly stream: {
        write(stream: { readonly node: MemoryNode }, ...rest: WriteArguments): number;
      };
      readonly node: { setattr(node: MemoryNode, attributes: { readonly size?: number }): void };
    };
  };
}

export interface MemoryNode {
  readonly usedBytes: number;
}

type WriteArguments = [
  buffer: Uint8Array,
  offset: number,
  length: number,
  position: number,
  canOwn?: boolean,
];
