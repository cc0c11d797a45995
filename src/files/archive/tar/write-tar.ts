import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { openNoFollow } from "../../../host/open-no-follow.ts";
import { toFilesystemErrorWithRemedy } from "../../../host/to-filesystem-error.ts";
import { readSortedEntries } from "../../folder-entries.ts";
import { ChunkedOutput, type ChunkedOutputOptions, type EmitChunk } from "../chunked-output.ts";
import { createPaxBlocks, fillTarHeader, TAR_BLOCK_BYTES, type TarEntry } from "./tar-header.ts";

/**
 * Emits the tar of a folder chunk by chunk. Synchronous, so run it in a thread. Deterministic: equal trees
 * give equal bytes. Throws `FilesystemError` if an entry is neither a file nor a folder or cannot be read.
 */
export function writeTar(
  folder: string,
  emit: EmitChunk,
  options: ChunkedOutputOptions = {},
): void {
  const output = new ChunkedOutput(emit, options);
  writeFolder(folder.endsWith("/") ? folder : `${folder}/`, "", output);
  output.skip(2 * TAR_BLOCK_BYTES); // two empty blocks end a tar
  output.finish();
}

function writeFolder(hostPrefix: string, prefix: string, output: ChunkedOutput): void {
  for (const { name, kind, hostPath } of readSortedEntries(hostPrefix, PACK_REMEDY)) {
    if (kind === "folder") {
      const path = `${prefix}${name}/`;
      writeHeader({ path, type: "directory", bytes: 0, isExecutable: false }, output);
      writeFolder(`${hostPath}/`, path, output);
    } else if (kind === "file") {
      writeFile(hostPath, prefix + name, output);
    } else {
      throw createNotAFileError(hostPath);
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

function writeFile(hostPath: string, path: string, output: ChunkedOutput): void {
  const file = openFile(hostPath);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw createNotAFileError(hostPath);
    const isExecutable = (stats.mode & constants.S_IXUSR) !== 0;
    writeHeader({ path, type: "file", bytes: stats.size, isExecutable }, output);
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

function openFile(hostPath: string): number {
  try {
    return openNoFollow(hostPath);
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
