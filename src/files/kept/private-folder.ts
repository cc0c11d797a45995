import { lstat, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { createFolder } from "../../host/create-folder.ts";
import { toFilesystemErrorWithRemedy } from "../../host/to-filesystem-error.ts";

/**
 * Creates a folder that only this user can access, or checks an existing one. Throws `FilesystemError` if it is a
 * symlink or a file, belongs to another user, or other users can write to it.
 */
export async function preparePrivateFolder(path: string): Promise<void> {
  try {
    await createFolder(path, 0o700);
  } catch (error) {
    throw toFilesystemErrorWithRemedy(error, path, REMEDY);
  }
  const stats = await lstat(path);
  if (!stats.isDirectory()) throw createUnsafeError(path, "is a symlink or a file, not a folder");
  const own = process.geteuid?.(); // missing on Windows, where files have no user id
  if (own === undefined) return;
  const isForeign = stats.uid !== own && stats.uid !== (await stat(dirname(path))).uid;
  if (isForeign) throw createUnsafeError(path, `belongs to another user (uid ${stats.uid})`);
  if ((stats.mode & 0o022) !== 0) throw createUnsafeError(path, "can be written to by other users");
}

function createUnsafeError(path: string, problem: string): FilesystemError {
  return new FilesystemError("EACCES", path, `${problem}. Use ${PRIVATE_FOLDER}.`);
}

const PRIVATE_FOLDER = "a folder that only this user can write to";
const REMEDY = `use ${PRIVATE_FOLDER}`;
