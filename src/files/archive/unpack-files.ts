import { createHash } from "node:crypto";
import { chmodSync, closeSync, openSync, writeSync } from "node:fs";
import { threadJob } from "../../host/threads/thread-job.ts";
import { readTar, type TarFile, type TarLimits } from "./tar/tar-reader.ts";

/** What is unpacked, and where to. */
export interface UnpackTask {
  readonly archive: string;
  /** A folder that is there, and empty. */
  readonly into: string;
  readonly limits: Pick<TarLimits, "maxBytes" | "maxEntries">;
  /** The one entry that is read and not written. */
  readonly note: string;
  /** Several may work on one archive: each reads all names, and writes its share of the files. */
  readonly share: { readonly which: number; readonly of: number };
}

/** What came of it. */
export interface UnpackedShare {
  readonly files: readonly UnpackedFile[];
  /** `null` if the archive has none, or another share has it. */
  readonly note: Uint8Array | null;
}

/** A file, as it was in the archive and is on the disk. */
export interface UnpackedFile {
  /** Checked: it leads nowhere out. */
  readonly path: string;
  /** Its SHA-256, in hexadecimal. */
  readonly digest: string;
  /** Where its bytes are. */
  readonly at: string;
  /** Its place among all entries of the archive. */
  readonly order: number;
}

/**
 * Writes the files of an archive that nobody vouches for side by side, under numbers, so that no
 * name of it leads anywhere. Files are written synchronously: for a thread, or for very few.
 */
export async function unpackFiles(task: UnpackTask): Promise<UnpackedShare> {
  const { archive, into, limits, share } = task;
  const files: UnpackedFile[] = [];
  let note: Uint8Array | null = null;
  let order = 0;
  for await (const entry of readTar(archive, limits)) {
    const isMine = order % share.of === share.which;
    if (isMine && entry.path === task.note) {
      note = await bytesOf(entry);
    } else if (isMine) {
      const at = `${into}/${order}`;
      files.push({ path: entry.path, digest: await written(entry, at), at, order });
    }
    order += 1;
  }
  return { files, note };
}

/** Runs `unpackFiles` in a thread. */
export const unpackFilesJob = threadJob(import.meta.url, unpackFiles);

async function written(entry: TarFile, at: string): Promise<string> {
  const hash = createHash("sha256");
  const file = openSync(at, "wx");
  try {
    for await (const part of entry.read()) {
      hash.update(part);
      for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
    }
  } finally {
    closeSync(file);
  }
  if ((entry.mode & 0o100) !== 0) chmodSync(at, 0o755);
  return hash.digest("hex");
}

async function bytesOf(entry: TarFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of entry.read()) parts.push(part);
  return Buffer.concat(parts);
}
