import { createHash } from "node:crypto";
import { chmodSync, closeSync, openSync, writeSync } from "node:fs";
import { threadJob } from "../../host/threads/thread-job.ts";
import { readTar, type SkippedEntry, type TarFile, type TarLimits } from "./tar/read-tar.ts";

/** Describes one unpacking job. */
export interface UnpackTask {
  readonly archive: string;
  /** An existing, empty folder. */
  readonly into: string;
  readonly limits: Pick<TarLimits, "maxBytes" | "maxEntries">;
  /** The path of the entry whose bytes are returned instead of written. @default none */
  readonly note?: string | undefined;
  /** The share of this job if several unpack one archive: each reads all names but writes only its own files. */
  readonly share: { readonly index: number; readonly count: number };
}

/** The result of one unpacking job. */
export interface UnpackedShare {
  readonly files: readonly UnpackedFile[];
  /** The bytes of the note, or `null` if it is missing or in another share. */
  readonly note: Uint8Array | null;
  /** The folder entries of the whole archive, by their checked paths. */
  readonly folders: readonly string[];
  /** The entries of the whole archive that are neither files nor folders. */
  readonly skipped: readonly SkippedEntry[];
}

/** An archived file after it was written to disk. */
export interface UnpackedFile {
  /** The path in the archive, checked: it does not leave the folder. */
  readonly path: string;
  /** The file's SHA-256 in hexadecimal. */
  readonly digest: string;
  /** The permission bits in the archive, such as `0o644`. The file on disk has mode 644 or 755. */
  readonly mode: number;
  /** The file on disk that has the bytes. */
  readonly hostPath: string;
  /** The position among all entries of the archive. */
  readonly order: number;
}

/**
 * Unpacks an untrusted archive into one folder. Files are named by number, so that names in the archive
 * cannot choose where files go. Writes synchronously: run it in a thread, or only for very few files.
 */
export async function unpackFiles(task: UnpackTask): Promise<UnpackedShare> {
  const { archive, into, limits, share } = task;
  const files: UnpackedFile[] = [];
  const folders: string[] = [];
  const skipped: SkippedEntry[] = [];
  let note: Uint8Array | null = null;
  let order = 0;
  const onFolder = (path: string) => void folders.push(path);
  const onSkipped = (entry: SkippedEntry) => void skipped.push(entry);
  for await (const entry of readTar(archive, { ...limits, onFolder, onSkipped })) {
    const isInShare = order % share.count === share.index;
    if (isInShare && entry.path === task.note) {
      note = await readEntryBytes(entry);
    } else if (isInShare) {
      const at = `${into}/${order}`;
      const digest = await writeEntry(entry, at);
      files.push({ path: entry.path, digest, mode: entry.mode & 0o777, hostPath: at, order });
    }
    order += 1;
  }
  return { files, note, folders, skipped };
}

/** Runs `unpackFiles` in a thread. */
export const unpackFilesJob = threadJob(import.meta.url, unpackFiles);

async function writeEntry(entry: TarFile, at: string): Promise<string> {
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

async function readEntryBytes(entry: TarFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of entry.read()) parts.push(part);
  return Buffer.concat(parts);
}
