import { lstatSync, opendirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import { decodeText, getExtension } from "../search/extract-text.ts";

/** A page file in the folder. */
export interface PageFile {
  /** Path below the folder, with slashes. */
  readonly path: string;
  readonly format: "html" | "markdown" | "text";
  readonly source: string;
}

const MAX_PAGES = 20_000;
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const MAX_CHARACTERS = 512 * 1024 * 1024;

/**
 * Reads the pages below a folder, sorted by path. Does not follow links, so that nothing outside is read.
 * Skips files larger than 4 MiB and binary files. Throws if there are too many pages.
 */
export function readPageFiles(folder: string): readonly PageFile[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw createFolderError(folder);
  const pages: PageFile[] = [];
  let bytes = 0;
  for (const path of listPaths(folder, "")) {
    const format = getPageFormat(path);
    if (format === null) continue;
    const source = readTextFile(folder, path);
    if (source === null) continue;
    bytes += source.length;
    if (pages.push({ path, format, source }) > MAX_PAGES || bytes > MAX_CHARACTERS) {
      throw createSizeError(folder);
    }
  }
  return pages.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Reads a text file below the folder; `null` if it does not exist, is too large, or is not text. */
export function readTextFile(folder: string, path: string): string | null {
  const full = join(folder, path);
  const found = lstatSync(full, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > MAX_PAGE_BYTES) return null;
  return decodeText(readFileSync(full));
}

function* listPaths(folder: string, path: string): Generator<string> {
  using entries = toDisposable(opendirSync(join(folder, path)));
  for (let entry = entries.read(); entry; entry = entries.read()) {
    const inner = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* listPaths(folder, inner);
    else if (entry.isFile()) yield inner;
  }
}

/** Wraps a directory, because Node 22's directories are not disposable. */
function toDisposable(directory: ReturnType<typeof opendirSync>) {
  return { read: () => directory.readSync(), [Symbol.dispose]: () => directory.closeSync() };
}

function getPageFormat(path: string): PageFile["format"] | null {
  const extension = getExtension(path);
  if (extension === "html" || extension === "htm") return "html";
  if (extension === "md") return "markdown";
  return extension === "txt" ? "text" : null;
}

function createFolderError(folder: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "web",
    value: folder,
    rule: "must be an existing folder of pages",
    remedy: "pass the path of an existing folder",
  });
}

function createSizeError(folder: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "web",
    value: folder,
    rule: `must contain at most ${MAX_PAGES} pages and ${MAX_CHARACTERS} characters`,
    remedy: "pass a folder with fewer pages",
  });
}
