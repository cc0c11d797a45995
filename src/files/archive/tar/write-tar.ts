import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { openNoFollow } from "../../../host/open-no-follow.ts";
import { toFilesystemErrorWithRemedy } from "../../../host/to-filesystem-error.ts";
import { enterFolder, readSortedEntries } from "../../folder-entries.ts";
import { ChunkedOutput, type ChunkedOutputOptions, type EmitChunk } from "../chunked-output.ts";
import { createPaxBlocks, fillTarHeader, TAR_BLOCK_BYTES, type TarEntry } from "./tar-header.ts";

/** The mode of a file unless it is executable or modes are kept. */
export const PLAIN_MODE = 0o644;

/** Options of {@link writeTar}. */
export interface WriteTarOptions extends ChunkedOutputOptions {
  /**
   * Keeps the permission bits of files, and is called for each file whose mode is not 644.
   * @default modes are 644 or 755
   */
  readonly onMode?: ((path: string, mode: number) => void) | undefined;
}

/** Where a tar is written to, and how. */
interface TarOutput {
  /** The packed folder and a slash, for messages. */
  readonly root: string;
  readonly output: ChunkedOutput;
  readonly onMode: WriteTarOptions["onMode"];
}

/**
 * Emits the tar of a folder chunk by chunk. Synchronous, so run it in a thread. Deterministic: equal trees
 * give equal bytes. Throws `FilesystemError` if an entry is neither a file nor a folder or cannot be read.
 */
export function writeTar(
  folder: string,
  emit: EmitChunk,
  { onMode, ...options }: WriteTarOptions = {},
): void {
  const output = new ChunkedOutput(emit, options);
  const root = folder.endsWith("/") ? folder : `${folder}/`; // the slash follows a symlink to the folder
  writeFolder(root, "", { output, onMode, root });
  output.skip(2 * TAR_BLOCK_BYTES); // two empty blocks end a tar
  output.finish();
}

function writeFolder(place: string, prefix: string, to: TarOutput): void {
  using folder = enterFolder(place, to.root + prefix, PACK_REMEDY);
  for (const { name, kind, hostPath } of readSortedEntries(`${folder.hostPath}/`, PACK_REMEDY)) {
    if (kind === "folder") {
      const path = `${prefix}${name}/`;
      writeHeader({ path, type: "directory", bytes: 0, mode: 0o755 }, to.output);
      writeFolder(hostPath, path, to);
    } else if (kind === "file") {
      writeFile(hostPath, prefix + name, to);
    } else {
      throw createNotAFileError(to.root + prefix + name);
    }
  }
}

/** Writes a header. A chunk is a whole number of blocks, so a block always fits where an entry starts. */
function writeHeader(entry: TarEntry, output: ChunkedOutput): void {
  const before = createPaxBlocks(entry);
  if (before) output.write(before);
  fillTarHeader(output.getFreeSpace(), entry);
  output.skip(TAR_BLOCK_BYTES);
}

function writeFile(place: string, path: string, { output, onMode, root }: TarOutput): void {
  const hostPath = root + path;
  const file = openFile(place, hostPath);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw createNotAFileError(hostPath);
    const mode = onMode ? stats.mode & 0o777 : normalizeMode(stats.mode);
    if (mode !== PLAIN_MODE) onMode?.(path, mode);
    writeHeader({ path, type: "file", bytes: stats.size, mode }, output);
    for (let left = stats.size; left > 0; ) {
      const space = output.getFreeSpace();
      const read = readSync(file, space, 0, Math.min(left, space.length), null);
      if (read === 0) throw createShrunkError(hostPath);
      output.skip(read);
      left -= read;
    }
    output.skip(-stats.size & (TAR_BLOCK_BYTES - 1));
  } finally {
    closeSync(file);
  }
}

function normalizeMode(mode: number): number {
  return (mode & constants.S_IXUSR) === 0 ? PLAIN_MODE : 0o755;
}

function openFile(place: string, hostPath: string): number {
  try {
    return openNoFollow(place);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, hostPath, PACK_REMEDY);
  }
}

const PACK_REMEDY = "make it readable or remove it, then pack again";

function createNotAFileError(path: string): FilesystemError {
  return FilesystemError.invalid(
    path,
    "is neither a file nor a folder. Remove it, then pack again.",
  );
}

function createShrunkError(path: string): FilesystemError {
  const problem = "became shorter while it was packed. Pack again once nothing writes to it.";
  return FilesystemError.invalid(path, problem);
}
