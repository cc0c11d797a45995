import { FilesystemError } from "../../../base/filesystem-error.ts";
import { ROOT } from "../../path.ts";
import { readTarMembers, type TarKind, type TarMember } from "./tar-members.ts";
import { TarPaths } from "./tar-paths.ts";
import { openTar, TAR_CHUNK_BYTES, type TarSource } from "./tar-source.ts";

/** A file in a tar. */
export interface TarFile {
  /** The normalized path, checked: it stays below the folder that the tar is unpacked into. */
  readonly path: string;
  readonly bytes: number;
  /** The mode in the tar, unchecked. The writer decides which bits to apply. */
  readonly mode: number;
  /** Reads the file in chunks. Call it before you advance to the next file. */
  read(): AsyncIterable<Uint8Array>;
}

/** An entry that was skipped because it is neither a file nor a folder. */
export interface SkippedEntry {
  /** The name in the tar, unchecked. */
  readonly name: string;
  readonly reason: string;
}

/** Limits for reading a tar. */
export interface TarLimits {
  /** The limit on the bytes of all files together. */
  readonly maxBytes: number;
  /** The limit on the number of entries of any kind. */
  readonly maxEntries: number;
  /** Called for each folder entry with its checked path. @default folders are ignored */
  readonly onFolder?: ((path: string) => void) | undefined;
  /** Called for each skipped entry. @default skipped entries are ignored */
  readonly onSkipped?: ((entry: SkippedEntry) => void) | undefined;
}

/**
 * Reads files from an untrusted tar on disk. Folders are not yielded: file paths imply them, and
 * `onFolder` reports them. Links, devices and pipes are skipped.
 *
 * Throws `WorkspaceSecurityError` if a path leads out of the folder. Throws `FilesystemError` if a path is
 * invalid or occurs twice, if the tar is damaged or cut off, and if it exceeds a limit.
 */
export async function* readTar(path: string, limits: TarLimits): AsyncGenerator<TarFile> {
  const source = await openTar(path);
  try {
    const paths = new TarPaths();
    const count = createCounter(limits);
    for await (const member of readTarMembers(source)) {
      count(member);
      const { name, kind } = member;
      if (kind === "file") yield toTarFile(member, paths.addFile(name), source);
      else if (kind === "folder") reportFolder(paths.addFolder(name), limits);
      else if (kind !== "global header") limits.onSkipped?.({ name, reason: describeSkip(kind) });
    }
  } finally {
    await source.close();
  }
}

function reportFolder(path: string, { onFolder }: TarLimits): void {
  if (path !== ROOT) onFolder?.(path);
}

function createCounter({ maxBytes, maxEntries }: TarLimits): (member: TarMember) => void {
  let [entries, total] = [0, 0];
  return ({ name, kind, bytes }) => {
    entries += 1;
    if (entries > maxEntries) throw createLimitError(name, `is entry ${entries}`, maxEntries);
    if (kind === "file") total += bytes;
    if (total > maxBytes)
      throw createLimitError(name, `brings the archive to ${total} bytes`, maxBytes);
  };
}

function toTarFile({ bytes, mode, offset }: TarMember, path: string, source: TarSource): TarFile {
  return {
    path,
    bytes,
    mode,
    async *read() {
      for (let done = 0; done < bytes; ) {
        const length = Math.min(bytes - done, TAR_CHUNK_BYTES);
        yield await source.readBytes(offset + done, length);
        done += length;
      }
    },
  };
}

function describeSkip(kind: TarKind): string {
  return `is a ${kind}, and only files and folders are unpacked`;
}

function createLimitError(name: string, problem: string, limit: number): FilesystemError {
  return new FilesystemError("EFBIG", name, `${problem}, over the limit of ${limit}`);
}
