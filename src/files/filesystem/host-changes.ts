import { constants, rmdirSync, type Stats, symlinkSync, unlinkSync } from "node:fs";
import { mkdir, open, readlink, rm, rmdir, unlink } from "node:fs/promises";
import { FilesystemError } from "../../base/filesystem-error.ts";
import {
  createInPinned,
  type PinnedEntry,
  type PinnedFolder,
  pinNames,
  toReadableName,
} from "../../host/pinned-folder.ts";
import { getErrorCode, ignoreErrorCodes } from "../../host/to-filesystem-error.ts";
import { replaceEntry, UndoCopies } from "./undo-copies.ts";

/** A change to a host file or directory that can be undone. */
export interface HostChange {
  /** Reverts the change. */
  undo(): Promise<void>;
  /** Frees the stored copy when the change can no longer be undone. */
  discard?(): Promise<void>;
}

/**
 * Changes single files and directories in open folders. Undoing a change restores the previous state even
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

  async createFile(entry: PinnedEntry, bytes: Uint8Array): Promise<HostChange> {
    await replaceEntry(entry, (temporary) => writeNewFile(temporary, bytes));
    return { undo: () => this.#removeCreated(entry.path, unlinkSync) };
  }

  async overwriteFile(entry: PinnedEntry, bytes: Uint8Array, before: Stats): Promise<HostChange> {
    await checkWritable(entry);
    const kept = this.#canUndo() ? await this.#copies.copy(entry) : null;
    try {
      await replaceEntry(entry, (temporary) => writeNewFile(temporary, bytes, before));
    } catch (error) {
      if (kept !== null) await this.#copies.delete(kept);
      throw error;
    }
    return this.#createRestoreChange(kept, entry.path);
  }

  async removeFile(entry: PinnedEntry): Promise<HostChange> {
    const kept = this.#canUndo() ? await this.#copies.moveIn(entry) : null;
    if (kept === null) await unlink(entry.folder.toPath(entry.name));
    return this.#createRestoreChange(kept, entry.path);
  }

  async removeLink({ folder, name, path }: PinnedEntry): Promise<HostChange> {
    const target = await readlink(folder.toPath(name), "buffer");
    await unlink(folder.toPath(name));
    return {
      undo: async () => {
        using parent = this.#pinParent(path, "create");
        const at = parent.toPath(getName(path));
        await rm(at, { force: true });
        symlinkSync(target, at);
      },
    };
  }

  async removeDirectory({ folder, name, path }: PinnedEntry, before: Stats): Promise<HostChange> {
    await rmdir(folder.toPath(name));
    return {
      undo: async () => {
        using parent = this.#pinParent(path, "create");
        createInPinned(parent, getName(path));
        using restored = parent.enter(getName(path));
        restored.setMode(before.mode & 0o7777);
      },
    };
  }

  async createDirectory({ folder, name, path }: PinnedEntry): Promise<HostChange> {
    await mkdir(folder.toPath(name));
    // The directory stays if another process has put files there.
    return { undo: () => this.#removeCreated(path, removeIfEmpty) };
  }

  /** Deletes all stored copies. */
  async clear(): Promise<void> {
    await this.#undoCopies?.clear();
  }

  get #copies(): UndoCopies {
    this.#undoCopies ??= new UndoCopies(this.#root);
    return this.#undoCopies;
  }

  #createRestoreChange(kept: string | null, path: string): HostChange {
    if (kept === null) return { undo: async () => {} }; // no snapshot needs it
    return {
      undo: async () => {
        using folder = this.#pinParent(path, "create");
        await this.#copies.restore(kept, { folder, name: getName(path), path });
      },
      discard: () => this.#copies.delete(kept),
    };
  }

  /** Removes an entry that was created, if it still exists. */
  async #removeCreated(path: string, remove: (at: Buffer) => void): Promise<void> {
    await ignoreErrorCodes(
      (async () => {
        using folder = this.#pinParent(path, "keep");
        remove(folder.toPath(getName(path)));
      })(),
      "ENOENT",
      "ENOTDIR",
    );
  }

  /** Opens the directory of a changed entry again. Throws if a symlink has replaced a directory above it. */
  #pinParent(path: string, onMissing: "create" | "keep"): PinnedFolder {
    const names = path.split("/").slice(0, -1);
    try {
      return pinNames(this.#root, names, onMissing === "create" ? createMissing : undefined);
    } catch (error) {
      if (getErrorCode(error) !== "ELOOP") throw error;
      const problem = "cannot be undone because a symlink has replaced a directory above it";
      throw new FilesystemError("EACCES", toReadableName(path), problem, error);
    }
  }
}

/** Rejects a file without write permission. Replacing it would only need permission on its directory. */
async function checkWritable({ folder, name }: PinnedEntry): Promise<void> {
  const { O_WRONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  await (await open(folder.toPath(name), O_WRONLY | O_NOFOLLOW | O_NONBLOCK)).close();
}

/** Writes a new file with the owner and mode of the file that it replaces, without setuid and setgid. */
async function writeNewFile(temporary: Buffer, bytes: Uint8Array, before?: Stats): Promise<void> {
  const file = await open(temporary, "wx", before ? before.mode & 0o777 : 0o666);
  try {
    await file.writeFile(bytes);
    if (!before) return;
    const { uid, gid } = await file.stat();
    // Only a privileged process may change the owner; otherwise the file belongs to this user.
    if (uid !== before.uid || gid !== before.gid) {
      await ignoreErrorCodes(file.chown(before.uid, before.gid), "EPERM");
    }
    await file.chmod(before.mode & 0o1777);
  } finally {
    await file.close();
  }
}

function createMissing(folder: PinnedFolder, name: string): void {
  createInPinned(folder, name);
}

function removeIfEmpty(at: Buffer): void {
  try {
    rmdirSync(at);
  } catch (error) {
    if (getErrorCode(error) !== "ENOTEMPTY") throw error;
  }
}

function getName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
