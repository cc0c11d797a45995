import { closeSync, constants, fstatSync, readSync } from "node:fs";
import { FilesystemError } from "../../../base/filesystem-error.ts";
import { openNoFollow } from "../../../host/file-access.ts";
import { mountError } from "../../../host/host-error.ts";
import { entriesByPath } from "../../folder-entries.ts";
import { ChunkedOutput, type ChunkedOutputOptions, type EmitChunk } from "../chunked-output.ts";
import { fillHeader, paxBlocks, TAR_BLOCK_BYTES, type TarEntry } from "./tar-header.ts";

/**
 * Gives the tar of a folder chunk by chunk, synchronously: for a thread of its own. Equal trees give
 * equal bytes. Throws `FilesystemError` for what is neither file nor folder or cannot be read.
 */
export function writeTar(
  folder: string,
  emit: EmitChunk,
  options: ChunkedOutputOptions = {},
): void {
  const output = new ChunkedOutput(emit, options);
  writeFolder(folder.endsWith("/") ? folder : `${folder}/`, "", output);
  output.skip(2 * TAR_BLOCK_BYTES); // two empty blocks are its end
  output.end();
}

function writeFolder(hostPrefix: string, prefix: string, output: ChunkedOutput): void {
  for (const { name, kind, hostPath } of entriesByPath(hostPrefix, TO_PACK)) {
    if (kind === "folder") {
      const path = `${prefix}${name}/`;
      writeHeader({ path, type: "directory", bytes: 0, isExecutable: false }, output);
      writeFolder(`${hostPath}/`, path, output);
    } else if (kind === "file") {
      writeFile(hostPath, prefix + name, output);
    } else {
      throw notAFile(hostPath);
    }
  }
}

/** Chunks are whole blocks, so there is always room for one where an entry begins. */
function writeHeader(entry: TarEntry, output: ChunkedOutput): void {
  const before = paxBlocks(entry);
  if (before) output.write(before);
  fillHeader(output.room(), entry);
  output.skip(TAR_BLOCK_BYTES);
}

function writeFile(hostPath: string, path: string, output: ChunkedOutput): void {
  const file = openFile(hostPath);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw notAFile(hostPath);
    const isExecutable = (stats.mode & constants.S_IXUSR) !== 0;
    writeHeader({ path, type: "file", bytes: stats.size, isExecutable }, output);
    for (let left = stats.size; left > 0; ) {
      const room = output.room();
      const read = readSync(file, room, 0, Math.min(left, room.length), null);
      if (read === 0) throw shrunk(hostPath);
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
    throw mountError(error, hostPath, TO_PACK);
  }
}

const TO_PACK = "a folder is packed whole, or not at all";

function notAFile(path: string): FilesystemError {
  return FilesystemError.invalid(path, "is neither file nor folder: remove it, then pack");
}

function shrunk(path: string): FilesystemError {
  const problem = "became shorter while it was packed: pack again when it is left alone";
  return FilesystemError.invalid(path, problem);
}
