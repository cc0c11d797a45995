import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FoundFile } from "../store/container-file-store.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Opens a folder, never a link to one. */
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** Opens a file without following a link or blocking on a pipe. */
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Deeper folders are not searched, because each level keeps a descriptor open. */
const MAX_DEPTH = 32;

/** Yields to other work after this many entries. */
const ENTRIES_PER_TURN = 500;

/** On any file system a folder has at most as many entries as bytes. One this small is read at once. */
const SMALL_FOLDER_BYTES = 4_096;

/** Result of searching a folder that untrusted code can change at any time. */
export interface FolderSearch {
  readonly files: readonly FoundFile[];
  readonly isPartial: boolean;
  /** Whether the folder has no entries of any kind. */
  readonly isEmpty: boolean;
}

/**
 * Finds every regular file below a folder, while untrusted code may be writing to it. Skips links, pipes
 * and devices without following or opening them.
 */
export async function searchContainerFolder(root: string, maxFiles: number): Promise<FolderSearch> {
  const maxEntries = maxFiles * 2;
  const search: Search = {
    files: [],
    entriesLeft: maxEntries,
    maxFiles,
    isTooDeep: false,
    isOver: false,
  };
  // Code cannot replace the root folder itself, so its path is safe to use.
  await searchIn({ path: root, place: root }, [], search);
  const { files, isTooDeep, isOver } = search;
  // The order of a folder's entries is unspecified.
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const isEmpty = search.entriesLeft === maxEntries;
  return { files, isPartial: isTooDeep || isOver, isEmpty };
}

/** Opens a file below the folder for reading; `null` if `name` is not a regular file. */
export async function openInFolder(root: string, name: string): Promise<FileHandle | null> {
  return await withPlace(root, name, async (place) => {
    // Check the type first, because opening a device can have side effects.
    if (!lstatSync(place).isFile()) return null;
    const handle = await open(place, FILE);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return null;
  });
}

/** Removes a file below the folder; `false` if `name` is not a regular file. */
export async function removeInFolder(root: string, name: string): Promise<boolean> {
  const removed = await withPlace(root, name, async (place) => {
    if (!lstatSync(place).isFile()) return false;
    unlinkSync(place);
    return true;
  });
  return removed ?? false;
}

/** Returns a fingerprint of a file's state, not including owner and permissions. */
export function toFileStamp({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}`;
}

interface Search {
  readonly files: FoundFile[];
  readonly maxFiles: number;
  entriesLeft: number;
  /** Some folder was too deep and was skipped. */
  isTooDeep: boolean;
  /** A limit was reached and the search stopped. */
  isOver: boolean;
}

/** An entry by its path, and by a name through a descriptor that no link can redirect. */
interface Place {
  readonly path: string;
  readonly place: string;
}

interface OpenFolder extends Place {
  readonly descriptor: number;
}

async function searchBelow(at: Place, parents: readonly string[], search: Search): Promise<void> {
  const folder = nullIfGone(() => openFolder(at));
  if (!folder) return;
  try {
    await searchIn(folder, parents, search);
  } finally {
    closeSync(folder.descriptor);
  }
}

/** Lists a folder's own files before those in its subfolders, so that a partial result has the nearest files. */
async function searchIn(folder: Place, parents: readonly string[], search: Search): Promise<void> {
  const folders: Dirent[] = [];
  for (const entry of listEntries(folder.place)) {
    if (search.entriesLeft-- <= 0) search.isOver = true;
    if (search.isOver) return;
    if (search.entriesLeft % ENTRIES_PER_TURN === 0) await nextTurn();
    if (entry.isDirectory()) folders.push(entry);
    else addFile(toChildPlace(folder, entry.name), [...parents, entry.name], search);
  }
  for (const { name } of folders) {
    if (search.isOver) return;
    const names = [...parents, name];
    if (names.length >= MAX_DEPTH) search.isTooDeep = true;
    else await searchBelow(toChildPlace(folder, name), names, search);
  }
}

/** Yields a folder's entries. A large folder is read only as far as the caller iterates. */
function* listEntries(place: string): Generator<Dirent> {
  const size = nullIfGone(() => statSync(place).size) ?? 0;
  if (size <= SMALL_FOLDER_BYTES) {
    yield* nullIfGone(() => readdirSync(place, { withFileTypes: true })) ?? [];
    return;
  }
  const listing = opendirSync(place);
  try {
    for (let entry = listing.readSync(); entry; entry = listing.readSync()) yield entry;
  } finally {
    listing.closeSync();
  }
}

function addFile({ place }: Place, names: readonly string[], search: Search): void {
  const stat = nullIfGone(() => lstatSync(place, { bigint: true }));
  if (!stat?.isFile()) return;
  if (search.files.length >= search.maxFiles) search.isOver = true;
  else
    search.files.push({
      name: names.join("/"),
      bytes: Number(stat.size),
      stamp: toFileStamp(stat),
    });
}

function openFolder({ path, place }: Place): OpenFolder {
  const descriptor = openSync(place, FOLDER);
  return { path, descriptor, place: getDescriptorPath(descriptor) ?? path };
}

/** Descends to `name` without following links and runs `work` there; `null` if the path does not exist. */
async function withPlace<Result>(
  root: string,
  name: string,
  work: (place: string) => Promise<Result>,
): Promise<Result | null> {
  const opened: OpenFolder[] = [];
  try {
    let at: Place = { path: root, place: root };
    for (const part of name.split("/")) {
      const folder = openFolder(at);
      opened.push(folder);
      at = toChildPlace(folder, part);
    }
    return await work(at.place);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  } finally {
    for (const { descriptor } of opened) closeSync(descriptor);
  }
}

/** Returns `null` if the entry was deleted or replaced in the meantime. */
function nullIfGone<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function toChildPlace(folder: Place, name: string): Place {
  return { path: join(folder.path, name), place: join(folder.place, name) };
}

/**
 * Returns a path through an open descriptor. Code cannot insert a link between the check and the opening
 * there. `undefined` if the system does not support that; only links that already exist are then detected.
 */
function getDescriptorPath(descriptor: number): string | undefined {
  const place = `/proc/self/fd/${descriptor}`;
  return existsSync(place) ? place : undefined;
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENXIO", "ENAMETOOLONG"].includes(String(code));
}
