import { checkCallFence } from "../../base/call-fence.ts";
import { checkKnownKeys } from "../../base/errors.ts";
import { copyBytes, createFilesystemError } from "../../base/filesystem-error.ts";
import { quoteValue } from "../../base/quote-value.ts";
import { normalizePath, ROOT } from "../path.ts";
import type {
  FileStat,
  Filesystem,
  FilesystemOptions,
  FsSnapshot,
  GlobOptions,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem.ts";
import { globMatcher } from "./glob.ts";
import { lineWindow } from "./line-window.ts";
import { checkSearch, globKeys } from "./search/check-search.ts";
import { encodeText, textDecoder } from "./text-encoding.ts";
import { UndoJournal } from "./undo-journal.ts";

/**
 * A file system in memory. Its files are lost with the object.
 *
 * @example
 * ```ts
 * import { InMemoryFilesystem } from "weakincentives/files";
 *
 * const filesystem = new InMemoryFilesystem();
 * await filesystem.writeText("docs/readme.md", "# Hello\n");
 * const paths = await filesystem.glob("*.md"); // ["docs/readme.md"]
 * ```
 */
export class InMemoryFilesystem implements Filesystem {
  /** Whether every change is rejected with a `FilesystemError`. */
  readonly readOnly: boolean;
  readonly #root: Directory = new Map();
  readonly #journal = new UndoJournal<() => void>();

  constructor(options: FilesystemOptions = {}) {
    checkKnownKeys(options, "InMemoryFilesystem", { readOnly: true });
    this.readOnly = options.readOnly ?? false;
  }

  /** Reads lines of a UTF-8 text file. */
  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    const window = lineWindow(path, options);
    return window(textDecoder(path)(this.#getFile(path)));
  }

  /** Reads a file as text, by default as UTF-8. */
  async readText(path: string, encoding?: string): Promise<string> {
    const decode = textDecoder(path, encoding);
    return decode(this.#getFile(path));
  }

  /** Returns a copy of a file's bytes. */
  async readBytes(path: string): Promise<Uint8Array> {
    return new Uint8Array(this.#getFile(path));
  }

  /** Stores a copy of the bytes as a file. Creates its parent directories. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.#setFile(path, copyBytes(path, bytes));
  }

  /** Writes a text file, by default as UTF-8. */
  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    this.#setFile(path, encodeText(path, text, encoding));
  }

  /** Deletes a file or an empty directory. */
  async delete(path: string): Promise<void> {
    const names = this.#splitForChange(path);
    const name = names.pop();
    if (name === undefined) throw createFilesystemError(path, "root");
    const node = this.#getNode(path);
    if (isDirectory(node) && node.size > 0) throw createFilesystemError(path, "not-empty");
    const directory = this.#getOrCreateDirectory(path, names);
    directory.delete(name);
    this.#journal.record(() => directory.set(name, node));
  }

  /** Whether a file or directory exists at the path. */
  async exists(path: string): Promise<boolean> {
    return this.#findNode(path) !== undefined;
  }

  /** Whether a file exists at the path. */
  async isFile(path: string): Promise<boolean> {
    return this.#findNode(path) instanceof Uint8Array;
  }

  /** Whether a directory exists at the path. */
  async isDir(path: string): Promise<boolean> {
    return this.#findNode(path) instanceof Map;
  }

  /** Returns the type and size of a file or directory. */
  async stat(path: string): Promise<FileStat> {
    const node = this.#getNode(path);
    const isDir = isDirectory(node);
    const sizeBytes = isDir ? 0 : node.length;
    return { path: normalizePath(path), isFile: !isDir, isDir, sizeBytes };
  }

  /** Lists the names in a directory, sorted. */
  async listDir(path: string): Promise<string[]> {
    const node = this.#getNode(path);
    if (!isDirectory(node)) throw createFilesystemError(path, "not-directory");
    return [...node.keys()].sort();
  }

  /** Lists the paths of files that match a pattern, sorted. */
  async glob(pattern: string, options: GlobOptions = {}): Promise<string[]> {
    const matches = globMatcher(pattern);
    checkKnownKeys(options, "Filesystem.glob(options)", globKeys);
    options.signal?.throwIfAborted();
    return this.#listFiles()
      .map(([path]) => path)
      .filter(matches);
  }

  /** Finds lines that match a JavaScript regular expression. Skips binary files. */
  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    const search = checkSearch(pattern, options);
    const { searchInMemory } = await import("./search/search-in-memory.ts");
    return await searchInMemory(search, this.#listFiles());
  }

  /** Creates a directory and its parents. Does nothing if it exists. */
  async mkdir(path: string): Promise<void> {
    const names = this.#splitForChange(path);
    if (this.#findNode(path) instanceof Uint8Array) throw createFilesystemError(path, "exists");
    this.#getOrCreateDirectory(path, names);
  }

  /** Creates a snapshot of the current state. O(1) for any tree size. */
  async snapshot(): Promise<FsSnapshot> {
    return this.#journal.snapshot();
  }

  /** Undoes every change since the snapshot. Later snapshots become invalid. */
  async restore(snapshot: FsSnapshot): Promise<void> {
    for (const undo of this.#journal.getChangesSince(snapshot)) undo();
    this.#journal.rewind(snapshot);
  }

  /** Discards a snapshot and frees the data stored for it. */
  async release(snapshot: FsSnapshot): Promise<void> {
    this.#journal.release(snapshot);
  }

  #splitForChange(path: string): string[] {
    const names = splitPath(path);
    if (this.readOnly) throw createFilesystemError(path, "read-only");
    checkCallFence(`The change of ${quoteValue(path)}`);
    return names;
  }

  #setFile(path: string, bytes: Uint8Array): void {
    const names = this.#splitForChange(path);
    const name = names.pop();
    const before = this.#findNode(path);
    if (name === undefined || isDirectory(before)) throw createFilesystemError(path, "directory");
    const directory = this.#getOrCreateDirectory(path, names);
    directory.set(name, bytes);
    this.#journal.record(() => {
      if (before) directory.set(name, before);
      else directory.delete(name);
    });
  }

  #getFile(path: string): Uint8Array {
    const node = this.#getNode(path);
    if (isDirectory(node)) throw createFilesystemError(path, "directory");
    return node;
  }

  #getNode(path: string): Node {
    let node: Node = this.#root;
    for (const name of splitPath(path)) {
      if (!isDirectory(node)) throw createFilesystemError(path, "below-file");
      const next = node.get(name);
      if (!next) throw createFilesystemError(path, "missing");
      node = next;
    }
    return node;
  }

  #findNode(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of splitPath(path)) node = isDirectory(node) ? node.get(name) : undefined;
    return node;
  }

  /** Returns a directory and creates its missing parts. Throws if a file is in the way. */
  #getOrCreateDirectory(path: string, names: readonly string[]): Directory {
    let directory = this.#root;
    for (const name of names) {
      const parent = directory;
      let next = parent.get(name);
      if (!next) {
        next = new Map<string, Node>();
        parent.set(name, next);
        this.#journal.record(() => parent.delete(name));
      }
      if (!isDirectory(next)) throw createFilesystemError(path, "below-file");
      directory = next;
    }
    return directory;
  }

  #listFiles(): (readonly [path: string, bytes: Uint8Array])[] {
    const files = [...walkFiles(this.#root, "")];
    return files.sort(([one], [other]) => (one < other ? -1 : 1));
  }
}

type Node = Uint8Array | Directory;
type Directory = Map<string, Node>;

function isDirectory(node: Node | undefined): node is Directory {
  return node instanceof Map;
}

function splitPath(path: string): string[] {
  const normalized = normalizePath(path);
  return normalized === ROOT ? [] : normalized.split("/");
}

function* walkFiles(directory: Directory, prefix: string): Generator<[string, Uint8Array]> {
  for (const [name, node] of directory) {
    if (isDirectory(node)) yield* walkFiles(node, `${prefix}${name}/`);
    else yield [prefix + name, node];
  }
}
