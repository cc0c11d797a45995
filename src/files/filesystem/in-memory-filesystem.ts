import { copyBytes, refuse } from "../../base/filesystem-error.ts";
import { checkedPath, ROOT } from "../path.ts";
import type {
  FileStat,
  Filesystem,
  FilesystemOptions,
  FsSnapshot,
  GrepMatch,
  GrepOptions,
  ReadOptions,
  ReadResult,
} from "./filesystem.ts";
import { globMatcher } from "./glob.ts";
import { lineSearch } from "./grep.ts";
import { lineWindow } from "./line-window.ts";
import { encodeText, textDecoder } from "./text-encoding.ts";
import { UndoJournal } from "./undo-journal.ts";

/** Files that live as long as this object does. */
export class InMemoryFilesystem implements Filesystem {
  readonly readOnly: boolean;
  readonly #root: Directory = new Map();
  readonly #journal = new UndoJournal<() => void>();

  constructor(options: FilesystemOptions = {}) {
    this.readOnly = options.readOnly ?? false;
  }

  async read(path: string, options?: ReadOptions): Promise<ReadResult> {
    const window = lineWindow(path, options);
    return window(textDecoder(path)(this.#file(path)));
  }

  async readText(path: string, encoding?: string): Promise<string> {
    const decode = textDecoder(path, encoding);
    return decode(this.#file(path));
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return new Uint8Array(this.#file(path));
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    this.#put(path, copyBytes(path, bytes));
  }

  async writeText(path: string, text: string, encoding?: string): Promise<void> {
    this.#put(path, encodeText(path, text, encoding));
  }

  async delete(path: string): Promise<void> {
    const names = this.#namesToChange(path);
    const name = names.pop();
    if (name === undefined) throw refuse(path, "root");
    const node = this.#node(path);
    if (isDirectory(node) && node.size > 0) throw refuse(path, "not-empty");
    const directory = this.#directory(path, names);
    directory.delete(name);
    this.#journal.record(() => directory.set(name, node));
  }

  async exists(path: string): Promise<boolean> {
    return this.#find(path) !== undefined;
  }

  async isFile(path: string): Promise<boolean> {
    return this.#find(path) instanceof Uint8Array;
  }

  async isDir(path: string): Promise<boolean> {
    return this.#find(path) instanceof Map;
  }

  async stat(path: string): Promise<FileStat> {
    const node = this.#node(path);
    const isDir = isDirectory(node);
    const sizeBytes = isDir ? 0 : node.length;
    return { path: checkedPath(path), isFile: !isDir, isDir, sizeBytes };
  }

  async listDir(path: string): Promise<string[]> {
    const node = this.#node(path);
    if (!isDirectory(node)) throw refuse(path, "not-directory");
    return [...node.keys()].sort();
  }

  async glob(pattern: string): Promise<string[]> {
    const matches = globMatcher(pattern);
    return this.#files()
      .map(([path]) => path)
      .filter(matches);
  }

  async grep(pattern: string, options?: GrepOptions): Promise<readonly GrepMatch[]> {
    const search = lineSearch(pattern, options);
    for (const [path, bytes] of this.#files()) {
      if (search.full) break;
      if (search.wants(path)) search.look(path, bytes);
    }
    return search.found;
  }

  async mkdir(path: string): Promise<void> {
    const names = this.#namesToChange(path);
    if (this.#find(path) instanceof Uint8Array) throw refuse(path, "exists");
    this.#directory(path, names);
  }

  async snapshot(): Promise<FsSnapshot> {
    return this.#journal.snapshot();
  }

  async restore(snapshot: FsSnapshot): Promise<void> {
    for (const undo of this.#journal.since(snapshot)) undo();
    this.#journal.rewind(snapshot);
  }

  async release(snapshot: FsSnapshot): Promise<void> {
    this.#journal.release(snapshot);
  }

  #namesToChange(path: string): string[] {
    const names = namesOf(path);
    if (this.readOnly) throw refuse(path, "read-only");
    return names;
  }

  #put(path: string, bytes: Uint8Array): void {
    const names = this.#namesToChange(path);
    const name = names.pop();
    const before = this.#find(path);
    if (name === undefined || isDirectory(before)) throw refuse(path, "directory");
    const directory = this.#directory(path, names);
    directory.set(name, bytes);
    this.#journal.record(() => {
      if (before) directory.set(name, before);
      else directory.delete(name);
    });
  }

  #file(path: string): Uint8Array {
    const node = this.#node(path);
    if (isDirectory(node)) throw refuse(path, "directory");
    return node;
  }

  #node(path: string): Node {
    let node: Node = this.#root;
    for (const name of namesOf(path)) {
      if (!isDirectory(node)) throw refuse(path, "below-file");
      const next = node.get(name);
      if (!next) throw refuse(path, "missing");
      node = next;
    }
    return node;
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of namesOf(path)) node = isDirectory(node) ? node.get(name) : undefined;
    return node;
  }

  /** The directory called so; makes what is missing of it, unless a file is in the way. */
  #directory(path: string, names: readonly string[]): Directory {
    let directory = this.#root;
    for (const name of names) {
      const parent = directory;
      let next = parent.get(name);
      if (!next) {
        next = new Map<string, Node>();
        parent.set(name, next);
        this.#journal.record(() => parent.delete(name));
      }
      if (!isDirectory(next)) throw refuse(path, "below-file");
      directory = next;
    }
    return directory;
  }

  #files(): (readonly [path: string, bytes: Uint8Array])[] {
    const files = [...filesIn(this.#root, "")];
    return files.sort(([one], [other]) => (one < other ? -1 : 1));
  }
}

type Node = Uint8Array | Directory;
type Directory = Map<string, Node>;

function isDirectory(node: Node | undefined): node is Directory {
  return node instanceof Map;
}

function namesOf(path: string): string[] {
  const checked = checkedPath(path);
  return checked === ROOT ? [] : checked.split("/");
}

function* filesIn(directory: Directory, prefix: string): Generator<[string, Uint8Array]> {
  for (const [name, node] of directory) {
    if (isDirectory(node)) yield* filesIn(node, `${prefix}${name}/`);
    else yield [prefix + name, node];
  }
}
