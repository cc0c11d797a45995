import { randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SyncError } from "./sync-failure.ts";

/** A folder where files are collected before they are moved to their destination. */
export interface Staging {
  /** The folder to write to. */
  readonly folder: string;
  /** Moves the files to their destination. */
  commit(): Promise<void>;
}

const MAX_LABEL_BYTES = 200;

/** Creates a staging folder next to a destination that does not exist yet. */
export async function createStagingBeside(to: string): Promise<Staging> {
  const label = Buffer.byteLength(basename(to)) > MAX_LABEL_BYTES ? "" : `.${basename(to)}`;
  const folder = join(dirname(to), `${label}.wink-${randomBytes(8).toString("hex")}`);
  await mkdir(folder);
  return { folder, commit: () => rename(folder, to) };
}

/** Creates a staging folder next to an empty destination, with the owner and mode of the folder it will replace. */
export async function createStagingLike(to: string): Promise<Staging> {
  const before = await lstat(to);
  const staging = await createStagingBeside(to);
  const { uid, gid } = await lstat(staging.folder);
  try {
    if (uid !== before.uid || gid !== before.gid) {
      await chown(staging.folder, before.uid, before.gid);
    }
    await chmod(staging.folder, before.mode & 0o7777);
    return staging;
  } catch (error) {
    await rmdir(staging.folder);
    throw error;
  }
}

/** Creates a staging folder inside an empty destination. `commit` moves its entries one by one. */
export async function createStagingInside(to: string): Promise<Staging> {
  const folder = join(to, `.wink-${randomBytes(8).toString("hex")}`);
  await mkdir(folder);
  return {
    folder,
    async commit() {
      const moved: string[] = [];
      if ((await readdir(to)).length > 1) throw new SyncError(FOREIGN_FILES);
      try {
        for (const name of await readdir(folder)) {
          await rename(join(folder, name), join(to, name));
          moved.push(name);
        }
        await rmdir(folder);
      } catch (error) {
        for (const name of moved) await rename(join(to, name), join(folder, name));
        throw error;
      }
    },
  };
}

const FOREIGN_FILES =
  "Another process has added files there. Wait until it is done and sync again.";
