import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { getErrorMessage, type WinkError } from "../../base/errors.ts";
import { FilesystemError, WorkspaceSecurityError } from "../../base/filesystem-error.ts";
import { toSentence } from "../../base/to-sentence.ts";
import { decompressArchive } from "../../files/archive/decompress-archive.ts";
import { PLAIN_MODE } from "../../files/archive/tar/write-tar.ts";
import { unpackArchive } from "../../files/archive/unpack-archive.ts";
import { applyChanges } from "../../files/sync/apply-changes.ts";
import type { SyncFailure } from "../../files/sync/sync-failure.ts";

/** The folders that unpacking uses. */
export interface TarballFolders {
  /** The folder that receives the files. */
  readonly root: string;
  /** An empty folder on the same disk for temporary files. The caller removes it. */
  readonly stage: string;
}

/** Limits of an archive, because it may come from anywhere. */
const LIMITS = { maxBytes: 2 * 2 ** 30, maxEntries: 200_000 };

/**
 * Unpacks an untrusted archive, `.tar` or `.tar.gz`, into a folder. Returns the entries that were skipped
 * because they are neither files nor folders. Errors name the archive, and then nothing was unpacked.
 */
export async function unpackTarball(
  tarball: string,
  { root, stage }: TarballFolders,
): Promise<readonly SyncFailure[]> {
  try {
    const plain = await decompressArchive(tarball, join(stage, "plain.tar"), LIMITS);
    const into = join(stage, "files");
    await mkdir(into);
    const { files, folders, skipped } = await unpackArchive(plain, { into, limits: LIMITS });
    const failed = await applyChanges({
      ...{ root, deleted: [], pruneFolders: false, removedFolders: [], folders },
      files: files.map(({ path, hostPath }) => [path, hostPath]),
      modes: files.flatMap(({ path, mode }) => (mode === PLAIN_MODE ? [] : [[path, mode]])),
    });
    const [first] = failed;
    if (first) {
      const problem = `cannot be unpacked: ${JSON.stringify(first.path)} ${first.reason}`;
      throw FilesystemError.invalid(tarball, problem);
    }
    return skipped.map(({ name, reason }) => ({ path: name, reason }));
  } catch (error) {
    throw createTarballError(tarball, error);
  }
}

function createTarballError(tarball: string, cause: unknown): WinkError {
  if (cause instanceof FilesystemError && cause.path === tarball) return cause;
  const problem = getErrorMessage(cause);
  if (cause instanceof WorkspaceSecurityError) {
    return new WorkspaceSecurityError(`${JSON.stringify(tarball)}: ${problem}`, { cause });
  }
  const code = cause instanceof FilesystemError ? cause.code : "EINVAL";
  return new FilesystemError(code, tarball, `cannot be unpacked: ${toSentence(problem)}`, cause);
}
