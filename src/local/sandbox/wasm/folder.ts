import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../../host/replace-file.ts";
import type { FileChange, FileContent } from "./kernel-messages.ts";

const PARALLEL_WRITES = 32;

/** Limits on the files in a container's folder. */
export interface WasmFolderLimits {
  readonly diskBytes: number;
  readonly maxFiles: number;
}

/** The host's side of `/mnt/data`: finds changes on the host and applies changes made by code. */
export class WasmFolder {
  readonly #root: string;
  readonly #limits: WasmFolderLimits;
  #known = new Map<string, KnownEntry>();
  #bytes = 0;
  /** A file of which more bytes follow. Not kept if it did not fit; the rest of it is then ignored. */
  #unfinished: { readonly path: string; readonly isKept: boolean } | undefined;

  constructor(root: string, limits: WasmFolderLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /** Clears the known files. Call it for a new interpreter, which starts without files. */
  reset(): void {
    this.#known = new Map();
    this.#bytes = 0;
  }

  /** Yields the changes on the host since the last call. Ignores links and devices. */
  async *findChanges(): AsyncGenerator<FileChange> {
    const found = new Map<string, KnownEntry>();
    await this.#walk("", found);
    for (const path of [...this.#known.keys()].reverse()) {
      if (!found.has(path)) yield { change: "deleted", path };
    }
    for (const [path, known] of found) {
      if (this.#known.get(path)?.fingerprint === known.fingerprint) continue;
      if (known.bytes === null) yield { change: "folder", path };
      else yield { change: "file", path, bytes: await readFile(join(this.#root, path)) };
    }
    this.#known = found;
    this.#bytes = [...found.values()].reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  }

  /** Applies changes made by code and returns the paths that were rejected. */
  async applyChanges(changes: readonly FileChange[]): Promise<readonly string[]> {
    const refused: string[] = [];
    let together: Promise<void>[] = [];
    for (const change of changes) {
      const isPiece = change.change === "file" && (change.more || this.#unfinished);
      if (isPiece) {
        if (!(await this.#addPiece(change))) refused.push(change.path);
      } else if (!this.#reserve(change, getSize(change))) refused.push(change.path);
      else if (change.change === "file") together.push(this.#write(change.path, change.bytes));
      else await this.#applyOther(change);
      if (together.length < PARALLEL_WRITES) continue;
      await Promise.all(together);
      together = [];
    }
    await Promise.all(together);
    return refused;
  }

  /** Removes a file whose last bytes have not arrived. */
  async removeUnfinished(): Promise<void> {
    const unfinished = this.#unfinished;
    this.#unfinished = undefined;
    if (!unfinished?.isKept) return;
    this.#forgetPath(unfinished.path);
    await this.#remove(unfinished.path);
  }

  /** Adds bytes to a file that arrives in pieces. Returns false once, at the piece that does not fit. */
  async #addPiece({ path, bytes, more = false }: FileContent): Promise<boolean> {
    const previous = this.#unfinished?.path === path ? this.#unfinished : undefined;
    if (!previous) await this.removeUnfinished();
    this.#unfinished = more ? (previous ?? { path, isKept: true }) : undefined;
    if (previous?.isKept === false) return true; // already refused
    const size = (previous ? (this.#known.get(path)?.bytes ?? 0) : 0) + bytes.length;
    if (this.#reserve({ change: "file", path }, size)) {
      await (previous ? this.#append(path, bytes) : this.#write(path, bytes));
      return true;
    }
    if (previous && this.#forgetPath(path)) await this.#remove(path);
    if (more) this.#unfinished = { path, isKept: false };
    return false;
  }

  async #append(path: string, bytes: Uint8Array): Promise<void> {
    const { O_APPEND, O_NOFOLLOW = 0, O_WRONLY } = constants;
    await using file = await open(join(this.#root, path), O_APPEND | O_NOFOLLOW | O_WRONLY);
    await file.writeFile(bytes);
    this.#known.set(path, toKnownEntry(await file.stat()));
  }

  /** Whether a change is allowed. If so, reserves its space. */
  #reserve({ change, path }: Pick<FileChange, "change" | "path">, bytes: number): boolean {
    if (change === "deleted") return true; // only known paths can be deleted, and those were admitted
    if (!isPlainPath(path)) return false;
    const known = this.#known.get(path);
    if (!known && this.#known.size >= this.#limits.maxFiles) return false;
    if (this.#bytes - (known?.bytes ?? 0) + bytes > this.#limits.diskBytes) return false;
    this.#forgetPath(path);
    this.#known.set(path, { bytes, fingerprint: "" });
    this.#bytes += bytes;
    return true;
  }

  async #applyOther({ change, path }: FileChange): Promise<void> {
    if (change === "folder") await this.#createFolders(path);
    // Delete only what the interpreter had: an upload that arrived in the meantime stays.
    else if (this.#forgetPath(path)) await this.#remove(path);
    if (change === "folder") this.#known.set(path, FOLDER);
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const place = join(this.#root, path);
    await this.#createFolders(getParentPath(path));
    if ((await statIfExists(place))?.isDirectory()) await rm(place, { recursive: true });
    // Replaces a link instead of following it.
    await replaceFile(place, (temporary) => writeFile(temporary, bytes, { flag: "wx" }));
    this.#known.set(path, toKnownEntry(await lstat(place)));
  }

  #forgetPath(path: string): boolean {
    this.#bytes -= this.#known.get(path)?.bytes ?? 0;
    return this.#known.delete(path);
  }

  /** Creates folders one by one, so that no link on the way is followed. */
  async #createFolders(path: string): Promise<void> {
    let place = this.#root;
    for (const part of path === "" ? [] : path.split("/")) {
      place = join(place, part);
      const stat = await statIfExists(place);
      if (stat?.isDirectory()) continue;
      if (stat) await rm(place, { force: true });
      await mkdir(place, { recursive: true });
    }
  }

  async #remove(path: string): Promise<void> {
    let place = this.#root;
    for (const part of path.split("/").slice(0, -1)) {
      place = join(place, part);
      if (!(await statIfExists(place))?.isDirectory()) return;
    }
    await rm(join(this.#root, path), { recursive: true, force: true });
  }

  async #walk(folder: string, found: Map<string, KnownEntry>): Promise<void> {
    const names = (await readdir(join(this.#root, folder))).sort();
    const paths = names.map((name) => (folder === "" ? name : `${folder}/${name}`));
    const stats = await Promise.all(paths.map((path) => statIfExists(join(this.#root, path))));
    for (const [index, path] of paths.entries()) {
      const stat = stats[index];
      if (!stat?.isFile() && !stat?.isDirectory()) continue;
      found.set(path, toKnownEntry(stat));
      if (stat.isDirectory()) await this.#walk(path, found);
    }
  }
}

/** A known path: its size (`null` for a folder) and a fingerprint that changes with the file. */
interface KnownEntry {
  readonly bytes: number | null;
  readonly fingerprint: string;
}

const FOLDER: KnownEntry = { bytes: null, fingerprint: "folder" };

function toKnownEntry(stat: Stats): KnownEntry {
  if (stat.isDirectory()) return FOLDER;
  return {
    bytes: stat.size,
    fingerprint: `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}`,
  };
}

async function statIfExists(place: string): Promise<Stats | undefined> {
  try {
    return await lstat(place);
  } catch {
    return undefined; // it does not exist
  }
}

function getSize(change: FileChange): number {
  return change.change === "file" ? change.bytes.length : 0;
}

function getParentPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

// Windows treats more characters as the end of a name.
const INVALID_CHARACTERS = process.platform === "win32" ? /[\0\\:]/ : /\0/;

/** Whether a path stays below the folder it is joined to, judged by its characters alone. */
export function isPlainPath(path: string): boolean {
  if (path.length > 4_096 || INVALID_CHARACTERS.test(path) || !path.isWellFormed()) return false;
  return path
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) < 256);
}
