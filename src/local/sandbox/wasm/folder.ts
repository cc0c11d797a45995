import type { Stats } from "node:fs";
import { lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../../host/file-access.ts";
import type { FileChange } from "./messages.ts";

const TOGETHER = 32;

export interface WasmFolderLimits {
  readonly diskBytes: number;
  readonly maxFiles: number;
}

/** The host's side of `/mnt/data`: tells what was changed here, and does what code did there. */
export class WasmFolder {
  readonly #root: string;
  readonly #limits: WasmFolderLimits;
  #known = new Map<string, Known>();
  #bytes = 0;

  constructor(root: string, limits: WasmFolderLimits) {
    this.#root = root;
    this.#limits = limits;
  }

  /** A new interpreter has nothing yet. */
  forget(): void {
    this.#known = new Map();
    this.#bytes = 0;
  }

  /** What changed here since the last look. Links and devices are nobody's, and are not told of. */
  async *look(): AsyncGenerator<FileChange> {
    const found = new Map<string, Known>();
    await this.#walk("", found);
    for (const path of [...this.#known.keys()].reverse()) {
      if (!found.has(path)) yield { change: "gone", path };
    }
    for (const [path, known] of found) {
      if (this.#known.get(path)?.print === known.print) continue;
      if (known.bytes === null) yield { change: "folder", path };
      else yield { change: "file", path, bytes: await readFile(join(this.#root, path)) };
    }
    this.#known = found;
    this.#bytes = [...found.values()].reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
  }

  /** Does here what code did, as far as it may, and says what it may not. */
  async take(changes: readonly FileChange[]): Promise<readonly string[]> {
    const refused: string[] = [];
    let together: Promise<void>[] = [];
    for (const change of changes) {
      if (!this.#admits(change)) refused.push(change.path);
      else if (change.change === "file") together.push(this.#write(change.path, change.bytes));
      else await this.#takeOther(change);
      if (together.length < TOGETHER) continue;
      await Promise.all(together);
      together = [];
    }
    await Promise.all(together);
    return refused;
  }

  /** Whether a change may be done; if so, its room is taken. */
  #admits({ change, path, ...rest }: FileChange): boolean {
    if (change === "gone") return true; // only what is known can be, and that was admitted
    if (!isPlainPath(path)) return false;
    const bytes = "bytes" in rest ? rest.bytes.length : 0;
    const known = this.#known.get(path);
    if (!known && this.#known.size >= this.#limits.maxFiles) return false;
    if (this.#bytes - (known?.bytes ?? 0) + bytes > this.#limits.diskBytes) return false;
    this.#drop(path);
    this.#known.set(path, { bytes, print: "" });
    this.#bytes += bytes;
    return true;
  }

  async #takeOther({ change, path }: FileChange): Promise<void> {
    if (change === "folder") await this.#makeFolders(path);
    // Only what the interpreter had can be gone: an upload that came meanwhile is not.
    else if (this.#drop(path)) await this.#remove(path);
    if (change === "folder") this.#known.set(path, FOLDER);
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const place = join(this.#root, path);
    await this.#makeFolders(parentOf(path));
    if ((await statOf(place))?.isDirectory()) await rm(place, { recursive: true });
    // A link that is in its place is replaced and not followed.
    await replaceFile(place, (temporary) => writeFile(temporary, bytes, { flag: "wx" }));
    this.#known.set(path, knownOf(await lstat(place)));
  }

  #drop(path: string): boolean {
    this.#bytes -= this.#known.get(path)?.bytes ?? 0;
    return this.#known.delete(path);
  }

  /** Step by step, so that no link on the way is followed. */
  async #makeFolders(path: string): Promise<void> {
    let place = this.#root;
    for (const part of path === "" ? [] : path.split("/")) {
      place = join(place, part);
      const stat = await statOf(place);
      if (stat?.isDirectory()) continue;
      if (stat) await rm(place, { force: true });
      await mkdir(place, { recursive: true });
    }
  }

  async #remove(path: string): Promise<void> {
    let place = this.#root;
    for (const part of path.split("/").slice(0, -1)) {
      place = join(place, part);
      if (!(await statOf(place))?.isDirectory()) return;
    }
    await rm(join(this.#root, path), { recursive: true, force: true });
  }

  async #walk(folder: string, found: Map<string, Known>): Promise<void> {
    const names = (await readdir(join(this.#root, folder))).sort();
    const paths = names.map((name) => (folder === "" ? name : `${folder}/${name}`));
    const stats = await Promise.all(paths.map((path) => statOf(join(this.#root, path))));
    for (const [index, path] of paths.entries()) {
      const stat = stats[index];
      if (!stat?.isFile() && !stat?.isDirectory()) continue;
      found.set(path, knownOf(stat));
      if (stat.isDirectory()) await this.#walk(path, found);
    }
  }
}

/** What is remembered of a path: its size, `null` for a folder, and what changes when it does. */
interface Known {
  readonly bytes: number | null;
  readonly print: string;
}

const FOLDER: Known = { bytes: null, print: "folder" };

function knownOf(stat: Stats): Known {
  if (stat.isDirectory()) return FOLDER;
  return { bytes: stat.size, print: `${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs}` };
}

async function statOf(place: string): Promise<Stats | undefined> {
  try {
    return await lstat(place);
  } catch {
    return undefined; // it is not there
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

// Windows reads more letters as the end of a name.
const NO_NAME = process.platform === "win32" ? /[\0\\:]/ : /\0/;

/** Whether a path stays below the folder it is joined to, by its letters alone. */
export function isPlainPath(path: string): boolean {
  if (path.length > 4_096 || NO_NAME.test(path) || !path.isWellFormed()) return false;
  return path
    .split("/")
    .every((part) => part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) < 256);
}
