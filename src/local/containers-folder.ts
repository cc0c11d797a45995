import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  opendirSync,
  openSync,
  unlinkSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { FoundFile } from "./store/container-file-store.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Opens a folder, and nothing that only points at one. */
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/** Opens a file, and neither follows a link nor waits at a pipe. */
const FILE = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Folders deeper than this are not searched: each level holds one open. */
const DEEPEST = 32;

/** Other work may go on after so many entries. */
const ENTRIES_PER_TURN = 500;

/** What is in a folder that code may do anything to, as far as it is searched. */
export interface FolderSearch {
  readonly files: readonly FoundFile[];
  readonly isPartial: boolean;
}

/**
 * Every regular file below a folder that untrusted code writes to, perhaps at this moment. Links,
 * pipes and devices are no files of it: none is followed or opened.
 */
export async function searchFolder(root: string, maxFiles: number): Promise<FolderSearch> {
  const search: Search = { files: [], entriesLeft: maxFiles * 2, maxFiles, isPartial: false };
  await searchBelow({ path: root, place: root }, [], search);
  const { files, isPartial } = search;
  // Folders have an order of their own, which nobody can know.
  return { files: files.sort((a, b) => (a.name < b.name ? -1 : 1)), isPartial };
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
  isPartial: boolean;
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
    const listing = opendirSync(folder.place);
    try {
      for (let entry = listing.readSync(); entry; entry = listing.readSync()) {
        if (search.entriesLeft-- <= 0) search.isPartial = true;
        if (search.isPartial) return;
        if (search.entriesLeft % ENTRIES_PER_TURN === 0) await nextTurn();
        await noteEntry(entry, { folder, parents, search });
      }
    } finally {
      listing.closeSync();
    }
  } finally {
    closeSync(folder.descriptor);
  }
}

async function noteEntry(
  entry: Dirent,
  { folder, parents, search }: { folder: Opened; parents: readonly string[]; search: Search },
): Promise<void> {
  const child = childOf(folder, entry.name);
  const names = [...parents, entry.name];
  if (entry.isDirectory()) {
    if (names.length >= DEEPEST) search.isPartial = true;
    else await searchBelow(child, names, search);
    return;
  }
  const stat = ifThere(() => lstatSync(child.place, { bigint: true }));
  if (!stat?.isFile()) return;
  if (search.files.length >= search.maxFiles) search.isPartial = true;
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

function childOf(folder: Opened, name: string): Place {
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
