import { constants, type Stats } from "node:fs";
import {
  chmod,
  mkdir,
  open,
  readlink,
  realpath,
  rm,
  rmdir,
  symlink,
  unlink,
} from "node:fs/promises";
import { dirname } from "node:path";
import { FilesystemError } from "../../base/filesystem-error.ts";
import { replaceFile } from "../../host/open-no-follow.ts";
import { getErrorCode, ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { UndoCopies } from "./undo-copies.ts";

/** A change to a host file or directory that can be undone. */
export interface HostChange {
  /** Reverts the change. */
  undo(): Promise<void>;
  /** Frees the stored copy when the change can no longer be undone. */
  discard?(): Promise<void>;
}

/**
 * Changes single files and directories by their real paths. Undoing a change restores the previous state even
 * if another process has changed the file since, and never writes outside the root.
 */
export class HostChanges {
  readonly #root: string;
  /** Created when the first copy is stored. */
  #undoCopies: UndoCopies | null = null;
  readonly #canUndo: () => boolean;

  /** @param canUndo - whether changes may be undone later; if not, no copies are stored */
  constructor(root: string, canUndo: () => boolean) {
    this.#root = root;
    this.#canUndo = canUndo;
  }

  async createFile(real: string, bytes: Uint8Array): Promise<HostChange> {
    await replaceFile(real, (temporary) => writeNewFile(temporary, bytes));
    return { undo: () => removeCreated(real, unlink) };
  }

  async overwriteFile(real: string, bytes: Uint8Array, before: Stats): Promise<HostChange> {
    await checkWritable(real);
    const kept = this.#canUndo() ? await this.#copies.copy(real) : null;
    try {
      await replaceFile(real, (temporary) => writeNewFile(temporary, bytes, before));
    } catch (error) {
      if (kept !== null) await this.#copies.delete(kept);
      throw error;
    }
    return this.#createRestoreChange(kept, real);
  }

  async removeFile(real: string): Promise<HostChange> {
    const kept = this.#canUndo() ? await this.#copies.moveIn(real) : null;
    if (kept === null) await unlink(real);
    return this.#createRestoreChange(kept, real);
  }

  async removeLink(real: string): Promise<HostChange> {
    const target = await readlink(real);
    await unlink(real);
    return {
      async undo() {
        await recreateParent(real);
        await rm(real, { force: true });
        await symlink(target, real);
      },
    };
  }

  async removeDirectory(real: string, before: Stats): Promise<HostChange> {
    await rmdir(real);
    return {
      async undo() {
        await recreateParent(real);
        await ignoreErrorCodes(mkdir(real), "EEXIST");
        await chmod(real, before.mode);
      },
    };
  }

  async createDirectory(real: string): Promise<HostChange> {
    await mkdir(real);
    // The directory stays if another process has put files there.
    return {
      undo: () => removeCreated(real, (path) => ignoreErrorCodes(rmdir(path), "ENOTEMPTY")),
    };
  }

  /** Deletes all stored copies. */
  async clear(): Promise<void> {
    await this.#undoCopies?.clear();
  }

  get #copies(): UndoCopies {
    this.#undoCopies ??= new UndoCopies(this.#root);
    return this.#undoCopies;
  }

  #createRestoreChange(kept: string | null, real: string): HostChange {
    if (kept === null) return { undo: async () => {} }; // no snapshot needs it
    return {
      undo: async () => {
        await recreateParent(real);
        await this.#copies.restore(kept, real);
      },
      discard: () => this.#copies.delete(kept),
    };
  }
}

/** Rejects a file without write permission. Replacing it would only need permission on its directory. */
async function checkWritable(real: string): Promise<void> {
  await (await open(real, constants.O_WRONLY | constants.O_NOFOLLOW)).close();
}

/** Writes a new file with the owner and mode of the file that it replaces. */
async function writeNewFile(temporary: string, bytes: Uint8Array, before?: Stats): Promise<void> {
  const file = await open(temporary, "wx", before ? before.mode & 0o777 : 0o666);
  try {
    await file.writeFile(bytes);
    if (!before) return;
    const { uid, gid } = await file.stat();
    // Only a privileged process may change the owner; otherwise the file belongs to this user.
    if (uid !== before.uid || gid !== before.gid) {
      await ignoreErrorCodes(file.chown(before.uid, before.gid), "EPERM");
    }
    await file.chmod(before.mode);
  } finally {
    await file.close();
  }
}

async function removeCreated(real: string, remove: (path: string) => Promise<void>): Promise<void> {
  if (await isParentIntact(real)) await ignoreErrorCodes(remove(real), "ENOENT", "ENOTDIR");
}

async function recreateParent(real: string): Promise<void> {
  if (!(await isParentIntact(real))) await mkdir(dirname(real), { recursive: true });
}

/** Whether the parent directory of `real` still exists. Throws if a symlink has replaced it. */
async function isParentIntact(real: string): Promise<boolean> {
  const directory = dirname(real);
  try {
    if ((await realpath(directory)) === directory) return true;
  } catch (error) {
    if (getErrorCode(error) === "ENOENT" || getErrorCode(error) === "ENOTDIR") return false;
    throw error;
  }
  const problem = "cannot be undone because a symlink has replaced a directory above it";
  throw new FilesystemError("EACCES", real, problem);
}
