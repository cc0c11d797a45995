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

/** Opens a folder, and nothing that only points at one. */
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** Opens a file, and neither follows a link nor waits at a pipe. */
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Folders deeper than this are not searched: each level holds one open. */
const DEEPEST = 32;

/** Other work may go on after so many entries. */
const ENTRIES_PER_TURN = 500;

/** A folder has no more entries than bytes, in any file system: one this small is read at once. */
const SMALL_FOLDER_BYTES = 4_096;

/** What is in a folder that code may do anything to, as far as it is searched. */
export interface FolderSearch {
  readonly files: readonly FoundFile[];
  readonly isPartial: boolean;
  /** There was nothing at all, neither files nor anything else. */
  readonly isEmpty: boolean;
}

/**
 * Every regular file below a folder that untrusted code writes to, perhaps at this moment. Links,
 * pipes and devices are no files of it: none is followed or opened.
 */
export async function searchFolder(root: string, maxFiles: number): Promise<FolderSearch> {
  const mostEntries = maxFiles * 2;
  const search: Search = {
    files: [],
    entriesLeft: mostEntries,
    maxFiles,
    isTooDeep: false,
    isOver: false,
  };
  // Code can put nothing in the place of the folder itself, so its path leads there.
  await searchIn({ path: root, place: root }, [], search);
  const { files, isTooDeep, isOver } = search;
  // Folders have an order of their own, which nobody can know.
  files.sort((a, b) => (a.name < b.name ? -1 : 1));
  const isEmpty = search.entriesLeft === mostEntries;
  return { files, isPartial: isTooDeep || isOver, isEmpty };
}

/** A file below the folder, opened for reading; `null` if there is no regular file of that name. */
export async function openInFolder(root: string, name: string): Promise<FileHandle | null> {
  return await atPlaceOf(root, name, async (place) => {
    // Looked at first, for opening a device can do something.
    if (!lstatSync(place).isFile()) return null;
    const handle = await open(place, FILE);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return null;
  });
}

/** Removes a file below the folder; `false` if there is no regular file of that name. */
export async function removeInFolder(root: string, name: string): Promise<boolean> {
  const removed = await atPlaceOf(root, name, async (place) => {
    if (!lstatSync(place).isFile()) return false;
    unlinkSync(place);
    return true;
  });
  return removed ?? false;
}

/** What tells one state of a file from another. Who owns it or may read it is not part of that. */
export function stampOf({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}`;
}

interface Search {
  readonly files: FoundFile[];
  readonly maxFiles: number;
  entriesLeft: number;
  /** Some folder was passed over. */
  isTooDeep: boolean;
  /** No more is looked at. */
  isOver: boolean;
}

/** Something in a folder: by its path, and by a name for it that no other path leads to. */
interface Place {
  readonly path: string;
  readonly place: string;
}

interface Opened extends Place {
  readonly descriptor: number;
}

async function searchBelow(at: Place, parents: readonly string[], search: Search): Promise<void> {
  const folder = ifThere(() => openFolder(at));
  if (!folder) return;
  try {
    await searchIn(folder, parents, search);
  } finally {
    closeSync(folder.descriptor);
  }
}

/** The files of a folder come before those below it: where not all are found, they are the nearest. */
async function searchIn(folder: Place, parents: readonly string[], search: Search): Promise<void> {
  const folders: Dirent[] = [];
  for (const entry of entriesOf(folder.place)) {
    if (search.entriesLeft-- <= 0) search.isOver = true;
    if (search.isOver) return;
    if (search.entriesLeft % ENTRIES_PER_TURN === 0) await nextTurn();
    if (entry.isDirectory()) folders.push(entry);
    else noteFile(childOf(folder, entry.name), [...parents, entry.name], search);
  }
  for (const { name } of folders) {
    if (search.isOver) return;
    const names = [...parents, name];
    if (names.length >= DEEPEST) search.isTooDeep = true;
    else await searchBelow(childOf(folder, name), names, search);
  }
}

/** Whatever is in a folder; of a large one not all is read if not all is asked for. */
function* entriesOf(place: string): Generator<Dirent> {
  const size = ifThere(() => statSync(place).size) ?? 0;
  if (size <= SMALL_FOLDER_BYTES) {
    yield* ifThere(() => readdirSync(place, { withFileTypes: true })) ?? [];
    return;
  }
  const listing = opendirSync(place);
  try {
    for (let entry = listing.readSync(); entry; entry = listing.readSync()) yield entry;
  } finally {
    listing.closeSync();
  }
}

function noteFile({ place }: Place, names: readonly string[], search: Search): void {
  const stat = ifThere(() => lstatSync(place, { bigint: true }));
  if (!stat?.isFile()) return;
  if (search.files.length >= search.maxFiles) search.isOver = true;
  else search.files.push({ name: names.join("/"), bytes: Number(stat.size), stamp: stampOf(stat) });
}

function openFolder({ path, place }: Place): Opened {
  const descriptor = openSync(place, FOLDER);
  return { path, descriptor, place: throughDescriptor(descriptor) ?? path };
}

/** Goes down to what `name` is, no link followed; `null` if the way there is not there. */
async function atPlaceOf<Result>(
  root: string,
  name: string,
  work: (place: string) => Promise<Result>,
): Promise<Result | null> {
  const opened: Opened[] = [];
  try {
    let at: Place = { path: root, place: root };
    for (const part of name.split("/")) {
      const folder = openFolder(at);
      opened.push(folder);
      at = childOf(folder, part);
    }
    return await work(at.place);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  } finally {
    for (const { descriptor } of opened) closeSync(descriptor);
  }
}

/** `null` if it went, or became a link or something else, between two looks. */
function ifThere<Result>(look: () => Result): Result | null {
  try {
    return look();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function childOf(folder: Place, name: string): Place {
  return { path: join(folder.path, name), place: join(folder.place, name) };
}

/**
 * Through an open descriptor nobody can put a link in the way between a look and an opening. Where
 * the system has no such names the path is used, and only a link that is there already is seen.
 */
function throughDescriptor(descriptor: number): string | undefined {
  const place = `/proc/self/fd/${descriptor}`;
  return existsSync(place) ? place : undefined;
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return ["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "ENXIO", "ENAMETOOLONG"].includes(String(code));
}
