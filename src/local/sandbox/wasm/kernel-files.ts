import type { FileChange } from "./messages.ts";
import type { FileStat, MemoryFiles, MemoryNode, PyodideFiles } from "./pyodide.ts";

const ROOT = "/mnt/data";
const NO_SPACE_LEFT = 51; // ENOSPC, as Emscripten counts
// A file written in the millisecond of the last look may have been written after it.
const BLUR_MS = 2;

export interface KernelFilesOptions {
  /** Of all files together, and of any one. */
  readonly diskBytes: number;
  readonly maxFiles: number;
}

/** The interpreter's side of `/mnt/data`: takes what the host changed, and tells what code changed. */
export class KernelFiles {
  readonly #files: PyodideFiles;
  readonly #maxFiles: number;
  readonly #known = new Map<string, string>();
  readonly #left: string[] = [];

  constructor(files: PyodideFiles, { diskBytes, maxFiles }: KernelFilesOptions) {
    this.#files = files;
    this.#maxFiles = maxFiles;
    files.mkdirTree(ROOT);
    const memory = files.filesystems["MEMFS"];
    if (memory) limitBytes(files, memory, diskBytes);
  }

  /** Does here what was done on the host, as far as there is room. */
  take(changes: readonly FileChange[]): void {
    for (const change of changes) {
      const path = `${ROOT}/${change.path}`;
      try {
        this.#takeOne(change, path);
      } catch {
        this.#makeWay(path, "gone"); // half a file is worse than none
        this.#left.push(change.path);
      }
      this.#remember(change.path, path);
    }
  }

  /** What code changed since the last look, and the paths for which there was no room here or there. */
  look(): { readonly changes: Iterable<FileChange>; readonly left: readonly string[] } {
    const found = new Map<string, FileStat>();
    const left = this.#left.splice(0);
    this.#walk("", found, left);
    return { changes: this.#compare(found), left };
  }

  #takeOne(change: FileChange, path: string): void {
    this.#makeWay(path, change.change);
    if (change.change === "folder") this.#files.mkdirTree(path);
    if (change.change !== "file") return;
    this.#files.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    this.#files.writeFile(path, change.bytes);
  }

  *#compare(found: ReadonlyMap<string, FileStat>): Generator<FileChange> {
    // Deepest first, so that a folder is empty when its turn comes.
    for (const path of [...this.#known.keys()].reverse()) {
      if (found.has(path)) continue;
      this.#known.delete(path);
      yield { change: "gone", path };
    }
    for (const [path, stat] of found) {
      const print = this.#print(stat);
      if (print === this.#known.get(path)) continue;
      if (this.#files.isDir(stat.mode)) yield { change: "folder", path };
      else yield { change: "file", path, bytes: this.#files.readFile(`${ROOT}/${path}`) };
      this.#known.set(path, isBlurred(stat) ? "" : print);
    }
  }

  /** Links are not followed and not told of: what they point at is told of where it is. */
  #walk(folder: string, found: Map<string, FileStat>, left: string[]): void {
    for (const name of this.#files.readdir(folder === "" ? ROOT : `${ROOT}/${folder}`)) {
      if (name === "." || name === "..") continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      const stat = this.#files.lstat(`${ROOT}/${path}`);
      const isFolder = this.#files.isDir(stat.mode);
      if (!isFolder && !this.#files.isFile(stat.mode)) continue;
      if (found.size >= this.#maxFiles) {
        left.push(path);
        continue;
      }
      found.set(path, stat);
      if (isFolder) this.#walk(path, found, left);
    }
  }

  /** Removes what is in the way of a file, a folder or nothing. */
  #makeWay(path: string, kind: FileChange["change"]): void {
    const stat = this.#statOf(path);
    if (!stat) return;
    const isFolder = this.#files.isDir(stat.mode);
    if (isFolder ? kind === "folder" : kind === "file" && this.#files.isFile(stat.mode)) return;
    if (!isFolder) {
      this.#files.unlink(path);
      return;
    }
    for (const name of this.#files.readdir(path)) {
      if (name !== "." && name !== "..") this.#makeWay(`${path}/${name}`, "gone");
    }
    this.#files.rmdir(path);
  }

  #remember(path: string, place: string): void {
    const stat = this.#statOf(place);
    if (stat) this.#known.set(path, this.#print(stat));
    else this.#known.delete(path);
  }

  #statOf(path: string): FileStat | undefined {
    try {
      return this.#files.lstat(path);
    } catch {
      return undefined; // it is not there
    }
  }

  #print({ mode, ino, size, ctime }: FileStat): string {
    return this.#files.isDir(mode) ? "folder" : `${ino} ${size} ${ctime.getTime()}`;
  }
}

function isBlurred({ ctime }: FileStat): boolean {
  return Date.now() - ctime.getTime() <= BLUR_MS;
}

/** Lets writes fail where files would take more than `diskBytes`, as on a disk that is full. */
function limitBytes(files: PyodideFiles, memory: MemoryFiles, diskBytes: number): void {
  const { stream, node: nodes } = memory.ops_table.file;
  const { write } = stream;
  const { setattr } = nodes;
  // What was freed by deleting is not seen here, so when it seems full, it is counted anew.
  let used = 0;
  const admit = (node: MemoryNode, size: number): void => {
    const more = size - node.usedBytes;
    if (more <= 0) return;
    if (used + more > diskBytes) used = countBytes(files, ROOT) + countBytes(files, "/tmp");
    if (used + more > diskBytes) throw new files.ErrnoError(NO_SPACE_LEFT);
    used += more;
  };
  stream.write = (open, ...rest) => {
    const [, , length, position] = rest;
    admit(open.node, position + length);
    return write(open, ...rest);
  };
  nodes.setattr = (node, attributes) => {
    if (attributes.size !== undefined) admit(node, attributes.size);
    setattr(node, attributes);
  };
}

function countBytes(files: PyodideFiles, folder: string): number {
  let bytes = 0;
  for (const name of files.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const stat = files.lstat(`${folder}/${name}`);
    bytes += files.isDir(stat.mode) ? countBytes(files, `${folder}/${name}`) : stat.size;
  }
  return bytes;
}
