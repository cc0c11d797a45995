import { FilesystemError } from "../../../base/filesystem-error.ts";
import { type TarKind, type TarMember, tarMembers } from "./tar-members.ts";
import { TarPaths } from "./tar-paths.ts";
import { openTar, TAR_CHUNK_BYTES, type TarSource } from "./tar-source.ts";

/** A file in a tar. */
export interface TarFile {
  /** Checked: it is below wherever the tar is unpacked. */
  readonly path: string;
  readonly bytes: number;
  /** As the tar says it: whoever writes the file decides how much of it to take over. */
  readonly mode: number;
  /** Its bytes in chunks, to be read before the next file is asked for. */
  read(): AsyncIterable<Uint8Array>;
}

/** Something in a tar that is neither file nor folder. */
export interface SkippedEntry {
  /** As the tar says it: it was not checked. */
  readonly name: string;
  readonly reason: string;
}

/** How much a tar may hold. */
export interface TarLimits {
  /** Of all files together. */
  readonly maxBytes: number;
  /** Files, folders and whatever else is in it. */
  readonly maxEntries: number;
  readonly onSkipped?: ((entry: SkippedEntry) => void) | undefined;
}

/**
 * The files of a tar on disk that nobody vouches for. Folders are told by the paths of the files.
 * Links, devices and pipes are skipped.
 *
 * Throws `WorkspaceSecurityError` for a path that leads out, and `FilesystemError` for any other
 * path that cannot be, for one that is there twice, for a tar that is damaged or cut off, and for
 * what is beyond the limits.
 */
export async function* readTar(path: string, limits: TarLimits): AsyncGenerator<TarFile> {
  const source = await openTar(path);
  try {
    const paths = new TarPaths();
    const count = counter(limits);
    for await (const member of tarMembers(source)) {
      count(member);
      const { name, kind } = member;
      if (kind === "file") yield fileOf(member, paths.addFile(name), source);
      else if (kind === "folder") paths.addFolder(name);
      else if (kind !== "note on the archive")
        limits.onSkipped?.({ name, reason: reasonFor(kind) });
    }
  } finally {
    await source.close();
  }
}

function counter({ maxBytes, maxEntries }: TarLimits): (member: TarMember) => void {
  let [entries, total] = [0, 0];
  return ({ name, kind, bytes }) => {
    entries += 1;
    if (entries > maxEntries) throw beyond(name, `is entry ${entries}`, maxEntries);
    if (kind === "file") total += bytes;
    if (total > maxBytes) throw beyond(name, `brings the archive to ${total} bytes`, maxBytes);
  };
}

function fileOf({ bytes, mode, offset }: TarMember, path: string, source: TarSource): TarFile {
  return {
    path,
    bytes,
    mode,
    async *read() {
      for (let done = 0; done < bytes; ) {
        const length = Math.min(bytes - done, TAR_CHUNK_BYTES);
        yield await source.bytes(offset + done, length);
        done += length;
      }
    },
  };
}

function reasonFor(kind: TarKind): string {
  return `is a ${kind}: only files and folders are taken`;
}

function beyond(name: string, problem: string, limit: number): FilesystemError {
  return new FilesystemError("EFBIG", name, `${problem}, over the limit of ${limit}`);
}
