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
import { replaceFile } from "../../host/file-access.ts";
import { hostCode, unless } from "../../host/host-error.ts";
import { KeptFiles } from "./kept-files.ts";

/** Something that was done to the files of this machine. */
export interface HostChange {
  undo(): Promise<void>;
  /** Instead of `undo`, once nobody can want that any more. */
  forget?(): Promise<void>;
}

/**
 * Changes of single files and directories, given by real paths. Undoing one brings back what was
 * there even if somebody else has changed it since, and never reaches out of the root.
 */
export class HostChanges {
  readonly #root: string;
  /** Made when the first file is kept. */
  #keptFiles: KeptFiles | null = null;
  readonly #isWanted: () => boolean;

  /** `isWanted`: whether what was there may be wanted back; else it is not kept. */
  constructor(root: string, isWanted: () => boolean) {
    this.#root = root;
    this.#isWanted = isWanted;
  }

  async createFile(real: string, bytes: Uint8Array): Promise<HostChange> {
    await replaceFile(real, (temporary) => writeNew(temporary, bytes));
    return { undo: () => removeMade(real, unlink) };
  }

  async overwriteFile(real: string, bytes: Uint8Array, before: Stats): Promise<HostChange> {
    await checkWritable(real);
    const kept = this.#isWanted() ? await this.#kept.keep(real) : null;
    try {
      await replaceFile(real, (temporary) => writeNew(temporary, bytes, before));
    } catch (error) {
      if (kept !== null) await this.#kept.drop(kept);
      throw error;
    }
    return this.#putBack(kept, real);
  }

  async removeFile(real: string): Promise<HostChange> {
    const kept = this.#isWanted() ? await this.#kept.take(real) : null;
    if (kept === null) await unlink(real);
    return this.#putBack(kept, real);
  }

  async removeLink(real: string): Promise<HostChange> {
    const target = await readlink(real);
    await unlink(real);
    return {
      async undo() {
        await remakeDirectory(real);
        await rm(real, { force: true });
        await symlink(target, real);
      },
    };
  }

  async removeDirectory(real: string, before: Stats): Promise<HostChange> {
    await rmdir(real);
    return {
      async undo() {
        await remakeDirectory(real);
        await unless(mkdir(real), "EEXIST");
        await chmod(real, before.mode);
      },
    };
  }

  async makeDirectory(real: string): Promise<HostChange> {
    await mkdir(real);
    // What somebody else has put there since is theirs, and keeps the directory.
    return { undo: () => removeMade(real, (path) => unless(rmdir(path), "ENOTEMPTY")) };
  }

  /** Lets go of everything that was kept. */
  async clear(): Promise<void> {
    await this.#keptFiles?.clear();
  }

  get #kept(): KeptFiles {
    this.#keptFiles ??= new KeptFiles(this.#root);
    return this.#keptFiles;
  }

  #putBack(kept: string | null, real: string): HostChange {
    if (kept === null) return { undo: async () => {} }; // nobody wanted to
    return {
      undo: async () => {
        await remakeDirectory(real);
        await this.#kept.putBack(kept, real);
      },
      forget: () => this.#kept.drop(kept),
    };
  }
}

/** Whoever may change a directory could replace its files, even those that may not be written. */
async function checkWritable(real: string): Promise<void> {
  await (await open(real, constants.O_WRONLY | constants.O_NOFOLLOW)).close();
}

/** With the owner and mode of what it replaces: neither is ours to change. */
async function writeNew(temporary: string, bytes: Uint8Array, before?: Stats): Promise<void> {
  const file = await open(temporary, "wx", before ? before.mode & 0o777 : 0o666);
  try {
    await file.writeFile(bytes);
    if (!before) return;
    const { uid, gid } = await file.stat();
    // Only a privileged process may give files away; for others the file becomes theirs.
    if (uid !== before.uid || gid !== before.gid) {
      await unless(file.chown(before.uid, before.gid), "EPERM");
    }
    await file.chmod(before.mode);
  } finally {
    await file.close();
  }
}

async function removeMade(real: string, remove: (path: string) => Promise<void>): Promise<void> {
  if (await directoryStands(real)) await unless(remove(real), "ENOENT", "ENOTDIR");
}

async function remakeDirectory(real: string): Promise<void> {
  if (!(await directoryStands(real))) await mkdir(dirname(real), { recursive: true });
}

/** Whether what `real` is in is still there; refuses if it now leads to somewhere else. */
async function directoryStands(real: string): Promise<boolean> {
  const directory = dirname(real);
  try {
    if ((await realpath(directory)) === directory) return true;
  } catch (error) {
    if (hostCode(error) === "ENOENT" || hostCode(error) === "ENOTDIR") return false;
    throw error;
  }
  const problem = "cannot be undone: a symlink has taken the place of a directory above it";
  throw new FilesystemError("EACCES", real, problem);
}
