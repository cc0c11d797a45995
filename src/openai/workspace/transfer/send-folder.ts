import { openAsBlob } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { packToFile } from "../../../files/archive/pack-to-file.ts";
import { digestFiles } from "../../../files/digests/digest-files.ts";
import { MAX_FILE_BYTES } from "../../http/stored-files.ts";
import { hashFile, type Mirror } from "../mirror.ts";

/** How a folder is packed for an upload. */
export interface PackedFolder {
  /** The name of the archive. */
  readonly name: string;
  readonly mirror: Mirror;
  /** Whether a report lists what is sent, so that the archive is hashed. */
  readonly isReported: boolean;
  readonly signal: AbortSignal;
}

/** An archive that was sent. */
export interface SentArchive {
  /** The modes of packed files that are not 644. */
  readonly modes: ReadonlyMap<string, number>;
  readonly bytes: number;
}

/** Larger archives are hashed in a thread, which takes some milliseconds to start. */
const MAX_INLINE_BYTES = 4 * 2 ** 20;

/**
 * Packs a folder into one tar file, passes it to `send`, and deletes it. Throws before it packs anything if
 * the archive would exceed the provider's limit.
 */
export async function sendFolder(
  folder: string,
  { name, mirror, isReported, signal }: PackedFolder,
  send: (file: File, digest: () => string) => Promise<void>,
): Promise<SentArchive> {
  // On disk, so that its size is known, retries can resend it, and it never has to fit in memory.
  const stage = await mirror.createStage();
  try {
    const path = join(stage, name);
    const { progress } = mirror;
    const modes = await packToFile(folder, path, { signal, maxBytes: MAX_FILE_BYTES, progress });
    const file = new File([await openAsBlob(path)], name);
    let digest = "";
    const computeDigest = async () => {
      if (isReported) digest = await hashArchive(stage, name, file.size);
    };
    await Promise.all([send(file, () => digest), computeDigest()]);
    return { modes, bytes: file.size };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Computes the SHA-256 of an archive while it is sent: in a thread if it is large. */
async function hashArchive(stage: string, name: string, bytes: number): Promise<string> {
  if (bytes <= MAX_INLINE_BYTES) return await hashFile(join(stage, name));
  return (await digestFiles(stage)).get(name) ?? "";
}
