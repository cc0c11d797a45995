import { closeSync, fstatSync, readSync } from "node:fs";
import type { GrepMatch } from "../filesystem.ts";
import { globMatcher } from "../glob.ts";
import { LineSearch } from "./line-search.ts";
import { type WalkedFile, walkFiles } from "./walk-files.ts";

/** Where a thread finds the files to search. */
export type SearchSource =
  | { readonly type: "folder"; readonly root: string }
  /** Files in memory, sorted by path. */
  | { readonly type: "files"; readonly files: readonly (readonly [string, Uint8Array])[] };

/** A search for a thread. */
export interface SearchTask {
  readonly pattern: string;
  readonly glob: string | undefined;
  readonly maxMatches: number;
  readonly source: SearchSource;
}

/** Counts of files and lines that a search has skipped. */
export interface Omissions {
  largeFiles: number;
  longLines: number;
  /** Whether the folder has too many entries to visit all of them. */
  isCut: boolean;
}

/** Searches files in the order of their paths and passes on the matches of each file. */
export async function searchFiles(
  { pattern, glob, maxMatches, source }: SearchTask,
  onMatches: (matches: readonly GrepMatch[]) => void,
): Promise<Omissions> {
  const accepts = glob === undefined ? () => true : globMatcher(glob);
  const search = new LineSearch(new RegExp(pattern));
  const omissions: Omissions = { largeFiles: 0, longLines: 0, isCut: false };
  let left = maxMatches;
  const searchFile = (path: string, chunks: Iterable<Uint8Array>) => {
    const { matches, longLines } = search.search(path, chunks, left);
    omissions.longLines += longLines;
    left -= matches.length;
    if (matches.length > 0) onMatches(matches);
  };
  if (source.type === "files") {
    for (const [path, bytes] of source.files) {
      if (left > 0 && accepts(path)) searchFile(path, [bytes]);
    }
    return omissions;
  }
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const onCut = () => {
    omissions.isCut = true;
  };
  for await (const file of walkFiles(source.root, { onCut })) {
    if (left <= 0) break;
    if (!accepts(file.path)) continue;
    const descriptor = tryOpen(file);
    if (descriptor === null) continue;
    try {
      const { size } = fstatSync(descriptor);
      if (size > MAX_FILE_BYTES) omissions.largeFiles += 1;
      else searchFile(file.path, readChunks(descriptor, size, buffer));
    } finally {
      closeSync(descriptor);
    }
  }
  return omissions;
}

const CHUNK_BYTES = 256 * 1024;
const MAX_FILE_BYTES = 256 * 2 ** 20;

/** Opens a file, or returns `null` if it is not readable. */
function tryOpen(file: WalkedFile): number | null {
  try {
    return file.open();
  } catch {
    return null;
  }
}

/** Reads at most the size that the file had when it was opened: it may grow as fast as it is read. */
function* readChunks(descriptor: number, size: number, buffer: Buffer): Generator<Buffer> {
  for (let left = size; left > 0; ) {
    const read = readSync(descriptor, buffer, 0, Math.min(left, buffer.length), null);
    if (read === 0) return;
    yield buffer.subarray(0, read);
    left -= read;
  }
}
