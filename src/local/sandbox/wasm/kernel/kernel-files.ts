import type { FileChange } from "../kernel-messages.ts";
import type { FileStat, MemoryFiles, MemoryNode, PyodideFiles } from "./pyodide.ts";

const ROOT = "/mnt/data";
const NO_SPACE_LEFT = 51; // ENOSPC in Emscripten
// A file written in the same millisecond as the last scan may have been written after it.
const TIMESTAMP_TOLERANCE_MS = 2;
/** The file system in memory looks up every name of a path, so deep folders take time that grows with the square of their depth. */
const MAX_DEPTH = 100;

/** Limits on the interpreter's files. */
export interface KernelFilesOptions {
  /** Limit in bytes for all files together, and for any single file. */
  readonly diskBytes: number;
  readonly maxFiles: number;
}

/** The interpreter's side of `/mnt/data`: applies changes from the host and finds changes made by code. */
export class KernelFiles {
  readonly #files: PyodideFiles;
  readonly #maxFiles: number;
  readonly #known = new Map<string, string>();
  readonly #rejectedPaths: string[] = [];

  constructor(files: PyodideFiles, { diskBytes, maxFiles }: KernelFilesOptions) {
    this.#files = files;
    this.#maxFiles = maxFiles;
    files.mkdirTree(ROOT);
    const memory = files.filesystems["MEMFS"];
    if (memory) limitDiskUsage(files, memory, diskBytes);
  }

  /** Applies changes made on the host, as far as there is space. */
  applyChanges(changes: readonly FileChange[]): void {
    for (const change of changes) {
      const path = `${ROOT}/${change.path}`;
      try {
        this.#applyChange(change, path);
      } catch {
        this.#removeConflict(path, "deleted"); // an incomplete file is worse than none
        this.#rejectedPaths.push(change.path);
      }
      this.#recordState(change.path, path);
    }
  }

  /** Finds the changes by code since the last call, and the paths that did not fit on either side. */
  findChanges(): { readonly changes: Iterable<FileChange>; readonly rejected: readonly string[] } {
    const found = new Map<string, FileStat>();
    const rejected = this.#rejectedPaths.splice(0);
    this.#walk("", found, rejected);
    return { changes: this.#compare(found), rejected };
  }

  #applyChange(change: FileChange, path: string): void {
    this.#removeConflict(path, change.change);
    if (change.change === "folder") this.#files.mkdirTree(path);
    if (change.change !== "file") return;
    this.#files.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    this.#files.writeFile(path, change.bytes);
  }

  *#compare(found: ReadonlyMap<string, FileStat>): Generator<FileChange> {
    // Deepest first, so that a folder is empty before it is removed.
    for (const path of [...this.#known.keys()].reverse()) {
      if (found.has(path)) continue;
      this.#known.delete(path);
      yield { change: "deleted", path };
    }
    for (const [path, stat] of found) {
      const print = this.#fingerprint(stat);
      if (print === this.#known.get(path)) continue;
      if (this.#files.isDir(stat.mode)) yield { change: "folder", path };
      else yield { change: "file", path, bytes: this.#files.readFile(`${ROOT}/${path}`) };
      this.#known.set(path, isTooRecent(stat) ? "" : print);
    }
  }

  /** Skips links and does not follow them: their targets are found at their own paths. */
  #walk(folder: string, found: Map<string, FileStat>, rejected: string[], depth = 1): void {
    for (const name of this.#files.readdir(folder === "" ? ROOT : `${ROOT}/${folder}`)) {
      if (name === "." || name === "..") continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      const stat = this.#files.lstat(`${ROOT}/${path}`);
      const isFolder = this.#files.isDir(stat.mode);
      if (!isFolder && !this.#files.isFile(stat.mode)) continue;
      if (found.size >= this.#maxFiles || depth > MAX_DEPTH) {
        rejected.push(path);
        continue;
      }
      found.set(path, stat);
      if (isFolder) this.#walk(path, found, rejected, depth + 1);
    }
  }

  /** Removes an existing entry at `path` unless it is of the given kind. */
  #removeConflict(path: string, kind: FileChange["change"]): void {
    const stat = this.#statIfExists(path);
    if (!stat) return;
    const isFolder = this.#files.isDir(stat.mode);
    if (isFolder ? kind === "folder" : kind === "file" && this.#files.isFile(stat.mode)) return;
    if (!isFolder) {
      this.#files.unlink(path);
      return;
    }
    for (const name of this.#files.readdir(path)) {
      if (name !== "." && name !== "..") this.#removeConflict(`${path}/${name}`, "deleted");
    }
    this.#files.rmdir(path);
  }

  #recordState(path: string, place: string): void {
    const stat = this.#statIfExists(place);
    if (stat) this.#known.set(path, this.#fingerprint(stat));
    else this.#known.delete(path);
  }

  #statIfExists(path: string): FileStat | undefined {
    try {
      return this.#files.lstat(path);
    } catch {
      return undefined; // it does not exist
    }
  }

  #fingerprint({ mode, ino, size, ctime }: FileStat): string {
    return this.#files.isDir(mode) ? "folder" : `${ino} ${size} ${ctime.getTime()}`;
  }
}

function isTooRecent({ ctime }: FileStat): boolean {
  return Date.now() - ctime.getTime() <= TIMESTAMP_TOLERANCE_MS;
}

/** Makes writes fail like on a full disk when all files together would exceed `diskBytes`. */
function limitDiskUsage(files: PyodideFiles, memory: MemoryFiles, diskBytes: number): void {
  const { stream, node: nodes } = memory.ops_table.file;
  const { write } = stream;
  const { setattr } = nodes;
  // Deleted files are not noticed here, so recount when the disk seems full.
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

/** Folders that are nested too deeply to be counted count as a full disk. */
function countBytes(files: PyodideFiles, folder: string, depth = 1): number {
  if (depth > MAX_DEPTH) return Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (const name of files.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const stat = files.lstat(`${folder}/${name}`);
    bytes += files.isDir(stat.mode) ? countBytes(files, `${folder}/${name}`, depth + 1) : stat.size;
  }
  return bytes;
}
