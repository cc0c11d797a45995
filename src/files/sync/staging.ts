import { randomBytes } from "node:crypto";
import { chmod, chown, lstat, mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SyncRefusal } from "./sync-reason.ts";

/** Where the files are gathered, and how they get to where they belong. */
export interface Staging {
  readonly folder: string;
  put(): Promise<void>;
}

const LONGEST_LABEL_BYTES = 200;

/** Beside the folder, which is not there yet. */
export async function stagingBeside(to: string): Promise<Staging> {
  const label = Buffer.byteLength(basename(to)) > LONGEST_LABEL_BYTES ? "" : `.${basename(to)}`;
  const folder = join(dirname(to), `${label}.wink-${randomBytes(8).toString("hex")}`);
  await mkdir(folder);
  return { folder, put: () => rename(folder, to) };
}

/** Beside the folder, which is empty, with the owner and mode of what it will replace. */
export async function stagingLike(to: string): Promise<Staging> {
  const before = await lstat(to);
  const staging = await stagingBeside(to);
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

/** Inside the folder, which is empty. What it holds is put there one after the other. */
export async function stagingInside(to: string): Promise<Staging> {
  const folder = join(to, `.wink-${randomBytes(8).toString("hex")}`);
  await mkdir(folder);
  return {
    folder,
    async put() {
      const moved: string[] = [];
      if ((await readdir(to)).length > 1) throw new SyncRefusal(NOT_ALONE);
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

const NOT_ALONE = "somebody else has put files there meanwhile: wait for them and sync again";
