import { lstatSync, opendirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { InvalidOptionError } from "../../base/errors.ts";
import { decoded, extensionOf } from "../search/text-of.ts";

/** A file of the folder that is a page. */
export interface PageFile {
  /** Below the folder, with slashes. */
  readonly path: string;
  readonly format: "html" | "markdown" | "text";
  readonly source: string;
}

const MOST_PAGES = 20_000;
const MOST_PAGE_BYTES = 4 * 1024 * 1024;
const MOST_BYTES = 512 * 1024 * 1024;

/**
 * The pages below a folder, by their paths. Links in it are not followed, so that nothing outside is
 * read; what is larger than 4 MiB or not text is left out; a folder with too many is refused.
 */
export function readPageFiles(folder: string): readonly PageFile[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw noFolder(folder);
  const pages: PageFile[] = [];
  let bytes = 0;
  for (const path of pathsBelow(folder, "")) {
    const format = formatOf(path);
    if (format === null) continue;
    const source = readText(folder, path);
    if (source === null) continue;
    bytes += source.length;
    if (pages.push({ path, format, source }) > MOST_PAGES || bytes > MOST_BYTES) {
      throw tooMany(folder);
    }
  }
  return pages.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** The text of a file below the folder; `null` if it is none, too large, or not text. */
export function readText(folder: string, path: string): string | null {
  const full = join(folder, path);
  const found = lstatSync(full, { throwIfNoEntry: false });
  if (!found?.isFile() || found.size > MOST_PAGE_BYTES) return null;
  return decoded(readFileSync(full));
}

function* pathsBelow(folder: string, path: string): Generator<string> {
  using entries = disposable(opendirSync(join(folder, path)));
  for (let entry = entries.read(); entry; entry = entries.read()) {
    const inner = path === "" ? entry.name : `${path}/${entry.name}`;
    if (entry.isDirectory()) yield* pathsBelow(folder, inner);
    else if (entry.isFile()) yield inner;
  }
}

/** Node 22's directories are not disposable themselves. */
function disposable(directory: ReturnType<typeof opendirSync>) {
  return { read: () => directory.readSync(), [Symbol.dispose]: () => directory.closeSync() };
}

function formatOf(path: string): PageFile["format"] | null {
  const extension = extensionOf(path);
  if (extension === "html" || extension === "htm") return "html";
  if (extension === "md") return "markdown";
  return extension === "txt" ? "text" : null;
}

function noFolder(folder: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "web",
    value: folder,
    rule: "must be a folder of pages",
    remedy: "give the path of a folder that is there",
  });
}

function tooMany(folder: string): InvalidOptionError {
  return new InvalidOptionError({
    field: "web",
    value: folder,
    rule: `must hold at most ${MOST_PAGES} pages and ${MOST_BYTES} characters`,
    remedy: "give a folder with fewer pages",
  });
}
