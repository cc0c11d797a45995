import { type Dirent, readdirSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { openNoFollow } from "../../../host/open-no-follow.ts";
import { PinnedFolder, toPinnedName } from "../../../host/pinned-folder.ts";
import { normalizePath } from "../../path.ts";
import type { PathMatcher } from "../glob.ts";
import { WalkedPath } from "../walk-path.ts";

/** A file that a walk has found. */
export interface WalkedFile {
  readonly path: string;
  /** Opens the file for reading, until the walk continues. Throws Node's error, also if it is not a file anymore. */
  open(): number;
}

/** Options of {@link walkFiles}. */
export interface WalkOptions {
  /** Called if there are too many entries to visit all of them. */
  readonly onCut: () => void;
  /** Stops the walk when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** The maximum number of entries. @default 1000000 */
  readonly maxEntries?: number | undefined;
}

const MAX_ENTRIES = 1_000_000;

/** On any file system a folder has at most as many entries as bytes. One this small is read at once. */
const SMALL_FOLDER_BYTES = 64 * 1024;

const ENTRIES_PER_TURN = 250;

/**
 * Visits every file below the root in the order of the paths, through open folders that no symlink can redirect.
 * Includes symlinks to files inside the root, but does not enter symlinks to directories.
 */
export async function* walkFiles(
  root: string,
  { onCut, signal, maxEntries = MAX_ENTRIES }: WalkOptions,
): AsyncGenerator<WalkedFile, void, undefined> {
  const open: OpenFolder[] = [];
  let left = maxEntries;
  let visited = 0;
  const enter = async (enterFolder: () => PinnedFolder, prefix: string) => {
    const folder = tryEnter(enterFolder);
    if (folder === null) return;
    open.push({ folder, prefix, entries: [], next: 0 });
    const entries = await tryReadEntries(folder, left);
    left -= entries.length;
    if (left <= 0) onCut();
    open[open.length - 1] = { folder, prefix, entries: sortEntries(entries), next: 0 };
  };
  try {
    await enter(() => PinnedFolder.pin(Buffer.from(root)), "");
    for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
      if (++visited % ENTRIES_PER_TURN === 0) {
        signal?.throwIfAborted();
        await nextTurn();
      }
      const { folder, prefix, entries } = current;
      const entry = entries[current.next++];
      if (entry === undefined) {
        open.pop();
        folder[Symbol.dispose]();
        continue;
      }
      const path = prefix + entry.name;
      if (entry.isFile()) {
        yield { path, open: () => openNoFollow(folder.toPath(toPinnedName(entry.name))) };
      } else if (entry.isDirectory()) {
        const isVisited = left > 0 && isValidPath(`${path}/x`);
        const name = toPinnedName(entry.name);
        if (isVisited) await enter(() => folder.enter(name), `${path}/`);
      } else if (entry.isSymbolicLink() && leadsToFile(root, path)) {
        yield { path, open: () => openLinked(root, path) };
      }
    }
  } finally {
    for (const { folder } of open) folder[Symbol.dispose]();
  }
}

/** Options of {@link listMatchingFiles}. */
export interface ListOptions extends Omit<WalkOptions, "onCut"> {
  readonly matches: PathMatcher;
}

/** Lists the paths of the files below a root that match, sorted. Throws if there are too many entries. */
export async function listMatchingFiles(
  root: string,
  { matches, signal, maxEntries = MAX_ENTRIES }: ListOptions,
): Promise<string[]> {
  signal?.throwIfAborted();
  const paths: string[] = [];
  const onCut = () => {
    const problem = `has more than ${maxEntries} entries. Use a folder below it as the root.`;
    throw new FilesystemError("EFBIG", ".", problem);
  };
  for await (const { path } of walkFiles(root, { onCut, signal, maxEntries })) {
    if (matches(path)) paths.push(path);
  }
  return paths;
}

interface OpenFolder {
  readonly folder: PinnedFolder;
  /** The path of the folder and a slash, or `""` for the root. */
  readonly prefix: string;
  readonly entries: readonly Dirent[];
  next: number;
}

/** Returns `null` for a folder that was removed, replaced or is not accessible. */
function tryEnter(enterFolder: () => PinnedFolder): PinnedFolder | null {
  try {
    return enterFolder();
  } catch {
    return null;
  }
}

/** Reads the entries of a folder, up to `most`. Returns none if it is not readable. */
async function tryReadEntries(folder: PinnedFolder, most: number): Promise<Dirent[]> {
  try {
    if (folder.stat().size <= SMALL_FOLDER_BYTES)
      return readdirSync(folder.hostPath, { withFileTypes: true });
    const entries: Dirent[] = [];
    for await (const entry of await opendir(folder.hostPath.toString(), { bufferSize: 1024 })) {
      if (entries.push(entry) >= most) break;
    }
    return entries;
  } catch {
    return [];
  }
}

/** Sorts entries so that the walk visits paths in code unit order: `a.b` before `a/b`. */
function sortEntries(entries: readonly Dirent[]): readonly Dirent[] {
  const keyed = entries.map((entry) => ({
    key: entry.isDirectory() ? `${entry.name}/` : entry.name,
    entry,
  }));
  return keyed.sort((one, other) => (one.key < other.key ? -1 : 1)).map(({ entry }) => entry);
}

/** Whether a path is valid. A file that is nested too deeply has no valid path. */
function isValidPath(path: string): boolean {
  try {
    return normalizePath(path) === path;
  } catch {
    return false;
  }
}

function leadsToFile(root: string, path: string): boolean {
  try {
    using walked = new WalkedPath(root, path);
    return walked.end.kind === "found" && walked.end.stats.isFile();
  } catch {
    return false; // no access
  }
}

function openLinked(root: string, path: string): number {
  using walked = new WalkedPath(root, path);
  const { end } = walked;
  if (end.kind !== "found" || !end.entry)
    throw FilesystemError.invalid(path, "is not a file anymore");
  return openNoFollow(end.entry.folder.toPath(end.entry.name));
}
